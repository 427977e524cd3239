// SPDX-License-Identifier: MIT
// A schedule link by link: when each is busy, and with what.
#pragma once

#include <cstdint>
#include <vector>

#include "tacos/bundle.h"
#include "tacos/result.h"

#include "schedule/read_ahead.h"

namespace tacos::exporting {

/// A transfer on one of its links.
struct Passage {
  LinkId link;
  Ticks start;
  Ticks busy;
};

/// Calls visit(transfer, its end) for each transfer in start order.
template <class Visit>
Status each_transfer(const Bundle& bundle, const Visit& visit) {
  return read_transfers(bundle.schedule, 1, [&](const Transfer& transfer) {
    const Bytes bytes = bundle.collective.chunks().bytes(transfer.chunks);
    visit(transfer, transfer.start + route_time(bundle.topology, transfer.links, bytes));
  });
}

/// Calls visit(passage) for each link of a transfer.
template <class Visit>
void each_passage(const Bundle& bundle, const Transfer& transfer, const Visit& visit) {
  const Bytes bytes = bundle.collective.chunks().bytes(transfer.chunks);
  Ticks head = transfer.start;
  for (const LinkId id : transfer.links) {
    const Link& link = bundle.topology.link(id);
    const Ticks busy =
        serialization_time(bytes, link.bandwidth) + overhead(link, bundle.link_model);
    visit(Passage{.link = id, .start = head, .busy = busy});
    head += link.latency;
  }
}

/// What a link did in all.
struct LinkUse {
  std::uint64_t transfers = 0;
  std::uint64_t bytes = 0;
  Ticks busy;
};
/// By link.
[[nodiscard]] Result<std::vector<LinkUse>> uses_of(const Bundle& bundle);
/// The part of the collective time in which a link is busy.
[[nodiscard]] double utilization(const Bundle& bundle, const LinkUse& use);

}  // namespace tacos::exporting
