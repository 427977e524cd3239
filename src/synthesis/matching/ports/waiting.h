// SPDX-License-Identifier: MIT
// Which NPUs are worth looking at.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/csr.h"
#include "base/memory/bit_matrix.h"
#include "synthesis/matching/ports/port_network.h"
#include "synthesis/matching/ports/sources.h"
#include "synthesis/matching/ports/speed_levels.h"

namespace tacos::matching {

/// Those for which something has changed since they were looked at. Behind one switch whose ports
/// have equal latencies that takes an event; where routes differ, time alone may open one, and such
/// NPUs are always worth it.
class Waiting {
 public:
  Waiting(const PortNetwork& network, const SpeedLevels& levels, std::uint32_t num_npus);

  void add_everybody();
  /// A link has come free.
  void freed(std::uint32_t link);
  /// Something has come to an NPU: new to those whom it can send to now.
  void arrived(std::uint32_t npu, const Sources& sources);
  /// The neighbourhood of an NPU owes more, so that duplicates may be excused.
  void owes_more(std::uint32_t npu) { add(neighbours_.row(widest_[npu])); }

  /// Calls `serve` for each, in turn from NPU `first` on. Who is added meanwhile has its turn if
  /// that is still to come.
  template <class Serve>
  void each_from(std::uint32_t first, const Serve& serve) {
    each_within(first, num_npus_, serve);
    each_within(0, first, serve);
  }

 private:
  using Word = BitMatrix::Word;
  static constexpr std::uint32_t kWordBits = BitMatrix::kWordBits;

  void add(std::span<const Word> npus) {
    for (std::size_t word = 0; word < waiting_.size(); ++word) {
      waiting_[word] |= npus[word];
    }
  }
  void add(std::uint32_t npu) { waiting_[npu / kWordBits] |= Word{1} << npu % kWordBits; }

  template <class Serve>
  void each_within(std::uint32_t from, std::uint32_t to, const Serve& serve) {
    while (from < to) {
      const std::uint32_t word = from / kWordBits;
      const Word rest = ~Word{0} << from % kWordBits;
      const Word bits = (waiting_[word] | always_[word]) & rest;
      from = word * kWordBits + static_cast<std::uint32_t>(std::countr_zero(bits));
      if (bits == 0 || from >= to) {
        from = (word + 1) * kWordBits;
        continue;
      }
      waiting_[word] &= ~(bits & (~bits + 1));
      serve(from);
      ++from;
    }
  }

  const PortNetwork& network_;
  std::uint32_t num_npus_;
  std::vector<Word> waiting_;
  std::vector<Word> always_;
  /// By node: the NPUs that a link from it leads to.
  BitMatrix receivers_;
  /// By NPU: its links to switches.
  Csr<std::uint32_t> to_switches_;
  /// By NPU: its widest neighbourhood, and who is in it.
  std::vector<std::uint32_t> widest_;
  BitMatrix neighbours_;
};

}  // namespace tacos::matching
