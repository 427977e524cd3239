// SPDX-License-Identifier: MIT
#include "schedule/logs/start_order.h"

#include <algorithm>
#include <bit>

#include "base/numbers/rng.h"

namespace tacos {

void StartOrder::assign(std::span<const Series> series) {
  find_groups(series);
  sort_rows(series);
  place(series);
}

void StartOrder::find_groups(std::span<const Series> series) {
  groups_.clear();
  group_.resize(series.size());
  table_.assign(std::bit_ceil(2 * series.size() + 1), kNone);
  for (std::size_t i = 0; i < series.size(); ++i) {
    group_[i] = group_of(series[i]);
    std::uint32_t& length = groups_[group_[i]].length;
    length = std::max(length, series[i].count);
  }
}

std::uint32_t StartOrder::group_of(const Series& one) {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = mix64(one.first, one.period) & mask;; at = (at + 1) & mask) {
    if (table_[at] == kNone) {
      table_[at] = static_cast<std::uint32_t>(groups_.size());
      groups_.push_back({.first = one.first, .period = one.period});
    }
    const Group& group = groups_[table_[at]];
    if (group.first == one.first && group.period == one.period) {
      return table_[at];
    }
  }
}

void StartOrder::sort_rows(std::span<const Series> series) {
  rows_.clear();
  for (Group& group : groups_) {
    group.row = static_cast<std::uint32_t>(rows_.size());
    for (std::uint32_t i = 0; i < group.length; ++i) {
      rows_.push_back({.start = group.first + group.period * i, .row = group.row + i});
    }
  }
  // Those with more than n transfers have the n-th: count ends, then add up from behind.
  row_size_.assign(rows_.size(), 0);
  for (std::size_t i = 0; i < series.size(); ++i) {
    ++row_size_[groups_[group_[i]].row + series[i].count - 1];
  }
  for (const Group& group : groups_) {
    for (std::uint32_t i = group.length; i-- > 1;) {
      row_size_[group.row + i - 1] += row_size_[group.row + i];
    }
  }
  std::sort(
      rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.start < b.start; });
  runs_.clear();
  row_run_.resize(rows_.size());
  place_.clear();
  std::size_t end = 0;
  for (const Row& row : rows_) {
    if (runs_.empty() || runs_.back().start != row.start) {
      place_.push_back(end);
      runs_.push_back({.start = row.start, .end = end});
    }
    end += row_size_[row.row];
    runs_.back().end = end;
    row_run_[row.row] = static_cast<std::uint32_t>(runs_.size()) - 1;
  }
}

void StartOrder::place(std::span<const Series> series) {
  next_of_link_.resize(series.size());
  for (std::size_t i = series.size(); i-- > 0;) {
    std::uint32_t& first = first_of_link_[series[i].link.index()];
    next_of_link_[i] = first;
    first = static_cast<std::uint32_t>(i);
  }
  const std::size_t transfers = runs_.empty() ? 0 : runs_.back().end;
  links_.resize(transfers);
  chunks_.resize(transfers);
  for (std::uint32_t& first : first_of_link_) {
    for (std::uint32_t i = first; i != kNone; i = next_of_link_[i]) {
      const Series& one = series[i];
      const std::uint32_t* run = row_run_.data() + groups_[group_[i]].row;
      const ChunkId* chunk = one.chunk;
      for (std::uint32_t n = 0; n < one.count; ++n, chunk += one.next_chunk) {
        const std::size_t at = place_[run[n]]++;
        links_[at] = one.link;
        chunks_[at] = *chunk;
      }
    }
    first = kNone;
  }
}

}  // namespace tacos
