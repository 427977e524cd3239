// SPDX-License-Identifier: MIT
// What it costs to use a link that already has so much to do.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "tacos/topology.h"

namespace tacos {

/// Prices grow exponentially with how full a link is against the fullest (Garg and Koenemann 2007):
/// the steeper they are, the closer their sum over all that is carried is to the fullest link.
class LinkPrices {
 public:
  LinkPrices(const Topology& topology, Bytes chunk_bytes, LinkModel link_model);

  /// Of so many sweeps to come; of none, shortest ways are cheapest, emptier ones among equals.
  void begin(std::uint32_t sweeps) {
    if (sweeps == 0) {
      prefer_shortest();
    } else {
      set_stage(0);
    }
  }
  /// Gentle prices at first, when much must move, steep ones at the end. `reconsider(sweep)` says
  /// whether it moved anything.
  template <class Reconsider>
  void sweep(std::uint32_t sweeps, const Reconsider& reconsider) {
    for (std::uint32_t done = 0; done < sweeps; ++done) {
      const std::size_t stage = done * kStages / sweeps;
      set_stage(stage);
      if (!reconsider(done) && stage + 1 == kStages) {
        break;
      }
    }
  }

  /// For one more chunk.
  [[nodiscard]] std::uint64_t of_next(LinkId link) const {
    return price(link.index(), load_[link.index()] + weight_[link.index()]);
  }
  /// For the last chunk that was added.
  [[nodiscard]] std::uint64_t of_last(LinkId link) const {
    return price(link.index(), load_[link.index()]);
  }
  /// How long a chunk takes over the link, scaled.
  [[nodiscard]] std::uint64_t time(LinkId link) const { return time_[link.index()]; }
  /// What of_next is at least, for each unit of time.
  [[nodiscard]] static constexpr std::uint64_t of_time() { return kPriceOfTime; }

  void add(LinkId link) { load_[link.index()] += weight_[link.index()]; }
  void remove(LinkId link) { load_[link.index()] -= weight_[link.index()]; }
  /// Adds and takes notice when the link becomes the fullest, which changes all prices.
  void add_first(LinkId link) {
    add(link);
    fullest_ = std::max(fullest_, load_[link.index()]);
  }

 private:
  static constexpr std::size_t kStages = 4;
  /// Fullness is counted in this many steps of the load of the fullest link.
  static constexpr std::uint64_t kFull = 4096;
  /// Prices reach beyond the fullest link, for chunks that would be added to it.
  static constexpr std::size_t kPrices = 2 * kFull;
  /// What the time on a link costs when nothing else is there: longer paths must pay.
  static constexpr std::uint64_t kPriceOfTime = std::uint64_t{1} << 10U;

  void prefer_shortest();
  void set_stage(std::size_t stage);
  /// What a chunk pays on a link that has `load` with it.
  [[nodiscard]] std::uint64_t price(std::size_t link, std::uint64_t load) const {
    const std::uint64_t fullness = std::min<std::uint64_t>(load * kFull / fullest_, kPrices - 1);
    return weight_[link] * price_[fullness] + time_[link] * kPriceOfTime;
  }

  /// Of each link: what a chunk adds to its load, and how long it takes; scaled.
  std::vector<std::uint64_t> weight_;
  std::vector<std::uint64_t> time_;
  std::vector<std::uint64_t> load_;
  std::uint64_t fullest_ = 1;
  /// By fullness.
  std::array<std::uint64_t, kPrices> price_{};
};

}  // namespace tacos
