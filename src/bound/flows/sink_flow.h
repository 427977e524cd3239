// SPDX-License-Identifier: MIT
// Maximum flow from many sources to one sink, made for sinks that are asked for one after another.
//
// Every bound by cuts asks the same question for sink after sink: can so much flow reach it? Almost
// all of these flows are local: the sources of unlimited supply (sinks that were asked for before)
// are two or three hops away. So the search starts at the sink and runs against the arcs, stops as
// soon as it has met enough supply (counting no more behind a node than the way from it to the sink
// can carry), and the arcs it used are listed, to be reset in time proportional to them rather
// than to the network.
//
// Each phase labels nodes by their distance to the sink and then fills the label graph with a
// blocking flow, as Dinic (1970) does, with one difference: a phase does not stop at the nearest
// source, but takes supply wherever it meets it on the way. The one flow that is global (the first:
// every NPU sends its own shard) needs a handful of phases that way instead of one for each
// distance. A phase costs O(arcs touched + length of the paths). Integers only, so every phase
// makes progress and the last one proves that there is no more.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bound/flows/flow_graph.h"

namespace tacos {

template <class Int>
class SinkFlow {
 public:
  explicit SinkFlow(const FlowGraph<Int>& graph);

  /// Arcs carry up to `factor` times their capacity.
  void set_capacity_factor(Int factor) { factor_ = factor; }
  /// A node that is no source can send `factor` times its weight.
  void set_supply(Int factor, std::span<const std::int64_t> weights);
  /// From now on `node` can send without limit.
  void make_source(std::uint32_t node) { source_[node] = 1; }

  /// The flow that reaches `sink`, whose own supply does not count; never more than `target`.
  [[nodiscard]] Int run(std::uint32_t sink, Int target);
  /// After a run that missed its target: the nodes from which the sink can still be reached. The
  /// arcs into this set are full, and all its supply is used.
  [[nodiscard]] std::span<const std::uint32_t> sink_side() const { return queue_; }

 private:
  using Arc = typename FlowGraph<Int>::Arc;

  [[nodiscard]] Int residual(std::uint32_t arc) const {
    return graph_.arc(arc).capacity * factor_ - flow_[arc];
  }
  [[nodiscard]] Int supply_left(std::uint32_t node) const { return supply_[node] - sent_[node]; }
  void reset();
  void use(std::uint32_t arc, Int amount);
  [[nodiscard]] bool label(std::uint32_t sink, Int wanted);
  [[nodiscard]] Int expand(std::uint32_t node, std::uint32_t& last);
  [[nodiscard]] Int fill(std::uint32_t sink, Int wanted);
  [[nodiscard]] Int augment(std::uint32_t source, Int amount);
  [[nodiscard]] bool advance(std::uint32_t node);

  const FlowGraph<Int>& graph_;
  Int factor_ = 1;
  std::vector<std::uint8_t> source_;
  std::vector<Int> supply_;
  // Of the present run. Arcs carry flow towards the sink; twins carry its negative.
  std::vector<Int> flow_;
  std::vector<Int> sent_;
  /// Every arc that carried flow, and every node that sent some; perhaps more than once.
  std::vector<std::uint32_t> used_arcs_;
  std::vector<std::uint32_t> used_nodes_;
  // Of the present phase.
  std::vector<std::uint32_t> label_;
  /// What the way by which a node was found can carry to the sink.
  std::vector<Int> width_;
  std::vector<std::uint32_t> next_arc_;
  /// Where labelling left off: a switch with 100,000 ports is not walked through for each of them.
  std::vector<std::uint32_t> end_arc_;
  std::vector<std::uint32_t> queue_;
  /// Arcs of the present path, from the sink outwards; they point away from the sink.
  std::vector<std::uint32_t> path_;
};

extern template class SinkFlow<std::int64_t>;
extern template class SinkFlow<Int128>;

}  // namespace tacos
