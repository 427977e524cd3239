// SPDX-License-Identifier: MIT
// Schedules kept as arrival logs: the same transfers, blocks and hash as if they were in blocks.
#include <filesystem>
#include <fstream>
#include <tuple>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tacos/bundle.h"

#include "base/numbers/rng.h"
#include "schedule/builder.h"
#include "schedule/logs/log_source.h"
#include "schedule/source.h"
#include "support/problems.h"

namespace tacos {
namespace {

using testing::network;
using testing::problem;
using testing::synthesize_verified;

struct Listed {
  std::int64_t start = 0;
  Op op = Op::kCopy;
  std::uint32_t link = 0;
  std::uint32_t chunk = 0;

  friend auto operator<=>(const Listed&, const Listed&) = default;
};

std::vector<Listed> list(const Schedule& schedule) {
  std::vector<Listed> listed;
  TransferBatch batch;
  const auto cursor = schedule.cursor();
  while (cursor->next(batch) && !batch.empty()) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      listed.push_back({batch.starts()[i].ps,
                        batch.ops()[i],
                        batch.links()[i].value(),
                        batch.chunks()[i].value()});
    }
  }
  return listed;
}

/// The same transfers in blocks.
Schedule in_blocks(const Topology& topology, const Schedule& schedule) {
  ScheduleBuilder builder(topology.num_links());
  for (const Listed& t : list(schedule)) {
    builder.append(
        Ticks{t.start}, t.op, LinkId(t.link), ChunkId(t.chunk), schedule.collective_time());
  }
  return std::move(builder).build();
}

std::string bytes_of(const Topology& topology, const Synthesis& made, const Schedule& schedule) {
  const std::string path =
      std::filesystem::temp_directory_path() / fmt::format("tacos-log-{}.tacos", ::getpid());
  const Bundle bundle{.topology = topology,
                      .collective = *made.collective,
                      .link_model = LinkModel::kHold,
                      .schedule = schedule,
                      .engine = made.engine,
                      .seed = 1};
  EXPECT_TRUE(write_bundle(bundle, path, {.threads = 2}));
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::filesystem::remove(path);
  return bytes;
}

using testing::kGiB;

// Just above the number of deliveries from which logs are used.
TEST(LogSchedule, EqualsItsBlocksOnAnyThreadCount) {
  for (const char* spec : {"mesh:23x24", "torus:8x8x9", "ring:520"}) {
    const Topology topology = network(spec);
    for (const CollectiveKind kind :
         {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce}) {
      const Problem task =
          problem(topology, kind, kGiB + 7, kind == CollectiveKind::kAllReduce ? 500 : 1);
      std::optional<Schedule::Totals> totals;
      for (const int threads : {1, 2, 3}) {
        const Synthesis made =
            synthesize_verified(topology, task, {.engine = "matching", .threads = threads});
        const Schedule blocks = in_blocks(topology, *made.schedule);
        EXPECT_EQ(made.schedule->totals(), blocks.totals()) << spec;
        EXPECT_EQ(source_of(*made.schedule).encoded_bytes(), source_of(blocks).encoded_bytes())
            << spec;
        EXPECT_EQ(totals.value_or(blocks.totals()), blocks.totals()) << spec;
        totals = blocks.totals();
        if (threads == 2) {
          EXPECT_EQ(bytes_of(topology, made, *made.schedule), bytes_of(topology, made, blocks));
        }
      }
    }
  }
}

TEST(LogSchedule, TakesFewBytes) {
  const Topology topology = network("mesh:32x32");
  const Synthesis made =
      synthesize_verified(topology, problem(topology, CollectiveKind::kAllGather, kGiB, 1));
  EXPECT_LE(made.schedule->memory_bytes(), 3 * made.schedule->num_transfers());
}

TEST(LogSchedule, IsTheSameOnDisk) {
  const Topology topology = network("torus:23x24");
  for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}) {
    const Problem asked = problem(topology, kind, kGiB, 1);
    const Synthesis memory = synthesize_verified(topology, asked, {.engine = "matching"});
    const Synthesis disk = synthesize_verified(
        topology, asked, {.engine = "matching", .stream_directory = ::testing::TempDir()});
    EXPECT_EQ(memory.schedule->totals(), disk.schedule->totals());
    EXPECT_LT(disk.schedule->memory_bytes(), memory.schedule->memory_bytes() / 4);
  }
}

TEST(LogSchedule, RefusesWhatDoesNotFitIntoMemory) {
  const Topology topology = network("mesh:23x24");
  for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kAllReduce}) {
    const Result<Synthesis> made = synthesize(
        topology, problem(topology, kind, kGiB), {.engine = "matching", .memory_bytes = 1U << 20U});
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().to_string(),
                ::testing::MatchesRegex("mesh:23x24: needs .* MiB, 1\\.0 MiB free; use .*"));
    EXPECT_EQ(made.error().code, ErrorCode::kInput);
  }
}

/// Two NPUs, a link each way and a second from 0 to 1, in windows of every kind.
SharedLog small_log() {
  WindowLog log({.first = {0, 1, 3}, .links = {LinkId(1), LinkId(0), LinkId(2)}, .num_ids = 3}, 5);
  log.begun_with()[0] = 2;
  log.begun_with()[1] = 3;
  const std::vector<std::uint16_t> entries[] = {{0, 1, 2, 3, 4}, {2, 3, 4, 0, 1}};
  for (std::uint32_t npu = 0; npu < 2; ++npu) {
    std::copy(entries[npu].begin(), entries[npu].end(), log.entries<std::uint16_t>(npu));
  }
  const std::vector<std::uint32_t> first{2, 1, 0};
  const std::vector<std::uint32_t> second{1, 0, 1};
  log.add_window(0, first, {}, {.last = 2, .deliveries = 3});
  log.add_window(4, second, {}, {.last = 5, .deliveries = 2});
  return std::make_shared<WindowLog>(std::move(log));
}

TEST(LogSchedule, TellsStepsAndLinksApart) {
  ThreadPool pool(1);
  const LogPart part{.log = small_log(), .begin = Ticks{100}, .unit = Ticks{10}};
  EXPECT_THAT(list(log_schedule({part}, {}, pool)),
              ::testing::ElementsAre(Listed{100, Op::kCopy, 0, 0},
                                     Listed{100, Op::kCopy, 1, 2},
                                     Listed{110, Op::kCopy, 1, 3},
                                     Listed{140, Op::kCopy, 1, 4},
                                     Listed{140, Op::kCopy, 2, 1}));
  EXPECT_EQ(part.end(), Ticks{150});
}

TEST(WindowLog, ReadsBackTheNumbersOfEveryWindow) {
  constexpr std::uint32_t kLinks = 101;
  InLinks in_links{.first = {0, kLinks}, .links = {}, .num_ids = kLinks};
  for (std::uint32_t link = 0; link < kLinks; ++link) {
    in_links.links.emplace_back(link);
  }
  WindowLog log(std::move(in_links), 1);
  Rng rng(1);
  std::vector<std::vector<std::uint32_t>> given;
  for (const std::uint32_t most : {1U, 2U, 3U, 9U, 15U, 16U, 255U, 256U, 65'536U, ~0U}) {
    for (const std::uint32_t one_in : {1U, 2U, 50U, 200U}) {
      std::vector<std::uint32_t> counts(kLinks);
      for (std::uint32_t& count : counts) {
        count = rng.below(one_in) == 0 ? most - rng.below(most) : 0;
      }
      log.add_window(0, counts, {}, {});
      given.push_back(counts);
    }
  }
  std::vector<std::uint32_t> counts(kLinks);
  for (std::size_t window = 0; window < given.size(); ++window) {
    log.windows()[window].counts.read(counts);
    EXPECT_EQ(counts, given[window]);
    for (const std::uint32_t first : {1U, 15U, 31U, 32U, 100U}) {
      std::vector<std::uint32_t> some(rng.below(kLinks - first + 1));
      log.windows()[window].counts.read(first, some);
      EXPECT_TRUE(std::equal(some.begin(), some.end(), given[window].begin() + first));
    }
  }
}

TEST(LogSchedule, RunsBackwards) {
  ThreadPool pool(2);
  const LogPart part{.log = small_log(),
                     .order = LogOrder::kBackwards,
                     .op = Op::kReduce,
                     .begin = {},
                     .unit = Ticks{10}};
  EXPECT_THAT(list(log_schedule({part}, {}, pool)),
              ::testing::ElementsAre(Listed{0, Op::kReduce, 1, 4},
                                     Listed{0, Op::kReduce, 2, 1},
                                     Listed{30, Op::kReduce, 1, 3},
                                     Listed{40, Op::kReduce, 0, 0},
                                     Listed{40, Op::kReduce, 1, 2}));
}

}  // namespace
}  // namespace tacos
