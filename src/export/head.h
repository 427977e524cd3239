// SPDX-License-Identifier: MIT
// The HEAD section of a schedule file: the collective, and what the schedule was made by and for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tacos/bundle.h"
#include "tacos/result.h"

#include "base/text/json_reader.h"

namespace tacos {

struct Head {
  Collective collective;
  LinkModel link_model = LinkModel::kHold;
  std::string engine;
  std::uint64_t seed = 0;
};

[[nodiscard]] Json head_of(const Bundle& bundle);
/// `where` names the text in errors.
[[nodiscard]] Result<Head> read_head(std::string_view text,
                                     const std::string& where,
                                     std::uint32_t num_npus);

}  // namespace tacos
