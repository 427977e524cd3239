// SPDX-License-Identifier: MIT
#include "bound/flows/sink_flow.h"

#include <algorithm>

#include "base/parallel/cancel.h"

namespace tacos {
namespace {

constexpr std::uint32_t kUnlabelled = std::numeric_limits<std::uint32_t>::max();

}  // namespace

template <class Int>
SinkFlow<Int>::SinkFlow(const FlowGraph<Int>& graph)
    : graph_(graph),
      source_(graph.num_nodes(), 0),
      supply_(graph.num_nodes(), 0),
      flow_(graph.num_arcs(), 0),
      sent_(graph.num_nodes(), 0),
      label_(graph.num_nodes(), kUnlabelled),
      width_(graph.num_nodes(), 0),
      next_arc_(graph.num_nodes(), 0),
      end_arc_(graph.num_nodes(), 0) {}

template <class Int>
void SinkFlow<Int>::set_supply(Int factor, std::span<const std::int64_t> weights) {
  for (std::uint32_t node = 0; node < graph_.num_nodes(); ++node) {
    supply_[node] = factor * weights[node];
  }
}

template <class Int>
void SinkFlow<Int>::reset() {
  for (const std::uint32_t arc : used_arcs_) {
    flow_[arc] = 0;
    flow_[graph_.arc(arc).twin] = 0;
  }
  for (const std::uint32_t node : used_nodes_) {
    sent_[node] = 0;
  }
  used_arcs_.clear();
  used_nodes_.clear();
}

template <class Int>
Int SinkFlow<Int>::run(std::uint32_t sink, Int target) {
  reset();
  Int total = 0;
  while (total < target && label(sink, target - total)) {
    check_cancel();
    total += fill(sink, target - total);
  }
  return total;
}

/// Labels nodes by distance to the sink until enough supply is met; false when there is none.
template <class Int>
bool SinkFlow<Int>::label(std::uint32_t sink, Int wanted) {
  for (const std::uint32_t node : queue_) {
    label_[node] = kUnlabelled;
  }
  queue_.assign(1, sink);
  label_[sink] = 0;
  width_[sink] = wanted;
  next_arc_[sink] = graph_.first(sink);
  end_arc_[sink] = graph_.first(sink);
  Int met = 0;
  // Where the nearest source is, the label graph ends: what lies beyond it would be searched in
  // vain as often as there are phases (a clique of 1,000 nodes: 20 ms a sink instead of 1).
  std::uint32_t last = kUnlabelled;
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    const std::uint32_t node = queue_[at];
    if (label_[node] == last) {
      break;
    }
    met += expand(node, last);
    if (met >= wanted) {
      return true;
    }
  }
  return met > 0;
}

/// Labels the neighbours of a node; returns the supply met, as much as can pass through the node.
template <class Int>
Int SinkFlow<Int>::expand(std::uint32_t node, std::uint32_t& last) {
  Int behind = 0;
  std::uint32_t& arc = end_arc_[node];
  for (; arc < graph_.first(node + 1) && behind < width_[node]; ++arc) {
    const std::uint32_t other = graph_.arc(arc).head;
    const Int room = residual(graph_.arc(arc).twin);
    if (room <= 0) {
      continue;
    }
    if (label_[other] == kUnlabelled) {
      label_[other] = label_[node] + 1;
      width_[other] = std::min(room, width_[node]);
      next_arc_[other] = graph_.first(other);
      end_arc_[other] = graph_.first(other);
      queue_.push_back(other);
      last = source_[other] != 0 ? label_[other] : last;
      behind += source_[other] != 0 ? room : std::min(room, supply_left(other));
    } else if (source_[other] != 0 && label_[other] == label_[node] + 1) {
      behind += room;
    }
  }
  return std::min(behind, width_[node]);
}

template <class Int>
void SinkFlow<Int>::use(std::uint32_t arc, Int amount) {
  if (flow_[arc] == 0) {
    used_arcs_.push_back(arc);
  }
  flow_[arc] += amount;
  flow_[graph_.arc(arc).twin] -= amount;
}

/// Sends `amount` or what fits along the path; cuts the path back to its first full arc.
template <class Int>
Int SinkFlow<Int>::augment(std::uint32_t source, Int amount) {
  for (const std::uint32_t arc : path_) {
    amount = std::min(amount, residual(graph_.arc(arc).twin));
  }
  if (source_[source] == 0) {
    amount = std::min(amount, supply_left(source));
    sent_[source] += amount;
    used_nodes_.push_back(source);
  }
  std::size_t keep = path_.size();
  for (std::size_t i = path_.size(); i-- > 0;) {
    const std::uint32_t twin = graph_.arc(path_[i]).twin;
    use(twin, amount);
    if (residual(twin) <= 0) {
      keep = i;
    }
  }
  path_.resize(keep);
  return amount;
}

/// Lengthens the path by an arc to the next label; false when `node` has none left.
template <class Int>
bool SinkFlow<Int>::advance(std::uint32_t node) {
  for (std::uint32_t& arc = next_arc_[node]; arc < end_arc_[node]; ++arc) {
    const std::uint32_t other = graph_.arc(arc).head;
    if (label_[other] == label_[node] + 1 && residual(graph_.arc(arc).twin) > 0) {
      path_.push_back(arc);
      return true;
    }
  }
  return false;
}

template <class Int>
Int SinkFlow<Int>::fill(std::uint32_t sink, Int wanted) {
  Int total = 0;
  path_.clear();
  while (total < wanted) {
    const std::uint32_t node = path_.empty() ? sink : graph_.arc(path_.back()).head;
    if (!path_.empty() && (source_[node] != 0 || supply_left(node) > 0)) {
      total += augment(node, wanted - total);
      continue;
    }
    if (advance(node)) {
      continue;
    }
    if (path_.empty()) {
      break;
    }
    // A dead end: its predecessor goes on with its next arc.
    path_.pop_back();
    ++next_arc_[path_.empty() ? sink : graph_.arc(path_.back()).head];
  }
  return total;
}

template class SinkFlow<std::int64_t>;
template class SinkFlow<Int128>;

}  // namespace tacos
