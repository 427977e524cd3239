// SPDX-License-Identifier: MIT
// How long transfers take, with a number for each different span of time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "synthesis/trees/network/fabric.h"
#include "synthesis/trees/timing/leg_scheduler.h"

namespace tacos::trees {

/// Durations of transfers of 1.. chunks per hop, numbered.
class Durations {
 public:
  struct Span {
    std::int64_t time = 0;
    std::uint32_t number = 0;
  };

  Durations(const Fabric& fabric, const HopCosts& costs, const TransferSharing& sharing)
      : fabric_(fabric), most_(sharing.most()) {
    const std::uint32_t hops = fabric.num_hops();
    arrival_.resize(std::size_t{hops} * most_);
    free_.resize(std::size_t{fabric.first_place(hops)} * most_);
    for (std::uint32_t hop = 0; hop < hops; ++hop) {
      for (std::uint32_t count = 1; count <= sharing.of(hop); ++count) {
        arrival_[at(hop, count)].time = costs.arrival_of(hop, count);
        for (std::uint32_t n = 0; n < fabric.links(hop).size(); ++n) {
          free_[at(fabric.first_place(hop) + n, count)].time = costs.free_after(hop, n, count);
        }
      }
    }
    for (const std::vector<Span>* spans : {&arrival_, &free_}) {
      for (const Span& span : *spans) {
        distinct_.push_back(span.time);
      }
    }
    std::sort(distinct_.begin(), distinct_.end());
    distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
    for (std::vector<Span>* spans : {&arrival_, &free_}) {
      for (Span& span : *spans) {
        span.number = number(span.time);
      }
    }
  }
  [[nodiscard]] std::size_t count() const { return distinct_.size(); }
  /// Until the data is there.
  [[nodiscard]] const Span& arrival(std::uint32_t hop, std::uint32_t chunks) const {
    return arrival_[at(hop, chunks)];
  }
  /// Until the hop's n-th link is free.
  [[nodiscard]] const Span& free(std::uint32_t hop, std::uint32_t n, std::uint32_t chunks) const {
    return free_[at(fabric_.first_place(hop) + n, chunks)];
  }

 private:
  [[nodiscard]] std::size_t at(std::uint32_t place, std::uint32_t chunks) const {
    return std::size_t{place} * most_ + chunks - 1;
  }
  [[nodiscard]] std::uint32_t number(std::int64_t time) const {
    return static_cast<std::uint32_t>(std::lower_bound(distinct_.begin(), distinct_.end(), time) -
                                      distinct_.begin());
  }

  const Fabric& fabric_;
  std::uint32_t most_;
  std::vector<Span> arrival_;
  std::vector<Span> free_;
  std::vector<std::int64_t> distinct_;
};

}  // namespace tacos::trees
