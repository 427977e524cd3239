// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tacos/columns.h"

#include "support/listed_schedule.h"
#include "support/random_task.h"

namespace tacos {
namespace {

using test::listed;
using test::ListedTransfer;

/// Columns as they are defined, transfer by transfer.
std::vector<ListedTransfer> listed(const ScheduleColumns& columns) {
  std::vector<ListedTransfer> all;
  const bool simple = columns.first_link.empty();
  for (std::size_t i = 0; i < columns.start.size(); ++i) {
    const auto part = [&](auto values, auto first) {
      const std::size_t from = simple ? i : first[i];
      const std::size_t to = simple ? i + 1 : first[i + 1];
      return std::vector(values.begin() + static_cast<std::ptrdiff_t>(from),
                         values.begin() + static_cast<std::ptrdiff_t>(to));
    };
    all.push_back({.start = columns.start[i],
                   .op = columns.op[i],
                   .links = part(columns.links, columns.first_link),
                   .chunks = part(columns.chunks, columns.first_chunk)});
  }
  return all;
}

RC_GTEST_PROP(TransferColumns, AreTheTransfers, ()) {
  const testing::Task task = testing::any_task();
  const Result<Synthesis> made =
      synthesize(task.topology, task.problem, {.seed = task.seed, .effort = kLeastEffort});
  RC_PRE(made.has_value() && made->schedule.has_value());
  for (const int threads : {1, 2}) {
    const Result<ScheduleColumns> columns = read_columns(*made->schedule, threads);
    RC_ASSERT(columns.has_value());
    RC_ASSERT(listed(*columns) == listed(*made->schedule));
  }
}

TEST(TransferColumns, OfBatchesThatBecomeRoutes) {
  // Simple ones, then a route with two chunks, then simple ones again; totals that are wrong.
  std::vector<ListedTransfer> transfers;
  for (std::uint32_t i = 0; i < 30; ++i) {
    transfers.push_back(
        {.start = i, .op = i % 2 == 0 ? Op::kCopy : Op::kReduce, .links = {i}, .chunks = {i}});
  }
  transfers[11].links = {1, 2, 3};
  transfers[13].chunks = {4, 5};
  const Schedule schedule =
      test::listed_schedule(transfers, {.transfers = 7, .moves = 2, .collective_time = {}});
  const Result<ScheduleColumns> columns = read_columns(schedule);
  ASSERT_TRUE(columns);
  EXPECT_EQ(listed(*columns), transfers);
}

TEST(TransferColumns, OfNothingAreEmpty) {
  const Result<ScheduleColumns> columns = read_columns(test::listed_schedule({}, {}));
  ASSERT_TRUE(columns);
  EXPECT_TRUE(columns->start.empty());
}

TEST(TransferColumns, AreRefusedWhereTheyCannotFit) {
  const Result<ScheduleColumns> columns = read_columns(test::listed_schedule(
      {}, {.transfers = std::uint64_t{1} << 60U, .moves = 0, .collective_time = {}}));
  ASSERT_FALSE(columns);
  EXPECT_EQ(columns.error().code, ErrorCode::kInput);
}

}  // namespace
}  // namespace tacos
