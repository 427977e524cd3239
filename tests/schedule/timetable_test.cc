// SPDX-License-Identifier: MIT
#include "schedule/periodic/timetable.h"

#include <gtest/gtest.h>

#include "base/numbers/rng.h"
#include "schedule/patterns/pattern_columns.h"
#include "support/reference_timetable.h"

namespace tacos {
namespace {

/// Two chunks at a time, three times, for two owners; the last entry goes through two switches.
Timetable small_timetable() {
  return {.period = {100},
          .rounds = 3,
          .stride = 2,
          .entries = {{.place = {0}, .lap = 0, .chunk = 0, .link = 4, .op = Op::kReduce},
                      {.place = {0}, .lap = 2, .chunk = 1, .link = 5},
                      {.place = {70}, .lap = 1, .chunk = 7, .link = 0, .num_further = 2}},
          .further_links = {3, 1}};
}
constexpr PatternLimits kTimetableLimits{.npus = 3, .links = 6, .chunks = 12};

TEST(Timetable, ExpandsPeriodByPeriod) {
  const Schedule schedule = make_periodic_schedule(small_timetable(), Ticks{500});
  EXPECT_EQ(schedule.num_transfers(), 9U);
  const std::vector<test::ListedTransfer> transfers = test::listed(schedule);
  ASSERT_EQ(transfers.size(), 9U);
  EXPECT_EQ(transfers[0],
            (test::ListedTransfer{.start = 0, .op = Op::kReduce, .links = {4}, .chunks = {0}}));
  EXPECT_EQ(
      transfers[2],
      (test::ListedTransfer{.start = 170, .op = Op::kCopy, .links = {0, 3, 1}, .chunks = {7}}));
  EXPECT_EQ(transfers[4],
            (test::ListedTransfer{.start = 200, .op = Op::kCopy, .links = {5}, .chunks = {1}}));
  EXPECT_EQ(transfers[8],
            (test::ListedTransfer{.start = 400, .op = Op::kCopy, .links = {5}, .chunks = {5}}));
}

TEST(Timetable, ExpandsIntoWhatItsRoundsAre) {
  int shared = 0;
  for (std::uint64_t number = 0; number < 200; ++number) {
    Rng rng(number);
    Timetable timetable{
        .period = {1 + rng.below(1000)}, .rounds = 1 + rng.below(6), .stride = 1 + rng.below(4)};
    for (std::uint32_t i = rng.below(60); i > 0; --i) {
      const auto further = static_cast<std::uint8_t>(rng.below(8) == 0 ? rng.below(4) : 0);
      // Some share a transfer: few places, few links, and each of these with one op.
      const std::uint32_t link = further > 0 ? 100 + i : rng.below(12);
      timetable.entries.push_back(
          {.place = {rng.below(std::min(10U, static_cast<std::uint32_t>(timetable.period.ps)))},
           .lap = rng.below(10) == 0 ? rng.below(1U << 20U) : rng.below(9),
           .chunk = rng.below(timetable.stride),
           .link = link,
           .op = link % 2 == 0 ? Op::kCopy : Op::kReduce,
           .num_further = further});
      timetable.further_links.insert(timetable.further_links.end(), further, rng.below(7));
    }
    testing::sort_entries(timetable);
    const auto again = std::unique(
        timetable.entries.begin(), timetable.entries.end(), [](const auto& a, const auto& b) {
          return shares(a, b) && a.chunk == b.chunk;
        });
    timetable.entries.erase(again, timetable.entries.end());
    const auto expected = testing::expand(timetable);
    const Schedule schedule = make_periodic_schedule(timetable, {});
    EXPECT_TRUE(test::listed(schedule) == expected) << number;
    EXPECT_EQ(schedule.num_transfers(), expected.size()) << number;
    EXPECT_EQ(schedule.num_moves(), timetable.entries.size() * timetable.rounds) << number;
    shared += schedule.num_moves() > schedule.num_transfers() ? 1 : 0;
    // And the first round alone.
    std::vector<test::ListedTransfer> first;
    TransferBatch batch;
    for (const auto cursor = first_round_cursor(timetable);
         cursor->next(batch) && !batch.empty();) {
      for (std::size_t i = 0; i < batch.size(); ++i) {
        first.push_back(test::listed(batch[i]));
      }
    }
    timetable.rounds = 1;
    EXPECT_TRUE(first == testing::expand(timetable)) << number;
  }
  EXPECT_GT(shared, 50);
}

/// Two of three entries in one place, two laps apart: twice three rounds in five periods.
Timetable shared_timetable() {
  return {.period = {100},
          .rounds = 3,
          .stride = 2,
          .entries = {{.place = {0}, .lap = 0, .chunk = 0, .link = 4},
                      {.place = {0}, .lap = 2, .chunk = 1, .link = 4},
                      {.place = {70}, .lap = 1, .chunk = 7, .link = 0}}};
}

TEST(Timetable, LetsEntriesShareATransfer) {
  const Schedule schedule = make_periodic_schedule(shared_timetable(), Ticks{500});
  EXPECT_EQ(schedule.num_transfers(), 8U);
  EXPECT_EQ(schedule.num_moves(), 9U);
  const std::vector<test::ListedTransfer> transfers = test::listed(schedule);
  ASSERT_EQ(transfers.size(), 8U);
  EXPECT_EQ(transfers[3],
            (test::ListedTransfer{.start = 200, .op = Op::kCopy, .links = {4}, .chunks = {4, 1}}));
  EXPECT_EQ(transfers[5],
            (test::ListedTransfer{.start = 300, .op = Op::kCopy, .links = {4}, .chunks = {3}}));
}

TEST(Timetable, ComesBackAsItWas) {
  for (const Timetable& timetable : {small_timetable(), shared_timetable()}) {
    std::vector<std::byte> bytes;
    encode_timetable(timetable, bytes);
    const Result<Timetable> back = decode_timetable(bytes, kTimetableLimits);
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, timetable);
    EXPECT_EQ(timetable_hash(*back), timetable_hash(timetable));
  }
}

TEST(Timetable, IsRefusedWhenItDoesNotFit) {
  std::vector<std::byte> bytes;
  encode_timetable(small_timetable(), bytes);
  EXPECT_FALSE(decode_timetable(bytes, {.npus = 3, .links = 5, .chunks = 12}));
  EXPECT_FALSE(decode_timetable(bytes, {.npus = 3, .links = 6, .chunks = 6}));
  EXPECT_FALSE(decode_timetable(bytes, {.npus = 3, .links = 6, .chunks = 13}));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_timetable(std::span(bytes).first(size), kTimetableLimits)) << size;
  }
}

/// What is read back after a change to a timetable.
template <class Change>
bool is_refused(const Change& change, Timetable timetable = small_timetable()) {
  change(timetable);
  std::vector<std::byte> bytes;
  encode_timetable(timetable, bytes);
  return !decode_timetable(bytes, kTimetableLimits);
}

TEST(Timetable, IsRefusedWhenItMakesNoSense) {
  EXPECT_FALSE(is_refused([](Timetable&) {}));
  EXPECT_TRUE(is_refused([](Timetable& t) { t.period = {0}; }));
  EXPECT_TRUE(is_refused([](Timetable& t) { t.period = {70}; })) << "a place is beyond it";
  EXPECT_TRUE(is_refused([](Timetable& t) { t.rounds = 0; }));
  EXPECT_TRUE(is_refused([](Timetable& t) { t.rounds = 4; })) << "blocks of 8 do not make 12";
  EXPECT_TRUE(is_refused([](Timetable& t) { t.stride = 0; }));
  EXPECT_TRUE(is_refused([](Timetable& t) { t.stride = 1; })) << "chunk 1 is of another round";
  EXPECT_TRUE(is_refused([](Timetable& t) { t.entries[0].chunk = 2; }));
  EXPECT_TRUE(is_refused([](Timetable& t) { t.entries[0].chunk = 12; }));
  EXPECT_TRUE(is_refused([](Timetable& t) { t.entries[0].link = 6; }));
  EXPECT_TRUE(is_refused([](Timetable& t) { t.entries[1].link = 4; })) << "a sum and a copy";
  EXPECT_TRUE(is_refused([](Timetable& t) { t.further_links[0] = 6; }));
  EXPECT_TRUE(is_refused([](Timetable& t) { t.further_links.pop_back(); }));
  EXPECT_TRUE(is_refused([](Timetable& t) { t.entries[0].num_further = 1; }));
  EXPECT_TRUE(is_refused([](Timetable& t) { t.entries[2].op = static_cast<Op>(2); }));
  EXPECT_TRUE(is_refused([](Timetable& t) { t.period = kMaxTime; }))
      << "its last round begins after the latest time there is";
}

TEST(Timetable, IsRefusedWhereEntriesCannotShareATransfer) {
  const auto refused = [](const auto& change) { return is_refused(change, shared_timetable()); };
  EXPECT_FALSE(refused([](Timetable&) {}));
  EXPECT_TRUE(refused([](Timetable& t) { std::swap(t.entries[0], t.entries[1]); }));
  EXPECT_TRUE(refused([](Timetable& t) { t.entries[1].chunk = 0; })) << "twice the same chunk";
  EXPECT_TRUE(refused([](Timetable& t) { t.entries[0].op = Op::kReduce; }));
  EXPECT_TRUE(refused([](Timetable& t) {
    t.entries[1].num_further = 1;
    t.further_links = {3};
  })) << "over different routes";
}

TEST(Timetable, HasNoMoreEntriesThanBytesOrLinks) {
  // One run that says it has 2^32 - 1 entries, of which none takes a byte.
  std::vector<std::byte> bytes;
  for (const Numbers& column : {Numbers{100, 1, 1}, Numbers{0}, Numbers{0xffffffffU}}) {
    encode_column(bytes, column);
  }
  for (int i = 0; i < 6; ++i) {
    encode_constant(bytes, i == 2 ? 0 : 0xffffffffU, i == 0 ? 1 : 0);
  }
  EXPECT_FALSE(decode_timetable(bytes, {.npus = 2, .links = 1U << 20U, .chunks = 1}));
}

TEST(Timetable, IsNeverExpandedBeyondItsLimitsWhateverItsBytes) {
  std::vector<std::byte> bytes;
  encode_timetable(small_timetable(), bytes);
  Rng rng(1);
  int expanded = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> changed = bytes;
    for (std::uint32_t flips = 1 + rng.below(3); flips > 0; --flips) {
      changed[rng.below(static_cast<std::uint32_t>(bytes.size()))] ^=
          static_cast<std::byte>(1U << rng.below(8));
    }
    Result<Timetable> timetable = decode_timetable(changed, kTimetableLimits);
    if (!timetable) {
      continue;
    }
    ++expanded;
    const Schedule schedule = make_periodic_schedule(std::move(*timetable), Ticks{0});
    TransferBatch batch;
    ASSERT_TRUE(schedule.cursor()->next(batch));
    EXPECT_EQ(batch.size(), schedule.num_transfers());
    for (std::size_t at = 0; at < batch.size(); ++at) {
      EXPECT_LE(batch[at].start, kMaxTime);
      EXPECT_LT(batch[at].chunks.front().value(), kTimetableLimits.chunks);
      for (const LinkId link : batch[at].links) {
        EXPECT_LT(link.value(), kTimetableLimits.links);
      }
    }
  }
  EXPECT_GT(expanded, 100);
}

}  // namespace
}  // namespace tacos
