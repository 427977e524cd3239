// SPDX-License-Identifier: MIT
// Numbers for people, as the command line writes them.

export function formatCount(count) {
  return Math.round(count).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/// Picoseconds with four digits or more.
export function formatTime(ps) {
  const units = [[1e12, "s"], [1e9, "ms"], [1e6, "us"], [1e3, "ns"]];
  for (const [size, name] of units) {
    if (ps >= size) {
      return `${(ps / size).toFixed(3)} ${name}`;
    }
  }
  return ps < 1 ? "0" : `${Math.round(ps)} ps`;
}

/// The same for axes: no more digits than it takes to tell ticks apart.
export function formatTick(ps, step) {
  const units = [[1e12, "s"], [1e9, "ms"], [1e6, "us"], [1e3, "ns"], [1, "ps"]];
  const [size, name] = units.find(([unit]) => Math.max(ps, step) >= unit) || units[4];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  return `${(ps / size).toFixed(Math.min(digits, 6))} ${name}`;
}

export function formatBytes(bytes) {
  const units = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];
  for (const [size, name] of units) {
    if (bytes >= size) {
      const amount = bytes / size;
      return `${Number.isInteger(amount) ? amount : amount.toFixed(1)} ${name}`;
    }
  }
  return `${formatCount(bytes)} B`;
}

export function formatBandwidth(bytesPerSecond) {
  const units = [[1e12, "TB/s"], [1e9, "GB/s"], [1e6, "MB/s"]];
  for (const [size, name] of units) {
    if (bytesPerSecond >= size) {
      return `${+(bytesPerSecond / size).toPrecision(4)} ${name}`;
    }
  }
  return `${formatCount(bytesPerSecond)} B/s`;
}

export function formatPercent(share) {
  return `${(100 * share).toFixed(1)}%`;
}

/// Round numbers at most `span / most` apart, for the ticks of an axis.
export function tickStep(span, most) {
  const least = span / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
  const factor = [1, 2, 5, 10].find((one) => one * power >= least) || 10;
  return factor * power;
}

/// As much of a text as fits into so many pixels.
export function fitText(context, text, width) {
  if (context.measureText(text).width <= width) {
    return text;
  }
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}...`).width <= width) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low > 0 ? `${text.slice(0, low)}...` : "";
}

/// "1 link", "2 links".
export function formatMany(count, what) {
  return `${formatCount(count)} ${what}${count === 1 ? "" : "s"}`;
}
