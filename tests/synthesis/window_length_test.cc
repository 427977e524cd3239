// SPDX-License-Identifier: MIT
#include "synthesis/matching/direct/window_length.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/problems.h"

namespace tacos::matching {
namespace {

using testing::network;

/// An All-Gather of one chunk per NPU.
class Windows {
 public:
  explicit Windows(const std::string& spec)
      : network_(network(spec), Direction::kWithLinks, Bytes{1}, LinkModel::kHold),
        owners_(all(network_.num_npus())),
        length_(network_, {.owners = owners_}, 1) {}

  WindowLength& length() { return length_; }
  /// When all is done at best.
  [[nodiscard]] GridTime best() const { return length_.least() + network_.max_delay(); }

  /// How many there are when that much is lost on the way, all of it right after the first.
  std::size_t count(GridTime lost = 0) {
    const GridTime finish = best() + lost;
    std::size_t count = 0;
    for (GridTime now = 0; now < finish; ++count) {
      now += length_.next(now, count == 0 ? best() : finish).time;
    }
    return count;
  }

 private:
  static std::vector<NodeId> all(std::uint32_t npus) {
    std::vector<NodeId> owners;
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      owners.emplace_back(npu);
    }
    return owners;
  }

  GatherNetwork network_;
  std::vector<NodeId> owners_;
  WindowLength length_;
};

TEST(WindowLength, AreStretchedWhereItTakesSeconds) {
  // 1.0e8 and 1.5e8 deliveries: otherwise the larger one has more windows.
  EXPECT_LT(Windows("mesh:110x110").count() * 5, Windows("mesh:100x100").count() * 4);
}

TEST(WindowLength, AreNotShortenedByALossThatIsNotSeenAtTheEnd) {
  // A step of 5,900, and ten.
  const std::size_t least = Windows("mesh:110x110").count();
  EXPECT_LE(Windows("mesh:110x110").count(5), least + 2);
  EXPECT_GT(Windows("mesh:110x110").count(100), least * 5 / 4);
  // Elsewhere they are, until 512 times as much time has passed.
  EXPECT_GT(Windows("mesh:100x100").count(5), Windows("mesh:100x100").count() * 5 / 4);
}

TEST(WindowLength, AreHalfAsStretchedAfterALoss) {
  Windows kept("mesh:110x110");
  Windows lost("mesh:110x110");
  GridTime now = 0;
  for (int window = 0; window < 40; ++window) {
    const GridTime time = kept.length().next(now, kept.best()).time;
    ASSERT_EQ(lost.length().next(now, lost.best()).time, time);
    now += time;
  }
  // It is known when the next one is, and changes the one after that.
  EXPECT_EQ(kept.length().next(now, kept.best()).time,
            lost.length().next(now, lost.best() + 1).time);
  EXPECT_LT(lost.length().next(now, lost.best() + 1).time,
            kept.length().next(now, kept.best()).time);
}

TEST(WindowLength, AreNotStretchedOnLongNetworks) {
  // 1.4e8 and 1.0e8 deliveries. News is needed as early as it comes.
  EXPECT_GT(Windows("mesh:20x600").count(), Windows("mesh:20x500").count());
}

}  // namespace
}  // namespace tacos::matching
