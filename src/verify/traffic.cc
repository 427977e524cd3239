// SPDX-License-Identifier: MIT
#include "verify/traffic.h"

#include <algorithm>

#include <fmt/format.h>

namespace tacos {

void Traffic::occupy(const Passage& passage, const Transfer& transfer, std::uint64_t index) {
  enter_until(transfer.start);
  if (!passage.first) {
    entries_.push(transfer.start, {passage.at, passage.busy, index, passage.link});
    return;
  }
  Ticks& free_at = free_at_[passage.link.value() - first_];
  if (passage.at < free_at) {
    violations_.add(transfer, index, [&] {
      return fmt::format("link {} is busy until {} ps", passage.link.value(), free_at.ps);
    });
  }
  free_at = std::max(free_at, passage.at + passage.busy);
}

void Traffic::enter_until(Ticks time) {
  while (entries_.next_time() <= time) {
    entries_.take_next(entering_);
    for (const Entry& entry : entering_) {
      Ticks& free_at = free_at_[entry.link.value() - first_];
      if (entry.time < free_at) {
        violations_.add([&] {
          return fmt::format("transfer {} reaches {} at {} ps, but the link is busy until {} ps",
                             entry.transfer,
                             violations_.name(entry.link),
                             entry.time.ps,
                             free_at.ps);
        });
      }
      free_at = std::max(free_at, entry.time + entry.busy);
    }
  }
}

}  // namespace tacos
