// SPDX-License-Identifier: MIT
#include "view/column.h"

#include <algorithm>

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/numbers/rng.h"
#include "view/page_data.h"

namespace tacos {
namespace {

using viewing::column;
using viewing::Numbers;

void comes_back(const Numbers& numbers) {
  const std::vector<double> expected(numbers.begin(), numbers.end());
  EXPECT_EQ(test::numbers_of(nlohmann::json::parse(column(numbers).dump())), expected);
}

TEST(Column, ComesBack) {
  comes_back({});
  comes_back({7});
  comes_back({7, 7, 7});
  comes_back({1, 255, 3});
  comes_back({1, 256, 3});
  comes_back({1, std::uint64_t{1} << 32U, 3});
  comes_back({std::uint64_t{1} << 53U, 0});
}

RC_GTEST_PROP(Column, OfRandomNumbersComesBack, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  Numbers numbers(rng.below(60));
  const std::uint64_t most = std::uint64_t{1} << (1 + rng.below(52));
  for (std::uint64_t& number : numbers) {
    number = rng.next() % most;
  }
  if (rng.below(2) == 0) {
    std::sort(numbers.begin(), numbers.end());
  }
  comes_back(numbers);
}

TEST(Column, TakesTheFewestBytes) {
  const Numbers few{1'000'000'000'000, 5, 5, 5, 5, 5, 1'000'000'000'000, 5, 5, 5, 5, 5, 5, 5, 5, 5};
  EXPECT_EQ(column(few)["how"], "table");
  Numbers steady;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    steady.push_back(1'000'000 + i * i / 9);
  }
  EXPECT_EQ(column(steady)["how"], "delta");
  EXPECT_FALSE(column(Numbers(9, 4)).contains("data"));
}

}  // namespace
}  // namespace tacos
