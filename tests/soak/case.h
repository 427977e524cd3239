// SPDX-License-Identifier: MIT
// Random problems, as the command line would have them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tacos/topology.h"

#include "cli/task.h"

namespace tacos::soak {

struct TextFile {
  std::string path;
  std::string text;
};

/// One problem, and all the options that change its result.
struct Case {
  cli::TaskArguments task;
  std::optional<std::int64_t> chunks;
  std::optional<std::int64_t> trials;
  LinkModel link_model = LinkModel::kHold;
  std::uint64_t seed = 1;
  /// What `task` names and must be written before it is loaded.
  std::vector<TextFile> files;
};

/// Equal numbers give equal cases. Their files belong below `folder`.
[[nodiscard]] Case random_case(std::uint64_t number, const std::string& folder);

/// The `tacos synth` that does it, to be typed into a shell; `more` are the options --link-model,
/// --engine and --threads.
[[nodiscard]] std::string command_of(const Case& given, std::string_view more);

}  // namespace tacos::soak
