// SPDX-License-Identifier: MIT
#include "schedule/stretches.h"

#include <gtest/gtest.h>

#include "schedule/blocks/block.h"
#include "schedule/builder.h"
#include "schedule/packed_schedule.h"
#include "schedule/source.h"
#include "support/listed_schedule.h"

namespace tacos {
namespace {

using test::listed;
using test::ListedTransfer;

class Collected final : public StripSink {
 public:
  void add(const TransferBatch& batch) override {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      transfers.push_back(listed(batch[i]));
    }
  }
  void append_run(Ticks /*start*/,
                  Op /*op*/,
                  std::span<const LinkId> /*links*/,
                  std::span<const ChunkId> /*chunks*/) override {
    FAIL() << "blocks are read batch by batch";
  }
  std::vector<ListedTransfer> transfers;
};

/// All strips of all stretches, one after the other.
std::vector<ListedTransfer> read_all(Stretches& stretches, std::uint64_t most) {
  EXPECT_FALSE(stretches.side_by_side());
  Collected all;
  while (*stretches.next(most)) {
    EXPECT_GT(stretches.num_strips(), 0U);
    for (std::size_t strip = 0; strip < stretches.num_strips(); ++strip) {
      EXPECT_TRUE(stretches.read(strip, all));
    }
  }
  EXPECT_FALSE(*stretches.next(most));
  return all.transfers;
}

/// Three blocks, the last of which is short, with routes and transfers that are shared.
Schedule in_blocks() {
  ScheduleBuilder builder(7);
  for (std::uint32_t i = 0; i < 2 * kBlockTransfers + 5; ++i) {
    const std::vector<LinkId> links(1 + i % 1001 / 1000, LinkId(i % 7));
    const std::vector<ChunkId> chunks{ChunkId(i % 13), ChunkId(13)};
    builder.append({.start = {i / 10},
                    .op = Op::kCopy,
                    .links = links,
                    .chunks = std::span(chunks).first(1 + i % 501 / 500)},
                   Ticks{i});
  }
  return std::move(builder).build();
}

TEST(Stretches, ListWhatTheCursorLists) {
  const Schedule schedule = in_blocks();
  const std::vector<ListedTransfer> expected = listed(schedule);
  for (const std::uint64_t most : {1U, 100'000U, 1'000'000U}) {
    EXPECT_EQ(read_all(*source_of(schedule).stretches(4), most), expected);
    EXPECT_EQ(read_all(*make_stretches(schedule.cursor()), most), expected);
  }
}

TEST(Stretches, OfNothingEndAtOnce) {
  const Schedule absent = absent_schedule({});
  EXPECT_TRUE(read_all(*source_of(absent).stretches(4), 10).empty());
  const Schedule nothing = ScheduleBuilder(1).build();
  EXPECT_TRUE(read_all(*source_of(nothing).stretches(4), 10).empty());
  EXPECT_FALSE(source_of(absent).whole());
}

}  // namespace
}  // namespace tacos
