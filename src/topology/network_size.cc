// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "base/memory/room.h"
#include "base/text/quantity.h"
#include "topology/generators.h"

namespace tacos {

Status check_counts(std::uint64_t nodes, std::uint64_t links) {
  if (nodes > kMaxNodes) {
    return input_error(fmt::format(
        "has {} nodes, more than the {} supported", format_count(nodes), format_count(kMaxNodes)));
  }
  if (links > kMaxLinks) {
    return input_error(fmt::format(
        "has {} links, more than the {} supported", format_count(links), format_count(kMaxLinks)));
  }
  return ok();
}

Status check_network_size(std::uint64_t nodes, std::uint64_t links) {
  if (Status supported = check_counts(nodes, links); !supported) {
    return supported;
  }
  // A link is listed itself and, by number, at both of its ends; whatever is done with a network
  // takes about as much again.
  constexpr std::uint64_t kBytesPerLink = 2 * (sizeof(Link) + 2 * sizeof(LinkId));
  constexpr std::uint64_t kBytesPerNode = 100;
  return check_memory_room(links * kBytesPerLink + nodes * kBytesPerNode,
                           std::nullopt,
                           "a smaller network or more memory",
                           {});
}

}  // namespace tacos
