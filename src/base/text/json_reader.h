// SPDX-License-Identifier: MIT
// Reading JSON written by people: says where it is broken, which member is wrong, and what a
// misspelt key was meant to be.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tacos/result.h"

namespace tacos {

using Json = nlohmann::json;

/// "where: path: message".
[[nodiscard]] Error json_error(const std::string& where,
                               const std::string& path,
                               const std::string& message);

/// A JSON number that must be whole, not negative and at most `largest`; 1e9 is as good as
/// 1000000000.
[[nodiscard]] Result<std::uint64_t> whole_number(const Json& value,
                                                 const std::string& where,
                                                 const std::string& path,
                                                 std::uint64_t largest);

/// Fails on a key that is not `known`.
[[nodiscard]] Status check_keys(const Json& object,
                                std::span<const std::string_view> known,
                                const std::string& where,
                                const std::string& path);

/// Reads members of one JSON object and remembers the first failure.
class ObjectReader {
 public:
  ObjectReader(const Json& object, const std::string& where, std::string path)
      : object_(object), where_(where), path_(std::move(path)) {}

  std::int64_t required(const char* key, std::int64_t largest);
  std::int64_t optional(const char* key, std::int64_t largest, std::int64_t otherwise);
  /// Any 64 bits.
  std::uint64_t word(const char* key);
  std::string text(const char* key);
  /// True or false; false when it is missing.
  bool flag(const char* key);
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  /// Nothing, and a failure, when it is missing; nothing after a failure.
  const Json* find(const char* key);
  std::uint64_t number(const char* key, std::uint64_t largest);
  [[nodiscard]] std::string path_of(const char* key) const;

  const Json& object_;
  const std::string& where_;
  std::string path_;
  std::optional<Error> failure_;
};

/// Refuses what is not JSON (file:line:column of where it stops making sense), text after a NUL,
/// and a key that an object has twice, of which one would be ignored.
[[nodiscard]] Result<Json> parse_json(std::string_view text, const std::string& where);

/// `read(json)` on the parsed text; whatever is wrong with it comes back as an error.
template <class Value, class Read>
[[nodiscard]] Result<Value> read_json(std::string_view text,
                                      const std::string& where,
                                      const Read& read) {
  const Result<Json> json = parse_json(text, where);
  return json ? Result<Value>(read(*json)) : json.error();
}

}  // namespace tacos
