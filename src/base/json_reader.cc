// SPDX-License-Identifier: MIT
#include "base/json_reader.h"

#include <algorithm>
#include <cmath>

#include "base/suggest.h"

namespace tacos {

Error json_error(const std::string& where, const std::string& path, const std::string& message) {
  return input_error(path.empty() ? message : path + ": " + message, where);
}

Result<std::int64_t> whole_number(const Json& value,
                                  const std::string& where,
                                  const std::string& path,
                                  std::int64_t largest) {
  if (!value.is_number()) {
    return json_error(where, path, fmt::format("must be a number, not {}", value.type_name()));
  }
  const auto approximate = value.get<double>();
  if (!(approximate >= 0)) {
    return json_error(where, path, fmt::format("{} is negative", value.dump()));
  }
  if (!(approximate <= static_cast<double>(largest))) {
    return json_error(where, path, fmt::format("{} is too large", value.dump()));
  }
  if (value.is_number_float() && std::nearbyint(approximate) != approximate) {
    return json_error(where, path, fmt::format("{} is not a whole number", value.dump()));
  }
  return value.get<std::int64_t>();
}

Status check_keys(const Json& object,
                  std::span<const std::string_view> known,
                  const std::string& where,
                  const std::string& path) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return json_error(where, path, unknown_name("key", key, known));
    }
  }
  return ok();
}

Error syntax_error(std::string_view text,
                   const std::string& where,
                   const Json::parse_error& error) {
  // nlohmann counts bytes from one and stops just behind the trouble.
  const std::string_view before = text.substr(0, error.byte == 0 ? 0 : error.byte - 1);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return input_error("is not valid JSON here", fmt::format("{}:{}:{}", where, line, column));
}

std::int64_t ObjectReader::required(const char* key, std::int64_t largest) {
  if (!failure_ && !object_.contains(key)) {
    failure_ = json_error(where_, path_, fmt::format("'{}' is missing", key));
  }
  return optional(key, largest, 0);
}

std::int64_t ObjectReader::optional(const char* key, std::int64_t largest, std::int64_t otherwise) {
  if (failure_ || !object_.contains(key)) {
    return otherwise;
  }
  const std::string path = path_.empty() ? key : fmt::format("{}.{}", path_, key);
  const Result<std::int64_t> value = whole_number(object_[key], where_, path, largest);
  if (!value) {
    failure_ = value.error();
    return otherwise;
  }
  return *value;
}

}  // namespace tacos
