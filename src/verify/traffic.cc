// SPDX-License-Identifier: MIT
#include "verify/traffic.h"

#include <algorithm>

#include <fmt/format.h>

namespace tacos {

void Traffic::occupy(const Transfer& transfer, std::uint64_t index) {
  enter_until(transfer.start);
  const Bytes bytes = table_.load(transfer.chunks);
  Ticks at = transfer.start;
  for (std::size_t i = 0; i < transfer.links.size(); ++i) {
    const LinkId link = transfer.links[i];
    const WireTable::Wire& wire = table_[link];
    if (covers(link)) {
      const Ticks busy = table_.serialization(link, bytes) + wire.held;
      if (i > 0) {
        entries_.push(transfer.start, {at, busy, index, link});
      } else {
        Ticks& free_at = free_at_[link.value() - first_];
        if (at < free_at) {
          violations_.add(transfer, index, [&] {
            return fmt::format("link {} is busy until {} ps", link.value(), free_at.ps);
          });
        }
        free_at = std::max(free_at, at + busy);
      }
    }
    at += wire.latency;
  }
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
