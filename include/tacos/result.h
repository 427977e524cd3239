// SPDX-License-Identifier: MIT
// Result<T>: a value or an Error, with the names of std::expected so that it can become an alias.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "tacos/error.h"

namespace tacos {

template <class T>
class [[nodiscard]] Result {
 public:
  // Implicit on purpose: `return value;` and `return error;` both read well.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] T& operator*() & { return value(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const& { return std::get<1>(state_); }
  [[nodiscard]] Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value.
using Status = Result<std::monostate>;
[[nodiscard]] inline Status ok() {
  return std::monostate{};
}

}  // namespace tacos
