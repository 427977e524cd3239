// SPDX-License-Identifier: MIT
// Events of a simulation in which few different spans of time occur.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "synthesis/trees/network/fabric.h"

namespace tacos::trees {

/// Events in time order. Those that were pushed with the same number must have been pushed in time
/// order, as when they lie equally far ahead: each number has a list, and only lists are compared.
class EventLists {
 public:
  explicit EventLists(std::size_t num_durations) : lists_(num_durations) {}

  void push(std::uint32_t duration, std::int64_t time, std::uint32_t what) {
    const std::uint32_t node = take_node();
    nodes_[node] = {time, what, kNone};
    List& list = lists_[duration];
    if (list.head == kNone) {
      list.head = node;
      heap_.emplace_back(time, duration);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    } else {
      nodes_[list.tail].next = node;
    }
    list.tail = node;
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::int64_t next_time() const { return heap_.front().first; }
  /// Appends everything that happens at next_time().
  void take(std::vector<std::uint32_t>& happened) {
    const std::int64_t now = next_time();
    while (!heap_.empty() && heap_.front().first == now) {
      const std::uint32_t duration = heap_.front().second;
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      heap_.pop_back();
      List& list = lists_[duration];
      while (list.head != kNone && nodes_[list.head].time == now) {
        happened.push_back(nodes_[list.head].what);
        const std::uint32_t next = nodes_[list.head].next;
        nodes_[list.head].next = free_;
        free_ = list.head;
        list.head = next;
      }
      if (list.head != kNone) {
        heap_.emplace_back(nodes_[list.head].time, duration);
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      }
    }
  }

 private:
  struct Node {
    std::int64_t time = 0;
    std::uint32_t what = 0;
    std::uint32_t next = kNone;
  };
  struct List {
    std::uint32_t head = kNone;
    std::uint32_t tail = kNone;
  };

  std::uint32_t take_node() {
    if (free_ == kNone) {
      nodes_.emplace_back();
      return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    return std::exchange(free_, nodes_[free_].next);
  }

  std::vector<List> lists_;
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  std::vector<std::pair<std::int64_t, std::uint32_t>> heap_;
};

}  // namespace tacos::trees
