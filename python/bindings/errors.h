// SPDX-License-Identifier: MIT
// Errors of the library as exceptions of tacos.errors.
#pragma once

#include <string_view>
#include <utility>

#include <pybind11/pybind11.h>

#include "tacos/result.h"

namespace tacos::python {

namespace py = pybind11;

/// What may have the bytes of a file's name in it, which need not be UTF-8; those are written as
/// escapes.
[[nodiscard]] py::str text_of(std::string_view text);

/// Throws what Python sees as a tacos.Error of the kind in question.
[[noreturn]] void raise(const Error& error);

template <class T>
[[nodiscard]] T take(Result<T> result) {
  if (!result) {
    raise(result.error());
  }
  return *std::move(result);
}
inline void take(const Status& status) {
  if (!status) {
    raise(status.error());
  }
}

}  // namespace tacos::python
