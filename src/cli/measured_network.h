// SPDX-License-Identifier: MIT
// Networks out of what was measured between processes.
#pragma once

#include <string>
#include <vector>

#include "tacos/result.h"
#include "tacos/topology.h"

#include "execute/probe.h"

namespace tacos::cli {

/// A wire, and the links whose speed it shows: one that joins two NPUs, or the ports at both ends
/// of a way through switches.
struct ProbedWire {
  execution::Wire wire;
  std::vector<LinkId> links;
};

/// What to measure of a network whose NPUs are processes 0, 1, and so on: every link between NPUs,
/// and every port once each way. Links between switches show in no single wire.
[[nodiscard]] std::vector<ProbedWire> wires_of(const Topology& topology);
/// From every process to every other.
[[nodiscard]] std::vector<ProbedWire> all_pairs(std::uint32_t processes);

/// A link that is slower than most that were said to be like it.
struct SlowLink {
  LinkId link;
  /// What it has of the bandwidth of most.
  double share = 0;
};

struct MeasuredNetwork {
  Topology topology;
  /// By link.
  std::vector<Bandwidth> found;
  std::vector<SlowLink> slow;
  /// Links that nothing was measured of; they are as they were.
  std::uint32_t unmeasured = 0;
  /// Wires that are slower by a tenth and more when all are busy.
  std::uint32_t sharing = 0;
};

/// The same network with what was measured. Links that were said to be alike, and are to a tenth,
/// get the middle of what was found of them: what is between them is the noise of short
/// measurements, and equal links are what engines make the most of.
[[nodiscard]] Result<MeasuredNetwork> with_speeds(const Topology& topology,
                                                  const std::vector<ProbedWire>& wires,
                                                  const std::vector<execution::WireSpeed>& speeds);

struct ProposedNetwork {
  Topology topology;
  /// One sentence.
  std::string why;
  /// Of all pairs, those whose bandwidth is that of the proposal to a tenth.
  double explained = 0;
};

/// A network that would explain the speeds of all pairs: on one switch where a process has the same
/// to give however many it sends to, joined each to each where not; in boxes, joined by a slower
/// switch, where pairs are of two kinds.
[[nodiscard]] Result<ProposedNetwork> propose(std::uint32_t processes,
                                              const std::vector<ProbedWire>& wires,
                                              const std::vector<execution::WireSpeed>& speeds);

}  // namespace tacos::cli
