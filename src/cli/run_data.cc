// SPDX-License-Identifier: MIT
#include "cli/run_data.h"

#include <complex>
#include <cstring>

#include "base/numbers/rng.h"

namespace tacos::cli {
namespace {

template <class T>
void write(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

/// -1, 0 or 1 as the bits of a format of 16 bits.
std::uint16_t half_bits(int value, std::uint16_t one) {
  return static_cast<std::uint16_t>(value == 0 ? 0 : value < 0 ? one | 0x8000U : one);
}

void write_number(ElementType type, std::byte* to, int value) {
  constexpr std::uint16_t kOneInBfloat16 = 0x3f80;
  constexpr std::uint16_t kOneInFloat16 = 0x3c00;
  switch (type) {
    case ElementType::kFloat32:
      return write(to, static_cast<float>(value));
    case ElementType::kFloat64:
      return write(to, static_cast<double>(value));
    case ElementType::kBfloat16:
      return write(to, half_bits(value, kOneInBfloat16));
    case ElementType::kFloat16:
      return write(to, half_bits(value, kOneInFloat16));
    case ElementType::kInt8:
    case ElementType::kUint8:
      return write(to, static_cast<std::int8_t>(value));
    case ElementType::kInt32:
      return write(to, std::int32_t{value});
    case ElementType::kInt64:
      return write(to, std::int64_t{value});
    case ElementType::kComplex64:
      return write(to, std::complex<float>(static_cast<float>(value)));
    case ElementType::kComplex128:
      return write(to, std::complex<double>(value));
  }
}

}  // namespace

void fill_input(ElementType type, ReduceOp op, std::uint32_t member, std::span<std::byte> buffer) {
  const std::size_t bytes = element_bytes(type);
  Rng rng(mix64(0x7ac05, member));
  for (std::size_t at = 0; at < buffer.size(); at += bytes) {
    const auto number = static_cast<int>(rng.below(3)) - 1;
    // A zero would hide all that a product is made of.
    write_number(type, buffer.data() + at, op == ReduceOp::kProd && number == 0 ? 1 : number);
  }
}

std::uint64_t count_different(ElementType type,
                              std::span<const std::byte> one,
                              std::span<const std::byte> other) {
  const std::size_t bytes = element_bytes(type);
  std::uint64_t different = 0;
  if (one.empty() || std::memcmp(one.data(), other.data(), one.size()) == 0) {
    return 0;
  }
  for (std::size_t at = 0; at < one.size(); at += bytes) {
    different += std::memcmp(one.data() + at, other.data() + at, bytes) == 0 ? 0 : 1;
  }
  return different;
}

}  // namespace tacos::cli
