// SPDX-License-Identifier: MIT
#include "bound/flows/max_flow.h"

#include <algorithm>
#include <limits>

#include "base/parallel/cancel.h"

namespace tacos {

std::uint32_t MaxFlow::add_arc(std::uint32_t from, std::uint32_t to, std::int64_t capacity) {
  const auto arc = static_cast<std::uint32_t>(arcs_.size());
  arcs_.push_back({to, capacity, 0});
  arcs_.push_back({from, 0, 0});
  arcs_of_[from].push_back(arc);
  arcs_of_[to].push_back(arc + 1);
  return arc;
}

std::int64_t MaxFlow::run(std::uint32_t source, std::uint32_t sink) {
  for (Arc& arc : arcs_) {
    arc.left = arc.capacity;
  }
  std::int64_t total = 0;
  while (label(source, sink)) {
    check_cancel();
    total += fill(source, sink);
  }
  return total;
}

bool MaxFlow::label(std::uint32_t source, std::uint32_t sink) {
  label_.assign(arcs_of_.size(), kUnseen);
  next_.assign(arcs_of_.size(), 0);
  queue_.assign(1, source);
  label_[source] = 0;
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    for (const std::uint32_t arc : arcs_of_[queue_[at]]) {
      const std::uint32_t head = arcs_[arc].head;
      if (arcs_[arc].left > 0 && label_[head] == kUnseen) {
        label_[head] = label_[queue_[at]] + 1;
        queue_.push_back(head);
      }
    }
  }
  return label_[sink] != kUnseen;
}

std::int64_t MaxFlow::fill(std::uint32_t source, std::uint32_t sink) {
  std::int64_t total = 0;
  path_.clear();
  for (;;) {
    const std::uint32_t node = path_.empty() ? source : arcs_[path_.back()].head;
    if (node == sink) {
      std::int64_t amount = std::numeric_limits<std::int64_t>::max();
      for (const std::uint32_t arc : path_) {
        amount = std::min(amount, arcs_[arc].left);
      }
      std::size_t keep = path_.size();
      for (std::size_t i = path_.size(); i-- > 0;) {
        arcs_[path_[i]].left -= amount;
        arcs_[path_[i] ^ 1U].left += amount;
        keep = arcs_[path_[i]].left == 0 ? i : keep;
      }
      path_.resize(keep);
      total += amount;
      continue;
    }
    const std::vector<std::uint32_t>& arcs = arcs_of_[node];
    std::uint32_t& next = next_[node];
    while (next < arcs.size() &&
           (arcs_[arcs[next]].left == 0 || label_[arcs_[arcs[next]].head] != label_[node] + 1)) {
      ++next;
    }
    if (next < arcs.size()) {
      path_.push_back(arcs[next]);
      continue;
    }
    if (path_.empty()) {
      return total;
    }
    path_.pop_back();
    ++next_[path_.empty() ? source : arcs_[path_.back()].head];
  }
}

}  // namespace tacos
