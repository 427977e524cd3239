// SPDX-License-Identifier: MIT
// What an engine makes under the other link model, where that may be better.
#pragma once

#include "tacos/synthesize.h"
#include "tacos/topology.h"

#include "synthesis/engines.h"

namespace tacos {

/// Where no gap is longer than its link's latency, every schedule of the `hold` model is one of the
/// `pipelined` model, and can only become shorter.
/// But a search that is led by other times ends elsewhere: of 400 small networks 1 in 20 was up to
/// 13% slower under `pipelined`, and of 11,000 in an hour of soak one took 1.6 times as long. So
/// the other model is tried too, where it costs little or what was made is far from the bound.
class OtherModel {
 public:
  OtherModel(const Topology& topology, const Problem& problem, const EngineOptions& options);

  /// What the engine makes under `hold`, replayed, if it is faster than what it made.
  void try_it(const EngineInfo& engine, EngineOptions options, Candidate& made) const;

 private:
  [[nodiscard]] bool is_behind(const Candidate& made, const EngineOptions& options) const;
  [[nodiscard]] bool chunks_are_short(const Candidate& made) const;
  [[nodiscard]] bool near_bound(const Candidate& made, std::int64_t part) const;

  const Topology& topology_;
  const Problem& problem_;
  bool worthwhile_;
  /// Within this part of the bound what was made is good enough.
  std::int64_t part_;
  /// Unless there are few transfers.
  bool costly_;
};

}  // namespace tacos
