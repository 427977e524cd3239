// SPDX-License-Identifier: MIT
// Puts the transfers of many links into start order, each link's given in series: some
// transfers one period apart.
//
// Links that began together and are equally fast go on together, and there are far fewer such
// groups than links. So times are sorted by group, and transfers are only put where the times say:
// O(links + transfers), and sorting one time for each group and transfer of its longest link.
// Series are visited in order of link, so those that start together come in that order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tacos/ids.h"

#include "schedule/logs/window_log.h"

namespace tacos {

/// Transfers of one link, one period apart.
struct Series {
  LinkId link;
  std::uint32_t count = 0;
  LogTime first = 0;
  LogTime period = 1;
  /// What the first one carries; the others follow, or come before it.
  const ChunkId* chunk = nullptr;
  std::ptrdiff_t next_chunk = 1;
};

class StartOrder {
 public:
  explicit StartOrder(std::uint32_t num_link_ids) : first_of_link_(num_link_ids, kNone) {}

  /// The transfers of these, and no others, from now on.
  void assign(std::span<const Series> series);

  /// Transfers that start together; they begin where the run before ends.
  struct Run {
    LogTime start = 0;
    std::size_t end = 0;
  };
  [[nodiscard]] std::span<const Run> runs() const { return runs_; }
  [[nodiscard]] std::span<const LinkId> links() const { return links_; }
  [[nodiscard]] std::span<const ChunkId> chunks() const { return chunks_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// Series with the same first start and period.
  struct Group {
    LogTime first = 0;
    LogTime period = 0;
    /// How many transfers the longest has, and where those begin among all.
    std::uint32_t length = 0;
    std::uint32_t row = 0;
  };
  /// The n-th transfers of a group.
  struct Row {
    LogTime start = 0;
    std::uint32_t row = 0;
  };

  void find_groups(std::span<const Series> series);
  std::uint32_t group_of(const Series& one);
  void sort_rows(std::span<const Series> series);
  void place(std::span<const Series> series);

  std::vector<Run> runs_;
  std::vector<LinkId> links_;
  std::vector<ChunkId> chunks_;

  std::vector<Group> groups_;
  /// Groups by hash; kNone where there is none.
  std::vector<std::uint32_t> table_;
  /// Per one.
  std::vector<std::uint32_t> group_;
  /// Per row: how many links have it, then its run.
  std::vector<std::uint32_t> row_size_;
  std::vector<std::uint32_t> row_run_;
  std::vector<Row> rows_;
  /// Per run: where its next transfer goes.
  std::vector<std::size_t> place_;
  /// Per link id and per series: the first series of the link, and the next of the same link.
  std::vector<std::uint32_t> first_of_link_;
  std::vector<std::uint32_t> next_of_link_;
};

}  // namespace tacos
