// SPDX-License-Identifier: MIT
#include "execute/reduce.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/numbers/rng.h"
#include "support/element_values.h"

namespace tacos {
namespace {

using execution::reduction;
using execution::Reduction;
using test::Value;

/// Bytes that are any numbers of the type.
std::vector<std::byte> any_elements(ElementType type, std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::byte> bytes(count * element_bytes(type));
  const bool whole = type >= ElementType::kInt8 && type <= ElementType::kInt64;
  for (std::size_t i = 0; i < count; ++i) {
    const auto part = [&] { return static_cast<double>(rng.below(2001)) - 1000; };
    const Value value = whole ? Value(part()) : Value(part() / 8, part() / 8);
    test::write_element(type, bytes.data() + i * element_bytes(type), value);
  }
  return bytes;
}

TEST(Reduction, DoesWhatItsNameSaysToEveryType) {
  // Not a multiple of any vector, and longer than a block of half precision.
  constexpr std::size_t kCount = 1'037;
  for (const ElementType type : element_types()) {
    for (const ReduceOp op : reduce_ops()) {
      const Reduction kernels = reduction(type, op);
      if (!check_reduction(type, op)) {
        EXPECT_EQ(kernels.add, nullptr);
        continue;
      }
      const std::size_t bytes = element_bytes(type);
      const auto a = any_elements(type, kCount, 1);
      const auto b = any_elements(type, kCount, 2);
      auto joined = any_elements(type, kCount, 3);
      auto added = a;
      kernels.join(joined.data(), a.data(), b.data(), kCount);
      kernels.add(added.data(), b.data(), kCount);
      EXPECT_EQ(joined, added) << to_string(type) << " " << to_string(op);
      for (std::size_t i = 0; i < kCount; ++i) {
        const Value expected = test::reduce_values(op,
                                                   test::read_element(type, a.data() + i * bytes),
                                                   test::read_element(type, b.data() + i * bytes));
        std::byte written[16];
        test::write_element(type, written, expected);
        ASSERT_EQ(std::memcmp(joined.data() + i * bytes, written, bytes), 0)
            << to_string(type) << " " << to_string(op) << " " << i;
      }
    }
  }
}

TEST(Reduction, AveragesByDividingTheSum) {
  for (const ElementType type : element_types()) {
    const Reduction kernels = reduction(type, ReduceOp::kAverage);
    ASSERT_NE(kernels.finish, nullptr);
    auto sums = any_elements(type, 600, 4);
    const auto before = sums;
    kernels.finish(sums.data(), 600, 3);
    for (std::size_t i = 0; i < 600; ++i) {
      const std::size_t at = i * element_bytes(type);
      const Value expected = test::finish_value(
          type, ReduceOp::kAverage, test::read_element(type, before.data() + at), 3);
      std::byte written[16];
      test::write_element(type, written, expected);
      ASSERT_EQ(std::memcmp(sums.data() + at, written, element_bytes(type)), 0)
          << to_string(type) << " " << i;
    }
  }
}

/// Adding zero shows how a number is widened and rounded back.
TEST(Reduction, KeepsEveryNumberOfHalfPrecision) {
  for (const ElementType type : {ElementType::kBfloat16, ElementType::kFloat16}) {
    std::vector<std::uint16_t> all(1U << 16U);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<std::uint16_t>(i);
    }
    std::vector<std::uint16_t> sums = all;
    const std::vector<std::uint16_t> ones(all.size(), 0x8000);  // minus zero
    reduction(type, ReduceOp::kSum).add(sums.data(), ones.data(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double value =
          test::read_element(type, reinterpret_cast<const std::byte*>(&all[i])).real();
      const double sum =
          test::read_element(type, reinterpret_cast<const std::byte*>(&sums[i])).real();
      ASSERT_TRUE(std::isnan(value) ? std::isnan(sum) : all[i] == sums[i]) << i;
    }
  }
}

TEST(Reduction, RoundsHalfPrecisionToTheNearest) {
  Rng rng(5);
  for (const ElementType type : {ElementType::kBfloat16, ElementType::kFloat16}) {
    for (int i = 0; i < 20'000; ++i) {
      std::uint16_t pair[2] = {static_cast<std::uint16_t>(rng.next()),
                               static_cast<std::uint16_t>(rng.next())};
      const auto bytes = reinterpret_cast<const std::byte*>(pair);
      const Value a = test::read_element(type, bytes);
      const Value b = test::read_element(type, bytes + 2);
      const auto sum = static_cast<float>(a.real()) + static_cast<float>(b.real());
      std::uint16_t expected = 0;
      test::write_element(type, reinterpret_cast<std::byte*>(&expected), sum);
      reduction(type, ReduceOp::kSum).add(&pair[0], &pair[1], 1);
      if (!std::isnan(sum)) {
        ASSERT_EQ(pair[0], expected) << to_string(type) << " " << sum;
      }
    }
  }
}

// Two NPUs that exchange what they have must agree.
TEST(Reduction, CommutesBitForBit) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> some = {0.0F, -0.0F, 1.5F, -1.5F, kNan, INFINITY, -INFINITY};
  for (const ReduceOp op : reduce_ops()) {
    for (const float a : some) {
      for (const float b : some) {
        float ab = a;
        float ba = b;
        reduction(ElementType::kFloat32, op).add(&ab, &b, 1);
        reduction(ElementType::kFloat32, op).add(&ba, &a, 1);
        if (std::isnan(ab)) {
          EXPECT_TRUE(std::isnan(ba));
        } else {
          EXPECT_EQ(std::bit_cast<std::uint32_t>(ab), std::bit_cast<std::uint32_t>(ba));
        }
        EXPECT_TRUE(!std::isnan(a) || std::isnan(ab));
      }
    }
  }
}

TEST(ElementType, NamesAreReadBack) {
  for (const ElementType type : element_types()) {
    EXPECT_EQ(*parse_element_type(to_string(type)), type);
  }
  for (const ReduceOp op : reduce_ops()) {
    EXPECT_EQ(*parse_reduce_op(to_string(op)), op);
  }
  EXPECT_NE(parse_element_type("flaot32").error().message.find("did you mean 'float32'"),
            std::string::npos);
  EXPECT_NE(parse_reduce_op("sumn").error().message.find("did you mean 'sum'"), std::string::npos);
  EXPECT_EQ(check_reduction(ElementType::kComplex64, ReduceOp::kMin).error().message,
            "complex64 has no min");
}

}  // namespace
}  // namespace tacos
