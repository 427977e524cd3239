// SPDX-License-Identifier: MIT
// The proof of a periodic schedule against the replay of what it stands for.
#include "verify/periodic_proof.h"

#include <gtest/gtest.h>

#include "tacos/verify.h"

#include "base/numbers/rng.h"
#include "support/patterns.h"
#include "support/reference_timetable.h"

namespace tacos::testing {
namespace {

VerifyReport judge(const PeriodicCase& made, const Schedule& schedule) {
  return *verify(made.topology, made.collective, schedule, {.link_model = made.model});
}
VerifyReport proof(const PeriodicCase& made) {
  return judge(made, made.schedule());
}
VerifyReport replay(const PeriodicCase& made) {
  return judge(made, expanded(made.schedule()));
}

TEST(PeriodicProof, AgreesWithTheReplayOfWhatItStandsFor) {
  int shared = 0;
  for (std::uint64_t number = 0; number < 600; ++number) {
    const PeriodicCase made =
        random_periodic_case(number,
                             number % 2 == 0 ? PeriodLength::kLong : PeriodLength::kShort,
                             1 + static_cast<std::int64_t>(number % 3));
    const VerifyReport proved = proof(made);
    const VerifyReport replayed = replay(made);
    EXPECT_TRUE(proved.valid()) << number << ": " << proved.violations.front();
    EXPECT_TRUE(replayed.valid()) << number << ": " << replayed.violations.front();
    EXPECT_EQ(proved.num_transfers, replayed.num_transfers);
    EXPECT_EQ(proved.collective_time, replayed.collective_time) << number;
    shared += made.schedule().num_moves() > proved.num_transfers ? 1 : 0;
  }
  EXPECT_GT(shared, 100);
}

/// Changes one thing at random.
void mutate(PeriodicCase& made, Rng& rng) {
  Timetable& timetable = made.timetable;
  TimetableEntry& entry =
      timetable.entries[rng.below(static_cast<std::uint32_t>(timetable.entries.size()))];
  switch (rng.below(9)) {
    case 0:
      entry.place.ps = std::max<std::int64_t>(0, entry.place.ps - 1 - rng.below(100'000));
      break;
    case 1:
      entry.place.ps =
          std::min<std::int64_t>(timetable.period.ps - 1, entry.place.ps + 1 + rng.below(100'000));
      break;
    case 2:
      ++entry.lap;
      break;
    case 3:
      entry.lap -= entry.lap > 0 ? 1 : 0;
      break;
    case 4:
      if (entry.num_further == 0) {
        entry.link = rng.below(made.topology.num_links());
      }
      break;
    case 5:
      entry.chunk = rng.below(timetable.stride);
      break;
    case 6:
      entry.op = entry.op == Op::kCopy ? Op::kReduce : Op::kCopy;
      break;
    case 7:
      // Whatever of the rounds that come later falls into this one then.
      timetable.period.ps = std::max<std::int64_t>(timetable.entries.back().place.ps + 1,
                                                   timetable.period.ps / (2 + rng.below(40)));
      break;
    default:
      if (timetable.entries.back().num_further == 0 && entry.num_further == 0) {
        entry = timetable.entries.back();
        timetable.entries.pop_back();
      }
  }
  sort_entries(timetable);
}

TEST(PeriodicProof, AcceptsNothingThatTheReplayRefuses) {
  int wrong = 0;
  int stricter = 0;
  for (std::uint64_t number = 0; number < 3000; ++number) {
    Rng rng(number);
    PeriodicCase made = random_periodic_case(
        number % 60, PeriodLength::kLong, 1 + static_cast<std::int64_t>(number % 180 / 60));
    if (made.timetable.entries.empty()) {
      continue;
    }
    mutate(made, rng);
    const bool right = replay(made).valid();
    const VerifyReport report = proof(made);
    if (right && !report.valid()) {
      // Only where entries overlap modulo the period, or where some share transfers, which take
      // longer in some rounds than in others, and that does not matter.
      ++stricter;
      const std::string& sentence = report.violations.front();
      EXPECT_TRUE(sentence.find("modulo the period") != std::string::npos ||
                  sentence.find("in order of its place") != std::string::npos ||
                  sentence.find("cannot share") != std::string::npos ||
                  sentence.find("accordingly") != std::string::npos)
          << number << ": " << sentence;
    } else {
      EXPECT_EQ(report.valid(), right) << number;
    }
    wrong += right ? 0 : 1;
  }
  EXPECT_GT(wrong, 1400);
  EXPECT_LT(stricter, 100);
}

/// NPU 0 > NPU 1 > NPU 2 in a line, each link busy for twice 1100 ps of a period of 2200: three
/// rounds of a Broadcast of two chunks.
PeriodicCase line() {
  TopologyBuilder builder("line", 3);
  for (std::uint32_t npu = 0; npu < 2; ++npu) {
    builder.add_link({NodeId(npu), NodeId(npu + 1), {1'000'000'000'000}, {100}});
  }
  return {.topology = std::move(builder).build().value(),
          .collective =
              Collective::over_all(CollectiveKind::kBroadcast, {6000}, 6, 3, NodeId(0)).value(),
          .model = LinkModel::kHold,
          .timetable = {.period = {2200},
                        .rounds = 3,
                        .stride = 2,
                        .entries = {{.place = {0}, .chunk = 0, .link = 0},
                                    {.place = {0}, .lap = 1, .chunk = 1, .link = 1},
                                    {.place = {1100}, .chunk = 1, .link = 0},
                                    {.place = {1100}, .chunk = 0, .link = 1}}}};
}

/// What the proof says of the line after a change.
template <class Change>
std::string first_violation(const Change& change) {
  PeriodicCase made = line();
  const Schedule::Totals totals = made.schedule().totals();
  change(made.timetable);
  const VerifyReport report =
      judge(made, make_schedule(make_periodic_source(made.timetable), totals));
  return report.valid() ? "" : report.violations.front();
}

TEST(PeriodicProof, SaysWhatIsWrong) {
  using ::testing::HasSubstr;
  EXPECT_EQ(first_violation([](Timetable&) {}), "");
  EXPECT_THAT(first_violation([](Timetable& t) { t.rounds = 2; }),
              HasSubstr("2 rounds of 2 chunks at a time do not make 6 chunks"));
  EXPECT_THAT(first_violation([](Timetable& t) { t.rounds = 0; }), HasSubstr("0 rounds of 2"));
  EXPECT_THAT(first_violation([](Timetable& t) { t.period = {0}; }),
              HasSubstr("a period of 0 ps is none"));
  EXPECT_THAT(first_violation([](Timetable& t) { t.period = {2199}; }),
              HasSubstr("entry 2 of the timetable (place 1100 ps, lap 0, link 0, chunk 1): link 0: "
                        "NPU 0 > NPU 1 is busy for 1100 ps, and entry 0 takes it 1099 ps later, "
                        "modulo the period of 2199 ps"));
}

TEST(PeriodicProof, RefusesEachKindOfDamage) {
  using ::testing::HasSubstr;
  const auto says = [](const std::string& words, auto change) {
    EXPECT_THAT(first_violation(change), HasSubstr(words));
  };
  says("modulo the period", [](Timetable& t) { t.period = {2100}; });
  says("modulo the period", [](Timetable& t) { t.entries[2].place = {1099}; });
  says("modulo the period", [](Timetable& t) { t.entries[3].place = {1101}; });
  says("in order of its place", [](Timetable& t) { std::swap(t.entries[0], t.entries[1]); });
  says("modulo the period", [](Timetable& t) { t.entries[1].link = 0; });
  says("in order of its place", [](Timetable& t) { t.entries[3].place = {2200}; });
  says("in order of its place", [](Timetable& t) { t.entries[0].place = {-1}; });
  says("not in the first round", [](Timetable& t) { t.entries[0].chunk = 2; });
  says("not in the first round", [](Timetable& t) { t.entries[0].chunk = 6; });
  says("not in the first round", [](Timetable& t) { t.entries[3].link = 2; });
  says("name no links", [](Timetable& t) { t.further_links = {0}; });
  says("does not hold chunk 0", [](Timetable& t) { t.entries[0].lap = 1; });
  says("does not hold chunk 1", [](Timetable& t) { t.entries[2].chunk = 0; });
  says("it does not add", [](Timetable& t) { t.entries[0].op = Op::kReduce; });
  says("NPU 2 never gets chunk 0", [](Timetable& t) { t.entries.pop_back(); });
  says("takes 7700 ps, but it takes 9900 ps", [](Timetable& t) { t.entries[1].lap = 2; });
  says("the latest there is", [](Timetable& t) { t.period = {kMaxTime.ps / 2}; });
}

/// A line of 0 > 1 > 2, on which the first link carries both chunks at once, of two rounds: the
/// second chunk waits for a period.
PeriodicCase shared_line() {
  PeriodicCase made = line();
  made.timetable.entries = {{.place = {0}, .chunk = 0, .link = 0},
                            {.place = {0}, .lap = 1, .chunk = 1, .link = 0},
                            {.place = {0}, .lap = 2, .chunk = 0, .link = 1},
                            {.place = {1100}, .lap = 2, .chunk = 1, .link = 1}};
  return made;
}

TEST(PeriodicProof, KnowsThatSharedTransfersTakeLonger) {
  using ::testing::HasSubstr;
  const PeriodicCase made = shared_line();
  EXPECT_TRUE(proof(made).valid()) << proof(made).violations.front();
  EXPECT_TRUE(replay(made).valid());
  EXPECT_EQ(proof(made).num_transfers, replay(made).num_transfers);
  EXPECT_EQ(proof(made).collective_time, replay(made).collective_time);
  // Alone a chunk takes 1100 ps, as in the first round, and together with another 2100.
  PeriodicCase early = shared_line();
  early.timetable.entries[2] = {.place = {0}, .lap = 2, .chunk = 1, .link = 1};
  early.timetable.entries[3] = {.place = {1100}, .lap = 0, .chunk = 0, .link = 1};
  EXPECT_FALSE(replay(early).valid());
  EXPECT_THAT(proof(early).violations.front(), HasSubstr("accordingly"));
  // Both together need 2100 ps of the period.
  PeriodicCase narrow = shared_line();
  narrow.timetable.period = {2050};
  EXPECT_THAT(proof(narrow).violations.front(), HasSubstr("is busy for 2100 ps"));
}

TEST(PeriodicProof, RefusesTotalsThatAreNotSo) {
  const PeriodicCase made = line();
  for (const int member : {0, 1, 2}) {
    Schedule::Totals totals = made.schedule().totals();
    totals.transfers += member == 0 ? 1 : 0;
    totals.moves += member == 1 ? 1 : 0;
    totals.collective_time.ps += member == 2 ? 1 : 0;
    EXPECT_FALSE(judge(made, make_schedule(make_periodic_source(made.timetable), totals)).valid());
  }
}

TEST(PeriodicProof, LetsWhatIsNotAlikeBeReplayed) {
  // Chunk 0 is sent to NPU 1 and chunk 1 to NPU 2: rounds that differ, but right.
  PeriodicCase made = line();
  const std::string text = R"({"name": "odd", "chunks": [
      {"bytes": 1000, "sources": [0], "destinations": [1]},
      {"bytes": 1000, "sources": [0], "destinations": [1, 2]}]})";
  made.collective = parse_collective_json(text, "odd.json", 3).value();
  made.timetable.rounds = 1;
  EXPECT_EQ(first_round(made.collective, made.timetable, {1000}), std::nullopt);
  EXPECT_TRUE(proof(made).valid());
  made.timetable.entries.erase(made.timetable.entries.begin() + 1);
  EXPECT_FALSE(proof(made).valid());
}

TEST(PeriodicProof, RefusesTheScheduleOfAnotherCollective) {
  PeriodicCase made = line();
  made.collective =
      Collective::over_all(CollectiveKind::kBroadcast, {6000}, 6, 3, NodeId(1)).value();
  EXPECT_FALSE(proof(made).valid());
  made.collective = Collective::over_all(CollectiveKind::kAllGather, {6000}, 2, 3).value();
  EXPECT_FALSE(proof(made).valid());
}

}  // namespace
}  // namespace tacos::testing
