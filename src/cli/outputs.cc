// SPDX-License-Identifier: MIT
#include "cli/outputs.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/files/file.h"

namespace tacos::cli {
namespace {

Result<std::vector<FileTarget>> targets_of(const Outputs& outputs) {
  std::vector<FileTarget> targets;
  for (const auto* name : {&outputs.schedule, &outputs.trace}) {
    if (!*name) {
      continue;
    }
    Result<FileTarget> target = find_target(**name);
    if (!target) {
      return target.error();
    }
    targets.push_back(*std::move(target));
  }
  return targets;
}

bool fill_standard_output(std::span<const FileTarget> targets) {
  return std::any_of(targets.begin(), targets.end(), [](const FileTarget& target) {
    return target.is_standard_output();
  });
}

Error usage_error(std::string message, std::string where) {
  return {.code = ErrorCode::kUsage, .message = std::move(message), .where = std::move(where)};
}

}  // namespace

Status check_outputs(const Outputs& outputs, bool json) {
  const Result<std::vector<FileTarget>> targets = targets_of(outputs);
  if (!targets) {
    return targets.error();
  }
  if (targets->size() == 2 && same_target(targets->front(), targets->back())) {
    return usage_error("is where both -o and --trace shall go; write one of them elsewhere",
                       targets->front().name);
  }
  if (json && fill_standard_output(*targets)) {
    return usage_error("is where --json prints; write the file elsewhere", "standard output");
  }
  for (const FileTarget& target : *targets) {
    if (Status writable = check_writable(target); !writable) {
      return writable;
    }
  }
  return ok();
}

std::FILE* report_stream(const Outputs& outputs) {
  const Result<std::vector<FileTarget>> targets = targets_of(outputs);
  return targets && fill_standard_output(*targets) ? stderr : stdout;
}

}  // namespace tacos::cli
