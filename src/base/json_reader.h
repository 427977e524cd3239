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
[[nodiscard]] Result<std::int64_t> whole_number(const Json& value,
                                                const std::string& where,
                                                const std::string& path,
                                                std::int64_t largest);

/// Fails on a key that is not `known`.
[[nodiscard]] Status check_keys(const Json& object,
                                std::span<const std::string_view> known,
                                const std::string& where,
                                const std::string& path);

/// For text that is not JSON: file:line:column of where it stops making sense.
[[nodiscard]] Error syntax_error(std::string_view text,
                                 const std::string& where,
                                 const Json::parse_error& error);

/// Reads members of one JSON object and remembers the first failure.
class ObjectReader {
 public:
  ObjectReader(const Json& object, const std::string& where, std::string path)
      : object_(object), where_(where), path_(std::move(path)) {}

  std::int64_t required(const char* key, std::int64_t largest);
  std::int64_t optional(const char* key, std::int64_t largest, std::int64_t otherwise);
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  const Json& object_;
  const std::string& where_;
  std::string path_;
  std::optional<Error> failure_;
};

/// `read(json)` on the parsed text; whatever is wrong with it comes back as an error.
template <class Value, class Read>
[[nodiscard]] Result<Value> read_json(std::string_view text,
                                      const std::string& where,
                                      const Read& read) {
  try {
    return read(Json::parse(text));
  } catch (const Json::parse_error& error) {
    return syntax_error(text, where, error);
  } catch (const Json::exception& error) {
    return input_error(fmt::format("cannot be used: {}", error.what()), where);
  }
}

}  // namespace tacos
