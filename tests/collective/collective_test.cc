// SPDX-License-Identifier: MIT
#include "tacos/collective.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacos {
namespace {

using ::testing::HasSubstr;

Collective make(CollectiveKind kind, std::int64_t size, std::int64_t chunks, std::uint32_t npus) {
  return Collective::over_all(kind, Bytes{size}, chunks, npus).value();
}

/// "start>end" of a chunk as bit strings, participant 0 first.
std::string holders(const Collective& collective, std::uint32_t chunk) {
  std::string before;
  std::string after;
  for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
    before += collective.starts_with(ChunkId(chunk), p) ? '1' : '0';
    after += collective.ends_with(ChunkId(chunk), p) ? '1' : '0';
  }
  return before + ">" + after;
}

struct Case {
  CollectiveKind kind;
  std::uint32_t num_chunks;
  /// Of chunks 0, 3 and the last, for three participants, two chunks each, root 1 where there is
  /// one.
  const char* first;
  const char* fourth;
  const char* last;
  bool reduces;
  double bus_factor;
};

class Collectives : public ::testing::TestWithParam<Case> {};

TEST_P(Collectives, SayWhoHasWhat) {
  const Case& expected = GetParam();
  const std::optional<NodeId> root =
      is_rooted(expected.kind) ? std::optional(NodeId(1)) : std::nullopt;
  const std::int64_t chunks = expected.num_chunks == 6 || expected.num_chunks == 18 ? 2 : 4;
  const Collective collective =
      Collective::over_all(expected.kind, Bytes{900}, chunks, 3, root).value();
  EXPECT_EQ(collective.num_chunks(), expected.num_chunks);
  EXPECT_EQ(collective.chunk_argument(), chunks);
  const std::vector<std::string> who{
      holders(collective, 0), holders(collective, 3), holders(collective, expected.num_chunks - 1)};
  EXPECT_THAT(who, ::testing::ElementsAre(expected.first, expected.fourth, expected.last));
  EXPECT_EQ(collective.reduces(), expected.reduces);
  EXPECT_DOUBLE_EQ(collective.bus_factor(), expected.bus_factor);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Collectives,
    ::testing::Values(
        Case{CollectiveKind::kAllGather, 6, "100>111", "010>111", "001>111", false, 2.0 / 3},
        Case{CollectiveKind::kReduceScatter, 6, "111>100", "111>010", "111>001", true, 2.0 / 3},
        Case{CollectiveKind::kAllReduce, 4, "111>111", "111>111", "111>111", true, 4.0 / 3},
        Case{CollectiveKind::kBroadcast, 4, "010>111", "010>111", "010>111", false, 1},
        Case{CollectiveKind::kReduce, 4, "111>010", "111>010", "111>010", true, 1},
        Case{CollectiveKind::kGather, 6, "100>010", "010>010", "001>010", false, 2.0 / 3},
        Case{CollectiveKind::kScatter, 6, "010>100", "010>010", "010>001", false, 2.0 / 3},
        Case{CollectiveKind::kAllToAll, 18, "100>100", "100>010", "001>001", false, 2.0 / 3}));

TEST(AllToAll, CutsTheBuffersOfAll) {
  const Collective collective = make(CollectiveKind::kAllToAll, 1000, 3, 7);
  EXPECT_EQ(collective.num_chunks(), 7U * 7 * 3);
  EXPECT_EQ(collective.size().count, 1000);
  EXPECT_EQ(collective.chunks().size().count, 7000);
  // Chunk (src*N + dst)*k lies where the buffer of src begins, for dst 0.
  EXPECT_EQ(collective.chunks().offset(ChunkId(5 * 7 * 3)).count, 5000);
  EXPECT_TRUE(collective.ends_with(ChunkId((5 * 7 + 2) * 3 + 1), 2));
}

TEST(Collective, NumbersParticipantsNotNpus) {
  const Collective collective =
      Collective::make(
          CollectiveKind::kBroadcast, Bytes{100}, 1, {NodeId(2), NodeId(5), NodeId(9)}, NodeId(5))
          .value();
  EXPECT_EQ(collective.root(), NodeId(5));
  EXPECT_EQ(holders(collective, 0), "010>111");
}

TEST(Collective, HasItsFirstParticipantAsRootUnlessTold) {
  const std::vector<NodeId> participants{NodeId(3), NodeId(4)};
  const Collective collective =
      Collective::make(CollectiveKind::kReduce, Bytes{8}, 1, participants).value();
  EXPECT_EQ(collective.root(), NodeId(3));
}

TEST(Collective, IsReadFromItsName) {
  EXPECT_EQ(*parse_collective_name("broadcast:12"),
            (CollectiveName{CollectiveKind::kBroadcast, NodeId(12)}));
  EXPECT_EQ(*parse_collective_name("scatter"),
            (CollectiveName{CollectiveKind::kScatter, std::nullopt}));
  for (const CollectiveKind kind : collective_kinds()) {
    EXPECT_EQ(parse_collective_name(to_string(kind))->kind, kind);
  }
}

TEST(Collective, RefusesNamesThatMakeNoSense) {
  struct Wrong {
    const char* name;
    const char* message;
  };
  for (const auto& [name, message] : {Wrong{"all-gather:0", "has no root"},
                                      Wrong{"broadcast:", "not the number of an NPU"},
                                      Wrong{"broadcast:x", "not the number of an NPU"},
                                      Wrong{"broadcast:-1", "not the number of an NPU"},
                                      Wrong{"broadcast:4294967295", "not the number of an NPU"},
                                      Wrong{"broadcast:99999999999", "not the number of an NPU"},
                                      Wrong{"brodcast:1", "did you mean 'broadcast'"},
                                      Wrong{"alltoall", "did you mean 'all-to-all'"}}) {
    const Result<CollectiveName> parsed = parse_collective_name(name);
    ASSERT_FALSE(parsed) << name;
    EXPECT_THAT(parsed.error().message, HasSubstr(message)) << name;
  }
}

TEST(Collective, RefusesWhatCannotBeCut) {
  struct Cut {
    CollectiveKind kind;
    std::int64_t size;
    std::int64_t chunks;
    std::uint32_t npus;
    bool works;
  };
  for (const Cut& cut : {Cut{CollectiveKind::kAllToAll, 1LL << 60U, 1, 4, false},
                         Cut{CollectiveKind::kAllToAll, 1LL << 40U, 1, 50'000, false},
                         Cut{CollectiveKind::kAllToAll, 6, 1, 7, false},
                         Cut{CollectiveKind::kAllToAll, 7, 1, 7, true},
                         Cut{CollectiveKind::kGather, 13, 2, 7, false},
                         Cut{CollectiveKind::kBroadcast, 13, 13, 7, true},
                         Cut{CollectiveKind::kBroadcast, 13, 14, 7, false}}) {
    EXPECT_EQ(Collective::over_all(cut.kind, Bytes{cut.size}, cut.chunks, cut.npus).has_value(),
              cut.works);
  }
}

TEST(Collective, RefusesRootsThatTakeNoPart) {
  EXPECT_FALSE(Collective::over_all(CollectiveKind::kReduce, Bytes{8}, 1, 4, NodeId(4)));
  EXPECT_FALSE(Collective::over_all(CollectiveKind::kAllGather, Bytes{8}, 1, 4, NodeId(1)));
}

TEST(GatheredForm, CutsEachContributionAsTheBuffer) {
  for (const std::int64_t size : {7, 900, 1'000'003}) {
    const Collective direct = make(CollectiveKind::kAllReduce, size, 4, 3);
    const Collective gathered = Collective::make(CollectiveKind::kAllReduce,
                                                 Bytes{size},
                                                 4,
                                                 {NodeId(0), NodeId(1), NodeId(2)},
                                                 std::nullopt,
                                                 CollectiveForm::kGathered)
                                    .value();
    EXPECT_EQ(gathered.size(), Bytes{size});
    ASSERT_EQ(gathered.num_chunks(), 12U);
    EXPECT_EQ(gathered.chunk_argument(), 4);
    EXPECT_EQ(gathered.kind(), CollectiveKind::kAllReduce);
    EXPECT_EQ(gathered.chunk_kind(), CollectiveKind::kAllGather);
    EXPECT_FALSE(gathered.reduces());
    EXPECT_EQ(holders(gathered, 5), "010>111");
    for (std::uint32_t p = 0; p < 3; ++p) {
      for (std::uint32_t c = 0; c < 4; ++c) {
        EXPECT_EQ(gathered.chunks().bytes(ChunkId(p * 4 + c)), direct.chunks().bytes(ChunkId(c)));
      }
    }
    EXPECT_EQ(gathered.direct(), direct);
    EXPECT_FALSE(gathered == direct);
  }
}

TEST(GatheredForm, OfAReduceEndsAtTheRoot) {
  const Collective gathered = Collective::make(CollectiveKind::kReduce,
                                               Bytes{100},
                                               1,
                                               {NodeId(0), NodeId(1), NodeId(2)},
                                               NodeId(1),
                                               CollectiveForm::kGathered)
                                  .value();
  EXPECT_EQ(gathered.chunk_kind(), CollectiveKind::kGather);
  EXPECT_EQ(holders(gathered, 2), "001>010");
}

TEST(GatheredForm, IsRefusedWhereNothingIsAddedOrTooMuch) {
  const auto gathered = [](CollectiveKind kind, std::int64_t size) {
    return Collective::make(
        kind, Bytes{size}, 1, {NodeId(0), NodeId(1)}, std::nullopt, CollectiveForm::kGathered);
  };
  EXPECT_THAT(gathered(CollectiveKind::kAllToAll, 100).error().message,
              HasSubstr("all-to-all has no gathered form"));
  EXPECT_THAT(gathered(CollectiveKind::kAllReduce, kMaxSizeBytes).error().message,
              HasSubstr("for each of 2 NPUs is out of range"));
  EXPECT_FALSE(parse_collective_form("gatherd"));
  EXPECT_EQ(parse_collective_form("gathered").value(), CollectiveForm::kGathered);
}

}  // namespace
}  // namespace tacos
