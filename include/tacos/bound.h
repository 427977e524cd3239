// SPDX-License-Identifier: MIT
// Proven lower limits on the collective time, each with the evidence that proves it.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "tacos/collective.h"
#include "tacos/ids.h"
#include "tacos/result.h"
#include "tacos/topology.h"
#include "tacos/units.h"

namespace tacos {

enum class CertificateKind {
  kNothing,     ///< nothing has to move
  kCut,         ///< bytes that must enter a set of nodes, over the bandwidth into it
  kPartition,   ///< All-Reduce: copies that parts must exchange, over the bandwidth between them
  kLengths,     ///< All-to-All: link lengths; bytes times distance, over length times bandwidth
  kChunkCount,  ///< a cut, counted in whole chunks of one size under one link model
  kGrowth,      ///< how many an NPU can have heard of, as ports take one message at a time
};

/// When the data of a cut can cross it and what is then left of its way.
///
/// Bytes count that come from at least `radius` away from `target`. They cannot begin to cross link
/// (x, y) before from_source[x], and need to_target[y] after it, so of T picoseconds the link has
/// at most T - max(radius, from_source[x] + latency + to_target[y]) for them.
struct CutTiming {
  NodeId target;
  Ticks radius;
  /// Lower bounds on the latency from each node to the target.
  std::vector<Ticks> to_target;
  /// All-Reduce: the NPU whose vector crosses. Others: nothing.
  NodeId source;
  /// Lower bounds on the latency from the source to each node; empty stands for zero.
  std::vector<Ticks> from_source;

  friend bool operator==(const CutTiming&, const CutTiming&) = default;
};

/// Evidence for a bound: check_certificate computes the bound from it, on its own, in O(links)
/// (kLengths: O(participants x links); kGrowth, in `copies` steps: O(copies^2 x links x NPUs)).
struct Certificate {
  CertificateKind kind = CertificateKind::kNothing;
  /// Whether it speaks of the network with every link turned round (so that "receive" is "send").
  bool reversed = false;

  /// kCut, kChunkCount: the receiving side, increasing.
  std::vector<NodeId> receivers;
  std::optional<CutTiming> timing;

  /// kPartition: the part of each NPU, numbered from 0.
  std::vector<std::uint32_t> parts;
  /// kPartition: (part, switch) for every switch counted as inside a part.
  std::vector<std::pair<std::uint32_t, NodeId>> part_switches;

  /// kLengths: one for each link.
  std::vector<std::int64_t> lengths;

  /// kChunkCount, kGrowth.
  LinkModel link_model = LinkModel::kHold;

  /// kGrowth: the NPU that must hear from all participants, or reversed, that all must hear from;
  /// the unit that latencies are rounded down to. `copies` is how many of them are not enough for
  /// `bytes` participants.
  NodeId target;
  Ticks step;

  // The arithmetic: time >= copies x bytes / bandwidth; of kGrowth copies x step.
  std::int64_t copies = 1;
  /// kChunkCount: chunks.
  std::int64_t bytes = 0;
  /// Bytes per second; 2^63 - 1 when it is more.
  std::int64_t bandwidth = 0;
  Ticks time;

  friend bool operator==(const Certificate&, const Certificate&) = default;
};

struct Bound {
  /// Every schedule takes at least this long. Schedules take whole picoseconds, so the exact
  /// rational limit is rounded up.
  Ticks time;
  /// "cut", "partition", "flow", "combined", "growth", "latency" or "chunk-count".
  std::string name;
  /// Whether it is the largest bound of its kind, not just the largest found.
  bool exact = false;
  Certificate certificate;
};

enum class BoundEffort {
  kCheap,  ///< families of cuts in O(links)
  kExact,  ///< the exact optimum where the size allows it
};

/// What bounds beside a schedule are worth: exact up to 50,000 NPUs and 2^25 links.
[[nodiscard]] BoundEffort effort_beside_schedule(const Topology& topology);

struct BoundOptions {
  BoundEffort effort = BoundEffort::kExact;
  /// Chunk counts and growth depend on it; the others hold under both.
  LinkModel link_model = LinkModel::kHold;
  /// Whether latency and whole chunks are looked at too; else `best` is `bandwidth`.
  bool with_latency = true;
  /// Once stop is requested, work ends soon, with kCancelled; from any thread.
  std::stop_token cancel = {};
};

enum class BoundStatus {
  kProven,
  kInfeasible,  ///< `unreachable` says why
};

struct BoundReport {
  BoundStatus status = BoundStatus::kProven;
  /// The largest bound. It holds for any chunking, coalesced or not, under the link model of the
  /// options.
  Bound best;
  /// The largest bound with latency left out.
  Bound bandwidth;
  /// Holds only for the chunks of this collective, each in a transfer of its own, under the link
  /// model of the options. Not for All-to-All.
  std::optional<Bound> chunk_count;
  /// All-Reduce on symmetric networks without switches: trees can be packed so that the bandwidth
  /// alone allows this time, so the optimum lies between `bandwidth` and it.
  std::optional<Ticks> attainable;
  /// (from, to): data of `from` cannot reach `to`.
  std::optional<std::pair<NodeId, NodeId>> unreachable;
};

/// Fails when a participant is not an NPU of the network.
[[nodiscard]] Result<BoundReport> compute_bounds(const Topology& topology,
                                                 const Collective& collective,
                                                 const BoundOptions& options = {});

/// The bound that the certificate proves, computed from the network alone; fails when the
/// certificate is malformed, proves nothing here, or its arithmetic does not agree.
[[nodiscard]] Result<Ticks> check_certificate(const Topology& topology,
                                              const Collective& collective,
                                              const Certificate& certificate);

/// One sentence: "NPU 0 must receive 63/64 of the buffer over 2 links of 50 GB/s".
[[nodiscard]] std::string explain(const Topology& topology,
                                  const Collective& collective,
                                  const Certificate& certificate);

}  // namespace tacos
