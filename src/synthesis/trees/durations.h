// SPDX-License-Identifier: MIT
// How long transfers take, with a number for each different span of time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "synthesis/trees/fabric.h"
#include "synthesis/trees/list_schedule.h"

namespace tacos::trees {

/// Durations of transfers of 1.. chunks per channel, numbered.
class Durations {
 public:
  struct Times {
    std::int64_t busy = 0;
    std::int64_t arrival = 0;
    std::uint32_t busy_number = 0;
    std::uint32_t arrival_number = 0;
  };

  Durations(std::uint32_t channels, const ChannelCosts& costs, const Grouping& grouping)
      : most_(grouping.most()) {
    times_.resize(std::size_t{channels} * most_);
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
      for (std::uint32_t count = 1; count <= grouping.of(channel); ++count) {
        const LinkCost cost = costs.of(channel, count);
        times_[std::size_t{channel} * most_ + count - 1] = {cost.busy.ps, cost.arrival.ps, 0, 0};
        distinct_.push_back(cost.busy.ps);
        distinct_.push_back(cost.arrival.ps);
      }
    }
    std::sort(distinct_.begin(), distinct_.end());
    distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
    for (Times& times : times_) {
      times.busy_number = number(times.busy);
      times.arrival_number = number(times.arrival);
    }
  }
  [[nodiscard]] std::size_t count() const { return distinct_.size(); }
  [[nodiscard]] const Times& of(std::uint32_t channel, std::uint32_t chunks) const {
    return times_[std::size_t{channel} * most_ + chunks - 1];
  }

 private:
  [[nodiscard]] std::uint32_t number(std::int64_t time) const {
    return static_cast<std::uint32_t>(std::lower_bound(distinct_.begin(), distinct_.end(), time) -
                                      distinct_.begin());
  }

  std::uint32_t most_;
  std::vector<Times> times_;
  std::vector<std::int64_t> distinct_;
};

}  // namespace tacos::trees
