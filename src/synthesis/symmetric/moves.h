// SPDX-License-Identifier: MIT
// What a network that looks the same from every NPU lets each of them do, seen from NPU 0.
//
// The symmetries of the network are a group with one element for each NPU: the one that takes NPU 0
// there. So NPUs are elements, and "the NPU d away from u" is where the symmetry of u takes d.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/schedule.h"
#include "tacos/topology.h"
#include "tacos/units.h"

namespace tacos::symmetric {

/// A link that all NPUs have alike, or a port of a switch: a link there and one back.
struct Way {
  /// Ways that belong together, such as both ways round a ring, have equal numbers.
  std::uint32_t axis = 0;
  /// By element: the element that it leads to; of a port the number of its line, which is all
  /// elements at one switch.
  std::vector<std::uint32_t> to;
  /// Of a port: line i is members[lines[i]] up to members[lines[i + 1]]. Empty for links.
  std::vector<std::uint32_t> lines;
  std::vector<std::uint32_t> members;
  /// What it costs; their ends mean nothing. Of a port there is also the link out of the switch.
  Link link;
  Link down;

  [[nodiscard]] bool is_port() const { return !lines.empty(); }
  /// All elements that it leads to from one.
  [[nodiscard]] std::span<const std::uint32_t> reach(std::uint32_t element) const {
    return is_port() ? std::span(members).subspan(lines[to[element]],
                                                  lines[to[element] + 1] - lines[to[element]])
                     : std::span(to).subspan(element, 1);
  }
};

/// All ways out of an NPU, each of which can carry something else at the same time.
struct Moves {
  std::uint32_t npus = 0;
  /// Those of one axis follow each other.
  std::vector<Way> ways;
  /// The ways taken from their end to their beginning: the i-th leads back along ways[mates[i]] and
  /// costs the same as ways[i]. Left empty where they are the same as `ways`.
  std::vector<Way> ways_back;
  std::vector<std::uint32_t> mates;

  [[nodiscard]] std::span<const Way> backwards() const {
    return ways_back.empty() ? ways : ways_back;
  }
};

/// Whether the ways lead from NPU 0 to every other.
[[nodiscard]] bool reach_everybody(const Moves& moves);

/// How long a way takes for a chunk: from one start to the next, and from a start to the arrival.
struct Server {
  Ticks period;
  Ticks duration;
};
[[nodiscard]] std::vector<Server> servers(std::span<const Way> ways, Bytes chunk, LinkModel model);

/// A chunk of NPU 0 goes from one element to another.
struct Step {
  Ticks start;
  Op op = Op::kCopy;
  std::uint32_t way = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t chunk = 0;
};

/// What all chunks of NPU 0 do, and so those of every NPU in its own place.
struct Motif {
  std::uint32_t chunks_per_npu = 0;
  /// In any order.
  std::vector<Step> steps;
  /// When the last one ends.
  Ticks end;
};

}  // namespace tacos::symmetric
