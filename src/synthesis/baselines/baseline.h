// SPDX-License-Identifier: MIT
// Algorithms that people know, made into schedules: each is one file that says who sends which
// parts to whom, in which order; here they are cut into pieces, routed and timed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tacos/collective.h"
#include "tacos/topology.h"

#include "synthesis/baselines/messages.h"
#include "synthesis/baselines/routes.h"
#include "synthesis/common/engine.h"

namespace tacos::baselines {

/// What an algorithm may know of its problem.
class Setup {
 public:
  Setup(const Topology& topology, const Problem& problem);

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] std::uint32_t size() const {
    return static_cast<std::uint32_t>(problem_.participants.size());
  }
  [[nodiscard]] NodeId npu(std::uint32_t participant) const {
    return problem_.participants[participant];
  }
  /// Number of the root; the first participant where there is none.
  [[nodiscard]] std::uint32_t root() const { return root_; }
  [[nodiscard]] bool is_everybody() const { return size() == topology_.num_npus(); }
  /// Whether one can send to the other past no NPU.
  [[nodiscard]] bool are_neighbours(std::uint32_t src, std::uint32_t dst) const {
    return near_routes_.joins(npu(src), npu(dst));
  }
  /// Routes past no NPU.
  [[nodiscard]] Routes& near_routes() const { return near_routes_; }

 private:
  const Topology& topology_;
  const Problem& problem_;
  std::uint32_t root_ = 0;
  /// The network whose NPUs do not forward.
  Topology near_;
  mutable Routes near_routes_;
};

/// What an algorithm sends for one piece of every part; pieces may go different ways. What is not
/// there it does not do; Reduce-Scatter, Reduce and Gather are these backwards, All-Reduce is one
/// backwards and then forwards.
struct Algorithm {
  using Make = std::function<Messages(std::uint32_t piece)>;
  Make gather = {};    ///< every participant's part to all
  Make spread = {};    ///< the one part from the root to all
  Make scatter = {};   ///< part i from the root to participant i
  Make exchange = {};  ///< part i * size + j from i to j
};

/// The variants of an algorithm, of which the best is kept; fails when the network or the
/// participants do not fit.
using MakeAlgorithms = Result<std::vector<Algorithm>> (*)(const Setup& setup);

[[nodiscard]] Result<std::vector<Algorithm>> ring(const Setup& setup);
[[nodiscard]] Result<std::vector<Algorithm>> bidirectional_ring(const Setup& setup);
[[nodiscard]] Result<std::vector<Algorithm>> direct(const Setup& setup);
[[nodiscard]] Result<std::vector<Algorithm>> halving_doubling(const Setup& setup);
[[nodiscard]] Result<std::vector<Algorithm>> double_binary_tree(const Setup& setup);
[[nodiscard]] Result<std::vector<Algorithm>> blueconnect(const Setup& setup);
[[nodiscard]] Result<std::vector<Algorithm>> themis(const Setup& setup);
[[nodiscard]] Result<std::vector<Algorithm>> multitree(const Setup& setup);
[[nodiscard]] Result<std::vector<Algorithm>> hierarchical(const Setup& setup);
[[nodiscard]] Result<std::vector<Algorithm>> bruck(const Setup& setup);
[[nodiscard]] Result<std::vector<Algorithm>> pairwise(const Setup& setup);
[[nodiscard]] Result<std::vector<Algorithm>> binomial(const Setup& setup);

/// The best of all variants and numbers of pieces, which are tried in powers of two while they
/// help.
[[nodiscard]] Result<Candidate> best_schedule(MakeAlgorithms make,
                                              const Topology& topology,
                                              const Problem& problem,
                                              const EngineOptions& options);

/// As an Engine.
template <MakeAlgorithms Make>
[[nodiscard]] Result<Candidate> synthesize(const Topology& topology,
                                           const Problem& problem,
                                           const EngineOptions& options) {
  return best_schedule(Make, topology, problem, options);
}

/// Whether an algorithm is there for the collective, by what it can do.
enum class Does : std::uint8_t { kGather = 1, kSpread = 2, kScatter = 4, kExchange = 8 };
[[nodiscard]] constexpr int operator|(Does a, Does b) {
  return static_cast<int>(a) | static_cast<int>(b);
}
[[nodiscard]] bool does(int what, CollectiveKind kind);

template <int What>
[[nodiscard]] bool handles(const Topology& /*topology*/, const Problem& problem) {
  return does(What, problem.kind);
}

}  // namespace tacos::baselines
