// SPDX-License-Identifier: MIT
// Columns of numbers, as src/view/column.h says that they are written.

const kArrays = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array };

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) {
    bytes[i] = text.charCodeAt(i);
  }
  return bytes;
}

/// The numbers of a column, in an array that holds them exactly.
export function decodeColumn(column) {
  if (column.data === undefined) {
    const array = column.value < 2 ** 32 ? Uint32Array : Float64Array;
    return new array(column.count).fill(column.value);
  }
  const stored = new kArrays[column.type](bytesOf(column.data).buffer);
  if (column.how === "delta") {
    const numbers = new Float64Array(stored.length);
    let sum = column.first;
    for (let i = 0; i < stored.length; ++i) {
      sum += stored[i];
      numbers[i] = sum;
    }
    return numbers;
  }
  if (column.how === "table") {
    return Float64Array.from(stored, (place) => column.table[place]);
  }
  return stored;
}

/// From how many there are of each to where each begins, and the end of the last.
export function beginsOf(counts) {
  const begins = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; ++i) {
    begins[i + 1] = begins[i] + counts[i];
  }
  return begins;
}

/// Lists by key in one array: `keys[i]` is the list that item i belongs to.
export function listsByKey(keys, numKeys) {
  const begins = new Uint32Array(numKeys + 1);
  for (const key of keys) {
    begins[key + 1]++;
  }
  for (let key = 0; key < numKeys; ++key) {
    begins[key + 1] += begins[key];
  }
  const next = begins.slice();
  const items = new Uint32Array(keys.length);
  for (let i = 0; i < keys.length; ++i) {
    items[next[keys[i]]++] = i;
  }
  return { begins, items };
}

/// How many of the sorted numbers from `from` up to `to` are not beyond `limit`, counted from the
/// beginning of the array.
export function upperBound(numbers, limit, from = 0, to = numbers.length) {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= limit) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
