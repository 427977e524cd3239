// SPDX-License-Identifier: MIT
// A collective that a group is asked for, in words that know nothing of tensors.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tacos/collective.h"

#include "serve/loaded_schedule.h"

namespace tacos::torch_backend {

/// How elements are reduced where no executor does it.
struct Combine {
  /// `to` becomes `to` and `from`, so many elements.
  std::function<void(std::byte* to, const std::byte* from, std::size_t count)> add;
  /// What is left to do with a complete sum; may be empty.
  std::function<void(std::byte* to, std::size_t count)> finish;
};

/// What all ranks must call alike.
struct Signature {
  /// As numbers that mean the same everywhere, and for people.
  std::uint64_t value = 0;
  std::uint64_t count = 0;

  friend bool operator==(const Signature&, const Signature&) = default;
};
inline constexpr std::uint64_t kUnequal = ~std::uint64_t{0};

struct Job {
  /// As the profiler shows it: "tacos:all_reduce".
  std::string title;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  int root = 0;
  LoadedSchedule::Call call;
  Signature signature;
  /// Nothing but waiting for each other.
  bool barrier = false;
  /// Why no schedule can do it; empty where one may.
  std::string unserved;
  Combine combine;
  /// Of an All-to-All whose parts may be of different sizes: bytes for and from each rank. The
  /// count of the call and of the signature is that of every part, or kUnequal.
  std::vector<std::size_t> sent_bytes;
  std::vector<std::size_t> received_bytes;
  /// Collects inputs before, and deals outputs out after; may be empty.
  std::function<void()> before;
  std::function<void()> after;
  /// Called once, with what went wrong or null.
  std::function<void(const Error*)> finish;
  /// This rank cannot take part, and why: the others must know.
  std::string refusal;

  [[nodiscard]] bool may_be_unequal() const { return !sent_bytes.empty(); }

  std::uint64_t number = 0;
  std::chrono::steady_clock::time_point asked;
};

/// A message to, or from, one rank.
struct Post {
  std::string title;
  bool sends = false;
  std::uint32_t peer = 0;
  std::uint64_t key = 0;
  std::byte* bytes = nullptr;
  std::size_t size = 0;
  /// Also gets the rank that it came from.
  std::function<void(const Error*, std::uint32_t)> finish;
  std::chrono::steady_clock::time_point asked;
};

}  // namespace tacos::torch_backend
