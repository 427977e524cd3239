// SPDX-License-Identifier: MIT
// A listed schedule that can be read link by link, as logs can.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "schedule/link_lists.h"
#include "support/listed_schedule.h"

namespace tacos::test {

/// Of copies, each of one chunk over one link, in start order and from time 0 on.
class ListedLinks final : public LinkLists {
 public:
  /// `end`: what is promised of steps.
  explicit ListedLinks(std::vector<ListedTransfer> transfers, std::uint64_t end = 0)
      : transfers_(std::move(transfers)), end_(end) {
    begin_ = transfers_.empty() ? 0 : transfers_.front().start;
    for (const ListedTransfer& one : transfers_) {
      unit_ = std::gcd(unit_, one.start - begin_);
      num_links_ = std::max(num_links_, one.links.front() + 1);
    }
    unit_ = std::max<std::int64_t>(1, unit_);
  }
  /// Whether they are such.
  [[nodiscard]] static bool can_list(const std::vector<ListedTransfer>& transfers) {
    return std::all_of(transfers.begin(), transfers.end(), [](const ListedTransfer& one) {
      return one.op == Op::kCopy && one.links.size() == 1 && one.chunks.size() == 1 &&
             one.start >= 0;
    });
  }

  [[nodiscard]] Clock clock() const override {
    return {.begin = {begin_}, .unit = {unit_}, .end = end_};
  }
  [[nodiscard]] Op op() const override { return Op::kCopy; }
  [[nodiscard]] std::uint32_t num_links() const override { return num_links_; }
  void read(LinkId link, LinkList& list) const override {
    list = {};
    // The shortest time between two: no less may lie between those of a run.
    std::vector<std::uint64_t> steps;
    for (const ListedTransfer& one : transfers_) {
      if (one.links.front() == link.value()) {
        steps.push_back(static_cast<std::uint64_t>((one.start - begin_) / unit_));
        list.chunks.emplace_back(one.chunks.front());
      }
    }
    std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 1; i < steps.size(); ++i) {
      shortest = std::min(shortest, steps[i] - steps[i - 1]);
    }
    list.period = steps.size() < 2 || shortest == 0 ? 1 : shortest;
    for (const std::uint64_t step : steps) {
      if (!list.runs.empty() &&
          list.runs.back().first + list.runs.back().count * list.period == step) {
        ++list.runs.back().count;
      } else {
        list.runs.push_back({.first = step, .count = 1});
      }
    }
  }

 private:
  std::vector<ListedTransfer> transfers_;
  std::int64_t begin_ = 0;
  std::int64_t unit_ = 0;
  std::uint32_t num_links_ = 0;
  std::uint64_t end_;
};

}  // namespace tacos::test
