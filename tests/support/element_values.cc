// SPDX-License-Identifier: MIT
#include "support/element_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace tacos::test {
namespace {

/// A format of 16 bits with a sign and so many bits of fraction.
struct Half {
  int fraction;

  [[nodiscard]] double decode(std::uint16_t bits) const {
    const int exponents = (1 << (15 - fraction)) - 1;
    const int exponent = (bits & 0x7fff) >> fraction;
    const double part = bits & ((1 << fraction) - 1);
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == exponents) {
      return part == 0 ? sign * std::numeric_limits<double>::infinity()
                       : std::numeric_limits<double>::quiet_NaN();
    }
    const int bias = exponents / 2;
    return exponent == 0 ? sign * std::ldexp(part, 1 - bias - fraction)
                         : sign * std::ldexp(part + (1 << fraction), exponent - bias - fraction);
  }

  [[nodiscard]] std::uint16_t encode(double value) const {
    const std::uint16_t infinity =
        static_cast<std::uint16_t>(((1 << (15 - fraction)) - 1) << fraction);
    if (std::isnan(value)) {
      return static_cast<std::uint16_t>(infinity | 1 << (fraction - 1));
    }
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(value);
    // Finite numbers are in the order of their bits.
    std::uint16_t low = 0;
    std::uint16_t high = infinity;
    while (high - low > 1) {
      const auto middle = static_cast<std::uint16_t>((low + high) / 2);
      (decode(middle) <= magnitude ? low : high) = middle;
    }
    // Infinity is where the next number would be.
    const double above = high == infinity
                             ? 2 * decode(low) - decode(static_cast<std::uint16_t>(low - 1))
                             : decode(high);
    const double down = magnitude - decode(low);
    const double up = above - magnitude;
    const bool rise = down > up || (down == up && low % 2 == 1);
    return sign | (rise ? high : low);
  }
};
constexpr Half kBfloat{7};
constexpr Half kHalf{10};

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <class T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

}  // namespace

Value read_element(ElementType type, const std::byte* from) {
  switch (type) {
    case ElementType::kFloat32:
      return load<float>(from);
    case ElementType::kFloat64:
      return load<double>(from);
    case ElementType::kBfloat16:
      return kBfloat.decode(load<std::uint16_t>(from));
    case ElementType::kFloat16:
      return kHalf.decode(load<std::uint16_t>(from));
    case ElementType::kInt8:
      return load<std::int8_t>(from);
    case ElementType::kUint8:
      return load<std::uint8_t>(from);
    case ElementType::kInt32:
      return load<std::int32_t>(from);
    case ElementType::kInt64:
      return static_cast<double>(load<std::int64_t>(from));
    case ElementType::kComplex64:
      return load<std::complex<float>>(from);
    case ElementType::kComplex128:
      return load<std::complex<double>>(from);
  }
  return {};
}

void write_element(ElementType type, std::byte* to, Value value) {
  const double real = value.real();
  switch (type) {
    case ElementType::kFloat32:
      return store(to, static_cast<float>(real));
    case ElementType::kFloat64:
      return store(to, real);
    case ElementType::kBfloat16:
      return store(to, kBfloat.encode(real));
    case ElementType::kFloat16:
      return store(to, kHalf.encode(real));
    case ElementType::kInt8:
      return store(to, static_cast<std::int8_t>(static_cast<std::int64_t>(real)));
    case ElementType::kUint8:
      return store(to, static_cast<std::uint8_t>(static_cast<std::int64_t>(real)));
    case ElementType::kInt32:
      return store(to, static_cast<std::int32_t>(static_cast<std::int64_t>(real)));
    case ElementType::kInt64:
      return store(to, static_cast<std::int64_t>(real));
    case ElementType::kComplex64:
      return store(to, std::complex<float>(value));
    case ElementType::kComplex128:
      return store(to, value);
  }
}

Value reduce_values(ReduceOp op, Value a, Value b) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAverage:
      return a + b;
    case ReduceOp::kMin:
      return std::min(a.real(), b.real());
    case ReduceOp::kMax:
      return std::max(a.real(), b.real());
    case ReduceOp::kProd:
      return a * b;
  }
  return {};
}

Value finish_value(ElementType type, ReduceOp op, Value sum, std::size_t summands) {
  if (op != ReduceOp::kAverage) {
    return sum;
  }
  const auto count = static_cast<double>(summands);
  switch (type) {
    case ElementType::kInt8:
    case ElementType::kUint8:
    case ElementType::kInt32:
    case ElementType::kInt64: {
      // The sum is kept in the type, whatever its range, and then divided.
      std::byte kept[8];
      write_element(type, kept, sum);
      return std::trunc(read_element(type, kept).real() / count);
    }
    case ElementType::kBfloat16:
    case ElementType::kFloat16:
      return static_cast<float>(sum.real()) / static_cast<float>(summands);
    default:
      return sum / count;
  }
}

}  // namespace tacos::test
