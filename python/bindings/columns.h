// SPDX-License-Identifier: MIT
// Arrays of the library as NumPy arrays that share their memory and cannot be written.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include <pybind11/numpy.h>

namespace tacos::python {

namespace py = pybind11;

/// `values` live as long as `owner`.
template <class T>
[[nodiscard]] py::array shared_array(std::span<const T> values, py::handle owner) {
  py::array array(
      py::dtype::of<T>(), {static_cast<py::ssize_t>(values.size())}, {}, values.data(), owner);
  array.attr("flags").attr("writeable") = false;
  return array;
}

/// Takes a vector, or anything like one, along.
template <class Vector>
[[nodiscard]] py::array owned_array(Vector values) {
  using T = typename Vector::value_type;
  auto owned = std::make_unique<Vector>(std::move(values));
  const std::span<const T> span(*owned);
  const py::capsule owner(owned.get(),
                          [](void* memory) { delete static_cast<Vector*>(memory); });  // NOLINT
  (void)owned.release();
  return shared_array(span, owner);
}

}  // namespace tacos::python
