// SPDX-License-Identifier: MIT
// Apart from what makes plans: those who only use them need little else.
#include <filesystem>

#include <fmt/format.h>

#include "tacos/plan.h"

#include "base/files/file.h"
#include "plan/index.h"

namespace tacos {

Result<Plan> read_plan(const std::string& folder) {
  namespace fs = std::filesystem;
  const std::string path = (fs::path(folder) / kPlanIndex).string();
  const Result<std::string> text = read_text_file(path);
  if (!text) {
    return input_error("is no plan: " + text.error().to_string(), folder);
  }
  Result<Plan> plan = planning::parse_index(*text, path);
  if (!plan) {
    return plan;
  }
  for (const PlanEntry& entry : plan->entries) {
    for (const std::string& file : {entry.file, entry.exported}) {
      if (!file.empty() && !fs::exists(fs::path(folder) / file)) {
        return input_error(fmt::format("{} is missing; make the plan again", file), folder);
      }
    }
  }
  return plan;
}

}  // namespace tacos
