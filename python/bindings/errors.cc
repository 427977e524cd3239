// SPDX-License-Identifier: MIT
#include "errors.h"

namespace tacos::python {
namespace {

const char* class_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInternal:
      return "InternalError";
    case ErrorCode::kUsage:
    case ErrorCode::kInput:
      return "InputError";
    case ErrorCode::kInfeasible:
      return "InfeasibleError";
    case ErrorCode::kCancelled:
      return "CancelledError";
  }
  return "InternalError";
}

}  // namespace

py::str text_of(std::string_view text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "backslashreplace"));
}

void raise(const Error& error) {
  const py::module_ errors = py::module_::import("tacos.errors");
  const py::object type = errors.attr(class_name(error.code));
  const py::object sentence = errors.attr("sentence")(text_of(error.to_string()));
  const py::object exception = type(sentence);
  if (error.unreachable) {
    exception.attr("pair") =
        py::make_tuple(error.unreachable->first.value(), error.unreachable->second.value());
  }
  PyErr_SetObject(type.ptr(), exception.ptr());
  throw py::error_already_set();
}

}  // namespace tacos::python
