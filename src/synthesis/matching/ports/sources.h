// SPDX-License-Identifier: MIT
// From whom a transfer over an in-link can start now, and by which route.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/csr.h"
#include "base/memory/bit_matrix.h"
#include "synthesis/matching/ports/port_network.h"
#include "synthesis/matching/ports/speed_levels.h"

namespace tacos::matching {

/// One way into a receiver: a source and the route from it.
struct Source {
  std::uint32_t npu = 0;
  /// Of the slowest link of the route.
  std::uint32_t level = 0;
  std::uint32_t first_link = 0;
  std::uint32_t num_links = 0;
  /// Pace of the slowest link of the route.
  std::int64_t slowest = 0;
  /// Whether its neighbourhood's back-log excuses duplicates.
  bool duplicates = false;
  /// Whether it has something for the receiver.
  bool useful = false;
  /// Its bit at its switch, where the in-link is simple.
  BitMatrix::Word bit = 0;
};

/// Collects sources; through switches by a search backwards from the receiver's, each switch once,
/// so that nothing per pair of ports is stored. Of every switch it knows which links from NPUs into
/// it are idle: at most times few.
class Sources {
 public:
  Sources(const PortNetwork& network,
          const SpeedLevels& levels,
          std::uint32_t num_npus,
          std::uint64_t seed);

  /// Must be told of every link out of an NPU that is taken or free again; all are idle at first.
  void set_idle(std::uint32_t link, bool idle);

  [[nodiscard]] bool is_idle(std::uint32_t link) const {
    return (idle_[bit_[link] / BitMatrix::kWordBits] >> bit_[link] % BitMatrix::kWordBits & 1U) !=
           0;
  }

  /// Whether all NPUs behind the in-link are on one even switch of few ports, over which no other
  /// in-link leads to the same NPU.
  [[nodiscard]] bool is_simple(std::uint32_t link) const { return behind_[link].others != 0; }
  /// Whether there may be any; cheap.
  [[nodiscard]] bool may_find(std::uint32_t link) const {
    return !is_simple(link) || idle_behind(link) != 0;
  }
  /// Bits of the idle sources of a simple in-link.
  [[nodiscard]] BitMatrix::Word idle_behind(std::uint32_t link) const {
    return idle_[behind_[link].word] & behind_[link].others;
  }
  /// The level and pace of all sources of a simple in-link, if they are the same.
  [[nodiscard]] const Source* all_alike(std::uint32_t link) const {
    const Behind& behind = behind_[link];
    return behind.others != 0 && behind.alike ? &behind.any : nullptr;
  }

  void clear();
  /// Appends every source that can start a transfer over in-link `link` now; `free` says from when
  /// on each link is. Of a simple in-link, leaves out those with bits in `skipped`.
  void find(std::uint32_t npu,
            std::uint32_t link,
            std::int64_t now,
            std::span<const std::int64_t> free,
            BitMatrix::Word skipped);

  [[nodiscard]] std::size_t size() const { return list_.size(); }
  [[nodiscard]] std::span<Source> list() { return list_; }
  [[nodiscard]] std::span<const std::uint32_t> route(const Source& source) const {
    return std::span(links_).subspan(source.first_link, source.num_links);
  }

 private:
  using Word = BitMatrix::Word;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Step {
    std::uint32_t link;
    std::uint32_t parent;
  };
  /// Of a simple in-link, the bits of the NPUs behind it, without its own, and one of them.
  /// Elsewhere nothing.
  struct Behind {
    std::size_t word = 0;
    Word others = 0;
    Source any{};
    /// Whether all have the same level and pace.
    bool alike = true;
  };

  void see_behind(std::uint32_t link);
  [[nodiscard]] Source source_behind(std::uint32_t link, Word bits) const;
  void find_behind(std::uint32_t link, std::uint32_t turn, Word skipped);
  /// The NPUs whose links into the switch of a step are idle, in turn from in-link `first` on.
  void add_npus(std::uint32_t step,
                std::uint32_t first,
                std::int64_t now,
                std::span<const std::int64_t> free);
  bool add(std::uint32_t npu,
           std::span<const std::uint32_t> route,
           std::int64_t now,
           std::span<const std::int64_t> free);

  const PortNetwork& network_;
  const SpeedLevels& levels_;
  std::uint32_t num_npus_;
  std::uint64_t seed_;
  /// By node: which of its in-links come from switches.
  Csr<std::uint32_t> from_switches_;
  /// By node, from this word on: a bit for each in-link, set if it comes from an NPU and is idle.
  std::vector<std::size_t> first_word_;
  std::vector<Word> idle_;
  /// By link: its bit among all of idle_.
  std::vector<std::size_t> bit_;
  /// By link into an NPU.
  std::vector<Behind> behind_;

  std::vector<Source> list_;
  std::vector<std::uint32_t> links_;
  std::vector<Step> search_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t mark_ = 0;
  std::vector<std::uint32_t> path_;
};

}  // namespace tacos::matching
