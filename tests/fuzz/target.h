// SPDX-License-Identifier: MIT
// What fuzz targets share. A target reads its input as the program would and ends the process when
// a promise is broken: libFuzzer keeps the input, and the replay of the test run fails on it.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "tacos/result.h"

/// Of every target; called by libFuzzer, or by replay.cc with what it has found.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tacos::fuzz {

[[nodiscard]] inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool holds, std::string_view promise) {
  if (!holds) {
    std::fprintf(stderr, "broken: %.*s\n", static_cast<int>(promise.size()), promise.data());
    std::abort();
  }
}

/// `holds`, and what stands in the way where it is a failure.
template <class T>
void require(const Result<T>& holds, std::string_view promise) {
  require(holds.has_value(),
          holds ? promise : fmt::format("{}: {}", promise, holds.error().to_string()));
}

/// Whatever is wrong with an input is the input's fault, and said in words.
inline void require_input_error(const Error& error) {
  require(error.code == ErrorCode::kInput, "bad input is an input error");
  require(!error.message.empty(), "an error says what is wrong");
}

/// The largest number that follows the text `key` somewhere, after quotes, colons and blanks.
[[nodiscard]] inline std::uint64_t largest_after(std::string_view text, std::string_view key) {
  std::uint64_t largest = 0;
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at)) {
    at = text.find_first_not_of("\": \t\r\n", at + key.size());
    if (at == std::string_view::npos) {
      break;
    }
    std::uint64_t number = 0;
    const auto read = std::from_chars(text.data() + at, text.data() + text.size(), number);
    largest = read.ec == std::errc::result_out_of_range ? UINT64_MAX : std::max(largest, number);
  }
  return largest;
}

/// Whether a topology in JSON says that it is large. It may be; but then a second of fuzzing is
/// spent on filling memory.
[[nodiscard]] inline bool says_large_network(std::string_view json) {
  constexpr std::uint64_t kMost = 2'000;
  return largest_after(json, "npus") > kMost || largest_after(json, "switches") > kMost ||
         largest_after(json, "length") > kMost;
}

}  // namespace tacos::fuzz
