// SPDX-License-Identifier: MIT
// What is on its way while a schedule is followed in time order.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "tacos/units.h"

namespace tacos::lowering {

/// `Cargo` is what must be known of a transfer when it arrives; what has arrived is used again, so
/// that lists in it need not be allocated anew.
template <class Cargo>
class Underway {
 public:
  /// To be filled in, and then sent off.
  [[nodiscard]] Cargo& load() {
    if (landed_.empty()) {
      landed_.push_back(static_cast<std::uint32_t>(cargo_.size()));
      cargo_.emplace_back();
    }
    return cargo_[landed_.back()];
  }
  /// What was loaded last.
  void send_off(Ticks end) {
    arrivals_.push({.end = end, .number = sent_++, .cargo = landed_.back()});
    landed_.pop_back();
  }
  /// Calls arrive(cargo) for all that arrive by then, in time order, of equals those first that
  /// were sent first.
  template <class Arrive>
  void arrive_until(Ticks now, const Arrive& arrive) {
    while (!arrivals_.empty() && arrivals_.top().end <= now) {
      const std::uint32_t cargo = arrivals_.top().cargo;
      arrivals_.pop();
      arrive(std::as_const(cargo_[cargo]));
      landed_.push_back(cargo);
    }
  }

 private:
  struct Arrival {
    Ticks end;
    std::uint64_t number = 0;
    std::uint32_t cargo = 0;

    friend bool operator>(const Arrival& a, const Arrival& b) {
      return std::pair(a.end, a.number) > std::pair(b.end, b.number);
    }
  };

  std::vector<Cargo> cargo_;
  /// Cargo that is not on its way.
  std::vector<std::uint32_t> landed_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::uint64_t sent_ = 0;
};

}  // namespace tacos::lowering
