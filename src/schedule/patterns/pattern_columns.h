// SPDX-License-Identifier: MIT
// Columns of numbers as members of structures, read with care: what patterns are stored as.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tacos/units.h"

#include "schedule/blocks/columns.h"

namespace tacos {

using Numbers = std::vector<std::uint64_t>;

inline constexpr std::uint64_t kMaxId = std::numeric_limits<std::uint32_t>::max() - 1;

/// Reads columns and remembers whether all was well.
class PatternReader {
 public:
  explicit PatternReader(std::span<const std::byte> payload)
      : columns_(payload), bytes_(payload.size()) {}

  /// A column of `count` numbers, each at most `largest`.
  const Numbers& read(std::size_t count, std::uint64_t largest) {
    read_column(count, largest);
    good_ = good_ && values_.size() == count;
    values_.resize(count);
    return values_;
  }
  /// A column with one number for each thing of a list of at most `most`.
  const Numbers& read_any(std::size_t most, std::uint64_t largest) {
    return read_up_to(limited(most), largest);
  }
  /// The same where the list may be longer than the bytes.
  const Numbers& read_up_to(std::size_t most, std::uint64_t largest) {
    read_column(most, largest);
    return values_;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// How long a list can be: things that differ take a byte each in some column, so there are no
  /// more of them than bytes. A column of equal numbers takes none, and may claim to be of any
  /// length.
  [[nodiscard]] std::size_t limited(std::size_t most) const { return std::min(most, bytes_); }
  void require(bool condition) { good_ = good_ && condition; }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool done() const { return columns_.done(); }

 private:
  void read_column(std::size_t most, std::uint64_t largest) {
    good_ = good_ && columns_.read(values_, most) &&
            std::all_of(values_.begin(), values_.end(), [largest](std::uint64_t value) {
              return value <= largest;
            });
    if (!good_) {
      values_.clear();
    }
  }

  ColumnReader columns_;
  std::size_t bytes_;
  Numbers values_;
  bool good_ = true;
};

/// Gives `items` as many members as there are numbers, and each its number.
template <class Item, class Assign>
void assign_all(const Numbers& numbers, std::vector<Item>& items, const Assign& assign) {
  items.resize(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    assign(items[i], static_cast<std::uint32_t>(numbers[i]));
  }
}

template <class Item, class Value>
void encode_all(const std::vector<Item>& items, const Value& value, std::vector<std::byte>& out) {
  Numbers numbers(items.size());
  std::transform(items.begin(), items.end(), numbers.begin(), [&](const Item& item) {
    return static_cast<std::uint64_t>(value(item));
  });
  encode_column(out, numbers);
}

/// Starts as runs: how long after the one before, and how many start then.
template <class Entry>
void encode_starts(const std::vector<Entry>& entries, std::vector<std::byte>& out) {
  Numbers deltas;
  Numbers lengths;
  Ticks before;
  for (const Entry& entry : entries) {
    if (lengths.empty() || entry.start != before) {
      deltas.push_back(static_cast<std::uint64_t>((entry.start - before).ps));
      lengths.push_back(0);
      before = entry.start;
    }
    ++lengths.back();
  }
  encode_column(out, deltas);
  encode_column(out, lengths);
}

/// Makes at most `most` entries with these starts.
template <class Entry>
void decode_starts(PatternReader& reader, std::size_t most, std::vector<Entry>& entries) {
  most = reader.limited(most);
  const Numbers deltas = reader.read_any(most, static_cast<std::uint64_t>(kMaxTime.ps));
  const Numbers& lengths = reader.read(deltas.size(), most);
  Entry entry;
  for (std::size_t run = 0; run < deltas.size() && reader.good(); ++run) {
    entry.start += Ticks{static_cast<std::int64_t>(deltas[run])};
    reader.require(entry.start <= kMaxTime && lengths[run] > 0 && (run == 0 || deltas[run] > 0) &&
                   lengths[run] <= most - entries.size());
    if (reader.good()) {
      entries.insert(entries.end(), lengths[run], entry);
    }
  }
}

}  // namespace tacos
