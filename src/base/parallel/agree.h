// SPDX-License-Identifier: MIT
// Members of a team go on together, or give up together.
#pragma once

#include <optional>

#include "tacos/result.h"

#include "base/parallel/team.h"

namespace tacos {

/// The error of the first member that has one, at all of them.
[[nodiscard]] inline Status agree(Team& team, const Status& mine) {
  const std::optional<Error> first =
      first_error(team, mine ? std::nullopt : std::optional(mine.error()));
  return first ? Status(*first) : ok();
}
template <class T>
[[nodiscard]] Status agree(Team& team, const Result<T>& mine) {
  return agree(team, mine ? ok() : Status(mine.error()));
}

}  // namespace tacos
