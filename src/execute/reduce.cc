// SPDX-License-Identifier: MIT
// Plain loops, which the compiler makes vector instructions of: pointers do not alias, and nothing
// in a loop branches or calls. Half precision is widened to float a block at a time, with integer
// arithmetic that vectorises as well; float16 by the processor where it can.
//
// Every operation commutes bit for bit: two NPUs that exchange what they have then agree. For that
// a minimum of zeros of both signs is the negative one, and one of a NaN and something is a NaN.
//
// O(elements).
#include "execute/reduce.h"

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace tacos::execution {
namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;

/// Of equal floats, or of some that cannot be compared.
template <class T>
T either(T a, T b, bool both) {
  const auto x = std::bit_cast<BitsOf<T>>(a);
  const auto y = std::bit_cast<BitsOf<T>>(b);
  return std::bit_cast<T>(both ? x & y : x | y);
}

struct Sum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      // As unsigned numbers, which wrap.
      using Wide = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Wide>(static_cast<Wide>(a) + static_cast<Wide>(b)));
    } else {
      return a + b;
    }
  }
};
struct Prod {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      // Narrow types would be widened to int, which does not wrap.
      using Wide =
          std::conditional_t<sizeof(T) < sizeof(unsigned), unsigned, std::make_unsigned_t<T>>;
      return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
    } else {
      return a * b;
    }
  }
  /// Without the care for infinities that C++ takes, which is a call.
  template <class T>
  static std::complex<T> apply(std::complex<T> a, std::complex<T> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + b.real() * a.imag()};
  }
};
struct Min {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return a < b ? a : b < a ? b : either(a, b, false);
    } else {
      return b < a ? b : a;
    }
  }
};
struct Max {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return b < a ? a : a < b ? b : either(a, b, a == b);
    } else {
      return a < b ? b : a;
    }
  }
};

template <class T, class Op>
struct Plain {
  static void add(void* to, const void* from, std::size_t count) {
    T* __restrict const out = static_cast<T*>(to);
    const T* __restrict const in = static_cast<const T*>(from);
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = Op::apply(out[i], in[i]);
    }
  }
  static void join(void* to, const void* one, const void* other, std::size_t count) {
    T* __restrict const out = static_cast<T*>(to);
    const T* __restrict const a = static_cast<const T*>(one);
    const T* __restrict const b = static_cast<const T*>(other);
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = Op::apply(a[i], b[i]);
    }
  }
  static void divide(void* to, std::size_t count, std::size_t summands) {
    T* const out = static_cast<T*>(to);
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (std::is_integral_v<T>) {
        out[i] =
            static_cast<T>(static_cast<std::int64_t>(out[i]) / static_cast<std::int64_t>(summands));
      } else {
        using Real = decltype(std::abs(T()));
        out[i] /= static_cast<Real>(summands);
      }
    }
  }
};

/// The upper half of a float, rounded to the nearest, ties to even.
struct Bfloat16 {
  static float widen(std::uint16_t value) {
    return std::bit_cast<float>(std::uint32_t{value} << 16U);
  }
  static std::uint16_t narrow(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
    // Rounding could make an infinity of a NaN.
    const std::uint32_t nan = (bits >> 16U) | 0x40U;
    return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? nan : rounded);
  }
};

/// IEEE's half precision.
struct Float16 {
  static float widen(std::uint16_t value) {
    // The exponent is moved by a multiplication, which is exact, so that what is denormal here
    // need not be told apart.
    constexpr float kMove = 0x1p112F;
    const std::uint32_t magnitude = (value & 0x7fffU) << 13U;
    const auto moved = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * kMove);
    const std::uint32_t special = (value & 0x7c00U) == 0x7c00U ? 0x7f800000U : 0U;
    return std::bit_cast<float>(moved | special | ((value & 0x8000U) << 16U));
  }
  static std::uint16_t narrow(float value) {
    constexpr std::uint32_t kInfinity = 0x7f800000U;
    constexpr std::uint32_t kTooLarge = 143U << 23U;  // 2^16
    constexpr std::uint32_t kDenormal = 113U << 23U;  // 2^-14
    constexpr float kAlign = 0.5F;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16U) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    const std::uint32_t special = magnitude > kInfinity ? 0x7e00U : 0x7c00U;
    // The addition shifts what is too small for an exponent, and rounds it.
    const std::uint32_t small =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + kAlign) -
        std::bit_cast<std::uint32_t>(kAlign);
    const std::uint32_t odd = (magnitude >> 13U) & 1U;
    const std::uint32_t usual = (magnitude - (112U << 23U) + 0xfffU + odd) >> 13U;
    const std::uint32_t finite = magnitude < kDenormal ? small : usual;
    return static_cast<std::uint16_t>(sign | (magnitude >= kTooLarge ? special : finite));
  }
};

template <class Half>
void widen_block(const std::uint16_t* __restrict from, float* __restrict to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = Half::widen(from[i]);
  }
}
template <class Half>
void narrow_block(const float* __restrict from, std::uint16_t* __restrict to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = Half::narrow(from[i]);
  }
}

#ifdef __x86_64__
/// What nearly every processor does by itself; but for what a NaN carries, the same.
bool has_float16() {
  // Clang cannot ask for f16c; whoever has AVX2 has it.
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
constexpr std::size_t kVector = 8;

[[gnu::target("avx,f16c")]] void widen_vectors(const std::uint16_t* from,
                                               float* to,
                                               std::size_t count) {
  for (std::size_t i = 0; i < count; i += kVector) {
    const auto* const halves = reinterpret_cast<const __m128i*>(from + i);
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(halves)));
  }
}
[[gnu::target("avx,f16c")]] void narrow_vectors(const float* from,
                                                std::uint16_t* to,
                                                std::size_t count) {
  for (std::size_t i = 0; i < count; i += kVector) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), halves);
  }
}

template <>
void widen_block<Float16>(const std::uint16_t* __restrict from,
                          float* __restrict to,
                          std::size_t count) {
  const std::size_t whole = has_float16() ? count / kVector * kVector : 0;
  if (whole > 0) {
    widen_vectors(from, to, whole);
  }
  for (std::size_t i = whole; i < count; ++i) {
    to[i] = Float16::widen(from[i]);
  }
}
template <>
void narrow_block<Float16>(const float* __restrict from,
                           std::uint16_t* __restrict to,
                           std::size_t count) {
  const std::size_t whole = has_float16() ? count / kVector * kVector : 0;
  if (whole > 0) {
    narrow_vectors(from, to, whole);
  }
  for (std::size_t i = whole; i < count; ++i) {
    to[i] = Float16::narrow(from[i]);
  }
}
#endif

/// Elements of 16 bits, reckoned with as floats.
template <class Half, class Op>
struct Widened {
  static constexpr std::size_t kBlock = 512;

  static void join(void* to, const void* one, const void* other, std::size_t count) {
    alignas(64) float a[kBlock];
    alignas(64) float b[kBlock];
    for (std::size_t at = 0; at < count; at += kBlock) {
      const std::size_t now = std::min(kBlock, count - at);
      widen_block<Half>(static_cast<const std::uint16_t*>(one) + at, a, now);
      widen_block<Half>(static_cast<const std::uint16_t*>(other) + at, b, now);
      Plain<float, Op>::add(a, b, now);
      narrow_block<Half>(a, static_cast<std::uint16_t*>(to) + at, now);
    }
  }
  static void add(void* to, const void* from, std::size_t count) { join(to, to, from, count); }
  static void divide(void* to, std::size_t count, std::size_t summands) {
    alignas(64) float a[kBlock];
    for (std::size_t at = 0; at < count; at += kBlock) {
      const std::size_t now = std::min(kBlock, count - at);
      std::uint16_t* const out = static_cast<std::uint16_t*>(to) + at;
      widen_block<Half>(out, a, now);
      Plain<float, Op>::divide(a, now, summands);
      narrow_block<Half>(a, out, now);
    }
  }
};

template <class Kernel>
Reduction row(bool average = false) {
  return {.add = Kernel::add, .join = Kernel::join, .finish = average ? Kernel::divide : nullptr};
}

template <template <class> class KernelOf>
Reduction ordered(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return row<KernelOf<Sum>>();
    case ReduceOp::kMin:
      return row<KernelOf<Min>>();
    case ReduceOp::kMax:
      return row<KernelOf<Max>>();
    case ReduceOp::kProd:
      return row<KernelOf<Prod>>();
    case ReduceOp::kAverage:
      return row<KernelOf<Sum>>(true);
  }
  return {};
}

template <class T>
struct Of {
  template <class Op>
  using Kernel = Plain<T, Op>;
};
template <class Half>
struct OfHalf {
  template <class Op>
  using Kernel = Widened<Half, Op>;
};

template <class T>
Reduction unordered(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return row<Plain<T, Sum>>();
    case ReduceOp::kProd:
      return row<Plain<T, Prod>>();
    case ReduceOp::kAverage:
      return row<Plain<T, Sum>>(true);
    case ReduceOp::kMin:
    case ReduceOp::kMax:
      break;
  }
  return {};
}

}  // namespace

Reduction reduction(ElementType type, ReduceOp op) {
  switch (type) {
    case ElementType::kFloat32:
      return ordered<Of<float>::Kernel>(op);
    case ElementType::kFloat64:
      return ordered<Of<double>::Kernel>(op);
    case ElementType::kBfloat16:
      return ordered<OfHalf<Bfloat16>::Kernel>(op);
    case ElementType::kFloat16:
      return ordered<OfHalf<Float16>::Kernel>(op);
    case ElementType::kInt8:
      return ordered<Of<std::int8_t>::Kernel>(op);
    case ElementType::kUint8:
      return ordered<Of<std::uint8_t>::Kernel>(op);
    case ElementType::kInt32:
      return ordered<Of<std::int32_t>::Kernel>(op);
    case ElementType::kInt64:
      return ordered<Of<std::int64_t>::Kernel>(op);
    case ElementType::kComplex64:
      return unordered<std::complex<float>>(op);
    case ElementType::kComplex128:
      return unordered<std::complex<double>>(op);
  }
  return {};
}

}  // namespace tacos::execution
