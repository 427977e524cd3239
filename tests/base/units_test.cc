// SPDX-License-Identifier: MIT
#include "tacos/units.h"

#include <gtest/gtest.h>

namespace tacos {
namespace {

constexpr Ticks kLatest{std::numeric_limits<std::int64_t>::max()};
constexpr Ticks kEarliest{std::numeric_limits<std::int64_t>::min()};

TEST(Ticks, AddUp) {
  EXPECT_EQ(Ticks{3} + Ticks{4}, Ticks{7});
  EXPECT_EQ(Ticks{3} - Ticks{4}, Ticks{-1});
  EXPECT_EQ(Ticks{3} * 4, Ticks{12});
  Ticks sum{1};
  sum += Ticks{2};
  EXPECT_EQ(sum, Ticks{3});
}

TEST(Ticks, StopAtTheEndsOf64Bits) {
  EXPECT_EQ(kMaxTime + kMaxTime, kLatest);
  EXPECT_EQ(kLatest + Ticks{1}, kLatest);
  EXPECT_EQ(kLatest - kEarliest, kLatest);
  EXPECT_EQ(kEarliest - Ticks{1}, kEarliest);
  EXPECT_EQ(kEarliest + kEarliest, kEarliest);
  EXPECT_EQ(kMaxTime * 2, kLatest);
  EXPECT_EQ(kMaxTime * -3, kEarliest);
  Ticks sum = kMaxTime;
  sum += kMaxTime;
  EXPECT_EQ(sum, kLatest);
}

}  // namespace
}  // namespace tacos
