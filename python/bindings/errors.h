// SPDX-License-Identifier: MIT
// Errors of the library as exceptions of tacos.errors.
#pragma once

#include <utility>

#include <pybind11/pybind11.h>

#include "tacos/result.h"

namespace tacos::python {

namespace py = pybind11;

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
