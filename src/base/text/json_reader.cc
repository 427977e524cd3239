// SPDX-License-Identifier: MIT
#include "base/text/json_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/memory/room.h"
#include "base/text/suggest.h"

namespace tacos {
namespace {

/// file:line:column of a byte.
std::string place_of(std::string_view text, const std::string& where, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return fmt::format("{}:{}:{}", where, line, column);
}

/// Builds the document as the library's own builder does, which lets the last of two equal keys
/// win.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& /*token*/) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(Json::binary_t& value) override { return add(std::move(value)); }
  bool start_object(std::size_t /*elements*/) override { return open(Json::value_t::object); }
  bool start_array(std::size_t /*elements*/) override { return open(Json::value_t::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    auto& members = open_.back()->get_ref<Json::object_t&>();
    const auto [member, fresh] = members.try_emplace(name);
    member_ = &member->second;
    if (!fresh) {
      failure_ = json_error(where_, path(), fmt::format("'{}' is given twice", name));
    }
    return fresh;
  }

  bool parse_error(std::size_t position,
                   const std::string& /*last_token*/,
                   const Json::exception& error) override {
    // Bytes are counted from one, and the reader stops just behind the trouble.
    const bool number = dynamic_cast<const Json::out_of_range*>(&error) != nullptr;
    failure_ =
        input_error(number ? "a number ends here that is too large" : "is not valid JSON here",
                    place_of(text_, where_, position == 0 ? 0 : position - 1));
    return false;
  }

  [[nodiscard]] Result<Json> result() && {
    return failure_ ? Result<Json>(*failure_) : std::move(root_);
  }

 private:
  template <class Value>
  bool add(Value&& value) {
    place(std::forward<Value>(value));
    return true;
  }

  template <class Value>
  Json* place(Value&& value) {
    if (open_.empty()) {
      root_ = Json(std::forward<Value>(value));
      return &root_;
    }
    if (open_.back()->is_array()) {
      return &open_.back()->get_ref<Json::array_t&>().emplace_back(std::forward<Value>(value));
    }
    *member_ = Json(std::forward<Value>(value));
    return member_;
  }

  bool open(Json::value_t kind) {
    // No file of ours nests this deep, and whoever walks a document may recurse.
    constexpr std::size_t kDeepest = 64;
    if (open_.size() == kDeepest) {
      failure_ = json_error(where_, path(), "is nested too deeply");
      return false;
    }
    open_.push_back(place(kind));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  /// Of the innermost thing that is open, such as links[3].
  [[nodiscard]] std::string path() const {
    std::string path;
    for (std::size_t i = 1; i < open_.size(); ++i) {
      const Json& outer = *open_[i - 1];
      if (outer.is_array()) {
        path += fmt::format("[{}]", outer.size() - 1);
        continue;
      }
      for (const auto& [key, member] : outer.get_ref<const Json::object_t&>()) {
        if (&member == open_[i]) {
          path += (path.empty() ? "" : ".") + key;
        }
      }
    }
    return path;
  }

  std::string_view text_;
  const std::string& where_;
  Json root_;
  /// What is not closed yet, outermost first.
  std::vector<Json*> open_;
  /// Of the innermost object: where the next value goes.
  Json* member_ = nullptr;
  std::optional<Error> failure_;
};

}  // namespace

Error json_error(const std::string& where, const std::string& path, const std::string& message) {
  return input_error(path.empty() ? message : path + ": " + message, where);
}

Result<std::uint64_t> whole_number(const Json& value,
                                   const std::string& where,
                                   const std::string& path,
                                   std::uint64_t largest) {
  if (!value.is_number()) {
    return json_error(where, path, fmt::format("must be a number, not {}", value.type_name()));
  }
  const auto approximate = value.get<double>();
  if (!(approximate >= 0)) {
    return json_error(where, path, fmt::format("{} is negative", value.dump()));
  }
  if (value.is_number_float() && std::nearbyint(approximate) != approximate) {
    return json_error(where, path, fmt::format("{} is not a whole number", value.dump()));
  }
  constexpr double kBeyondWords = 18446744073709551616.0;
  const bool fits = !value.is_number_float() || approximate < kBeyondWords;
  const std::uint64_t whole = fits ? value.get<std::uint64_t>() : 0;
  if (!fits || whole > largest) {
    return json_error(where, path, fmt::format("{} is too large", value.dump()));
  }
  return whole;
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

std::string ObjectReader::path_of(const char* key) const {
  return path_.empty() ? key : fmt::format("{}.{}", path_, key);
}

const Json* ObjectReader::find(const char* key) {
  if (failure_) {
    return nullptr;
  }
  const auto member = object_.find(key);
  if (member == object_.end()) {
    failure_ = json_error(where_, path_, fmt::format("'{}' is missing", key));
    return nullptr;
  }
  return &*member;
}

std::uint64_t ObjectReader::number(const char* key, std::uint64_t largest) {
  const Json* const member = find(key);
  if (member == nullptr) {
    return 0;
  }
  const Result<std::uint64_t> value = whole_number(*member, where_, path_of(key), largest);
  if (!value) {
    failure_ = value.error();
    return 0;
  }
  return *value;
}

std::int64_t ObjectReader::required(const char* key, std::int64_t largest) {
  return static_cast<std::int64_t>(number(key, static_cast<std::uint64_t>(largest)));
}

std::int64_t ObjectReader::optional(const char* key, std::int64_t largest, std::int64_t otherwise) {
  return failure_ || !object_.contains(key) ? otherwise : required(key, largest);
}

std::uint64_t ObjectReader::word(const char* key) {
  return number(key, std::numeric_limits<std::uint64_t>::max());
}

std::string ObjectReader::text(const char* key) {
  const Json* const member = find(key);
  if (member != nullptr && !member->is_string()) {
    failure_ = json_error(where_, path_of(key), "must be a string");
    return {};
  }
  return member == nullptr ? std::string() : member->get<std::string>();
}

bool ObjectReader::flag(const char* key) {
  const auto member = object_.find(key);
  if (failure_ || member == object_.end()) {
    return false;
  }
  if (!member->is_boolean()) {
    failure_ = json_error(where_, path_of(key), "must be true or false");
    return false;
  }
  return member->get<bool>();
}

Result<Json> parse_json(std::string_view text, const std::string& where) {
  // Measured on lists of links. Memory that runs out within the parser ends the program.
  constexpr std::uint64_t kBytesPerCharacter = 10;
  if (Status fits = check_memory_room(
          kBytesPerCharacter * text.size(), std::nullopt, "a smaller file or more memory", where);
      !fits) {
    return fits.error();
  }
  // The library takes a NUL for the end of the text.
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    return input_error("has a NUL byte here, so it is not JSON", place_of(text, where, nul));
  }
  Builder builder(text, where);
  (void)Json::sax_parse(text, &builder);
  return std::move(builder).result();
}

}  // namespace tacos
