// SPDX-License-Identifier: MIT
// What form a schedule has, for tests that want a certain one.
#pragma once

#include <variant>

#include "schedule/source.h"

namespace tacos::testing {

/// Null when it has another form.
template <class Form>
[[nodiscard]] const Form* form_of(const Schedule& schedule) {
  const ScheduleForm form = source_of(schedule).form();
  const auto* const wanted = std::get_if<const Form*>(&form);
  return wanted == nullptr ? nullptr : *wanted;
}

}  // namespace tacos::testing
