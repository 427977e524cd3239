// SPDX-License-Identifier: MIT
// O(files) to find one.
#include "serve/schedule_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "tacos/bundle.h"
#include "tacos/plan.h"

namespace tacos {
namespace {

void read_entries(const std::string& directory, ScheduleFolder& folder) {
  const Result<Plan> plan = read_plan(directory);
  if (!plan) {
    folder.problems.push_back(plan.error().to_string());
    return;
  }
  folder.files.reserve(plan->entries.size());
  for (const PlanEntry& entry : plan->entries) {
    folder.files.push_back({.path = (std::filesystem::path(directory) / entry.file).string(),
                            .kind = entry.kind,
                            .root = entry.root.value_or(entry.participants.front()),
                            .participants = entry.participants,
                            .least = entry.least.count,
                            .most = entry.most.count});
  }
}

std::vector<std::string> schedule_paths(const std::string& directory, ScheduleFolder& folder) {
  std::vector<std::string> paths;
  std::error_code failure;
  for (std::filesystem::recursive_directory_iterator at(directory, failure), end;
       !failure && at != end;
       at.increment(failure)) {
    if (at->path().extension() == ".tacos") {
      paths.push_back(at->path().string());
    }
  }
  if (failure || paths.empty()) {
    folder.problems.push_back(
        fmt::format("TACOS_PLAN {}: {}",
                    directory,
                    failure ? failure.message() : "has no schedules (*.tacos)"));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void read_loose(const std::string& directory, ScheduleFolder& folder) {
  for (const std::string& path : schedule_paths(directory, folder)) {
    const Result<Bundle> bundle = read_bundle(path);
    if (!bundle) {
      folder.problems.push_back(bundle.error().to_string());
      continue;
    }
    const auto participants = bundle->collective.participants();
    folder.files.push_back({.path = path,
                            .kind = bundle->collective.kind(),
                            .root = bundle->collective.root(),
                            .participants = {participants.begin(), participants.end()},
                            .least = bundle->collective.size().count,
                            .most = bundle->collective.size().count,
                            .others_too = true});
  }
}

}  // namespace

ScheduleFolder read_schedule_folder(const std::string& directory) {
  ScheduleFolder folder;
  std::error_code failure;
  if (std::filesystem::exists(std::filesystem::path(directory) / kPlanIndex, failure)) {
    read_entries(directory, folder);
  } else {
    read_loose(directory, folder);
  }
  return folder;
}

std::int64_t whole_bytes(CollectiveKind kind, const LoadedSchedule::Call& call, std::size_t ranks) {
  const bool parts = traits(kind).chunks_per != ChunksPer::kBuffer;
  return static_cast<std::int64_t>(call.count * element_bytes(call.type) * (parts ? ranks : 1));
}

std::optional<std::size_t> best_file(std::span<const ScheduleFile> files, const Wanted& wanted) {
  const auto bytes = static_cast<double>(wanted.bytes);
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const ScheduleFile& file = files[i];
    if (file.kind != wanted.kind ||
        !std::equal(file.participants.begin(),
                    file.participants.end(),
                    wanted.participants.begin(),
                    wanted.participants.end()) ||
        (is_rooted(file.kind) && file.root != wanted.root)) {
      continue;
    }
    const auto middle =
        std::clamp(bytes, static_cast<double>(file.least), static_cast<double>(file.most));
    const double distance = std::fabs(std::log(bytes / middle));
    if (distance > 0 && !file.others_too) {
      continue;
    }
    if (!best || distance < least) {
      best = i;
      least = distance;
    }
  }
  return best;
}

}  // namespace tacos
