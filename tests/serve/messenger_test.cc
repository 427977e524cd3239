// SPDX-License-Identifier: MIT
// Messengers of one process, over a network that delivers when it likes.
#include "serve/messenger.h"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/numbers/rng.h"
#include "support/local_transport.h"

namespace tacos {
namespace {

using test::LocalNetwork;

/// One that needs nobody, as nothing is agreed upon.
class Member final : public Team {
 public:
  using Team::Team;
  std::vector<Packet> exchange(std::vector<Packet> packets) override { return packets; }
  int machine() const override { return 0; }
};

class Members {
 public:
  Members(int size, std::uint64_t seed, std::size_t kept) : network_(seed, kept) {
    for (int member = 0; member < size; ++member) {
      Member team(member, size);
      all_.push_back(
          *Messenger::open(team, network_.transport(static_cast<std::uint32_t>(member))));
    }
  }
  Messenger& operator[](std::uint32_t member) { return *all_[member]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(all_.size()); }

  /// Until `done`, or long after that should have been.
  template <class Done>
  bool go_on(const Done& done) {
    for (int turn = 0; turn < 100'000 && !done(); ++turn) {
      for (const auto& one : all_) {
        EXPECT_TRUE(one->progress());
      }
    }
    return done();
  }

 private:
  LocalNetwork network_;
  std::vector<std::unique_ptr<Messenger>> all_;
};

std::vector<std::byte> random_bytes(Rng& rng, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& one : bytes) {
    one = static_cast<std::byte>(rng.below(256));
  }
  return bytes;
}

struct Expected {
  std::vector<std::byte> sent;
  std::vector<std::byte> received;
  std::shared_ptr<Receipt> receipt;
};

TEST(Messenger, DeliversInTheOrderOfEachKey) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed);
    Members members(3, seed, rng.below(3));
    // By sender, receiver and key: those sent and not yet asked for, and the other way round.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::deque<std::size_t>> open;
    std::deque<Expected> messages;
    std::vector<std::shared_ptr<Receipt>> sends;
    for (int action = 0; action < 60; ++action) {
      const auto from = static_cast<std::uint32_t>(rng.below(3));
      const auto to = static_cast<std::uint32_t>((from + 1 + rng.below(2)) % 3);
      const std::uint64_t key = rng.below(3);
      std::deque<std::size_t>& waiting = open[{from, to, key}];
      if (rng.below(2) == 0 || waiting.empty()) {
        Expected& one = messages.emplace_back();
        one.sent = random_bytes(rng, rng.below(3) == 0 ? 0 : rng.below(200));
        one.received.resize(one.sent.size());
        sends.push_back(members[from].send(to, key, one.sent));
        waiting.push_back(messages.size() - 1);
      } else {
        Expected& one = messages[waiting.front()];
        waiting.pop_front();
        one.receipt = members[to].receive(from, key, one.received);
      }
      (void)members.go_on([&] { return rng.below(4) == 0; });
    }
    for (auto& [ends, waiting] : open) {
      const auto& [from, to, key] = ends;
      for (const std::size_t number : waiting) {
        messages[number].receipt = members[to].receive(from, key, messages[number].received);
      }
    }
    ASSERT_TRUE(members.go_on([&] {
      bool all = true;
      for (const Expected& one : messages) {
        all = all && one.receipt->done;
      }
      for (const auto& receipt : sends) {
        all = all && receipt->done;
      }
      return all;
    })) << seed;
    for (const Expected& one : messages) {
      EXPECT_EQ(one.sent, one.received) << seed;
      EXPECT_FALSE(one.receipt->error);
    }
  }
}

TEST(Messenger, WordsComeInOrderBesideMessages) {
  Members members(2, 7, 1);
  std::vector<std::string> heard;
  members[1].listen([&](const Messenger::Word& word) {
    heard.push_back(word.text + std::to_string(word.number));
  });
  const std::vector<std::byte> data(1000, std::byte{5});
  std::vector<std::byte> got(1000);
  for (std::uint64_t number = 0; number < 5; ++number) {
    members[0].say(1, {.from = 0, .kind = 1, .number = number, .text = number % 2 == 0 ? "" : "x"});
  }
  const auto sent = members[0].send(1, 3, data);
  const auto received = members[1].receive(0, 3, got);
  ASSERT_TRUE(members.go_on([&] { return sent->done && received->done; }));
  EXPECT_EQ(heard, (std::vector<std::string>{"0", "x1", "2", "x3", "4"}));
  EXPECT_EQ(got, data);
  EXPECT_TRUE(members[0].quiet());
}

TEST(Messenger, RefusesAnotherLengthAndGoesOn) {
  for (const bool early : {false, true}) {
    Members members(2, 3, 2);
    const std::vector<std::byte> data(10, std::byte{1});
    std::vector<std::byte> shorter(4);
    std::vector<std::byte> right(10);
    std::shared_ptr<Receipt> wrong;
    if (early) {
      wrong = members[1].receive(0, 1, shorter);
    }
    const auto first = members[0].send(1, 1, data);
    const auto second = members[0].send(1, 2, data);
    ASSERT_TRUE(members.go_on([&] { return first->done; }));
    if (!early) {
      (void)members.go_on([&] { return second->done; });
      wrong = members[1].receive(0, 1, shorter);
    }
    const auto good = members[1].receive(Messenger::kAnybody, 2, right);
    ASSERT_TRUE(members.go_on([&] { return wrong->done && good->done; }));
    ASSERT_TRUE(wrong->error);
    EXPECT_NE(wrong->error->message.find("10 bytes where 4"), std::string::npos);
    EXPECT_FALSE(good->error);
    EXPECT_EQ(good->peer, 0U);
    EXPECT_EQ(right, data);
  }
}

TEST(Messenger, SendsNothingToThoseWhoHaveLeft) {
  Members members(2, 3, 2);
  members[0].forget(1);
  const std::vector<std::byte> data(10);
  const auto receipt = members[0].send(1, 1, data);
  EXPECT_TRUE(receipt->done);
  ASSERT_TRUE(receipt->error);
  EXPECT_EQ(receipt->error->message, "rank 1 has left the group");
}

}  // namespace
}  // namespace tacos
