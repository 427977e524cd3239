// SPDX-License-Identifier: MIT
#include "base/parallel/team.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/thread_team.h"

namespace tacos {
namespace {

using ::testing::ElementsAre;

TEST(Packet, IsReadAsItWasWritten) {
  Packet packet;
  put(packet, std::uint32_t{7});
  put_text(packet, "seven");
  put_text(packet, "");
  put_error(packet, input_error("too many", "file:1"));
  PacketReader reader(packet);
  EXPECT_EQ(reader.get<std::uint32_t>(), 7U);
  EXPECT_EQ(reader.get_text(), "seven");
  EXPECT_EQ(reader.get_text(), "");
  EXPECT_EQ(get_error(reader).to_string(), "file:1: too many");
  EXPECT_TRUE(reader.empty());
  EXPECT_THROW((void)reader.get<int>(), InternalError);
}

TEST(Team, GathersInTheOrderOfMembers) {
  run_as_team(3, [](Team& team) {
    EXPECT_THAT(all_gather(team, 10 + team.member()), ElementsAre(10, 11, 12));
    EXPECT_EQ(broadcast(team, 2, team.member()), 2);
  });
}

TEST(Team, GivesUpTogetherWithTheFirstError) {
  run_as_team(3, [](Team& team) {
    EXPECT_FALSE(first_error(team, std::nullopt));
    const auto mine = team.leads()
                          ? std::nullopt
                          : std::optional(input_error("by " + std::to_string(team.member())));
    EXPECT_EQ(first_error(team, mine).value().message, "by 1");
  });
}

TEST(Team, AnswersItsLeaderUntilItIsDismissed) {
  run_as_team(4, [](Team& team) {
    if (!team.leads()) {
      serve(team, [&](std::span<const std::byte> request) {
        Packet answer;
        put(answer, PacketReader(request).get<int>() * team.member());
        return answer;
      });
      return;
    }
    for (const int question : {1, 10}) {
      Packet request;
      put(request, question);
      const std::vector<Packet> answers = ask(team, request);
      for (int member = 1; member < team.size(); ++member) {
        const Packet& answer = answers[static_cast<std::size_t>(member)];
        EXPECT_EQ(PacketReader(answer).get<int>(), question * member);
      }
    }
    dismiss(team);
  });
}

}  // namespace
}  // namespace tacos
