// SPDX-License-Identifier: MIT
#include "pmpi/takeover.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "tacos/bundle.h"
#include "tacos/plan.h"

#include "execute/mapping.h"

namespace tacos::pmpi {
namespace {

std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

/// Calls that are our own while it lives.
class Busy {
 public:
  explicit Busy(bool& flag) : flag_(flag) { flag_ = true; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() { flag_ = false; }

 private:
  bool& flag_;
};

/// Bytes of the whole buffer, as plans count them.
std::int64_t whole_bytes(const Request& request, std::size_t ranks) {
  const bool parts = traits(request.kind).chunks_per != ChunksPer::kBuffer;
  return static_cast<std::int64_t>(request.call.count * element_bytes(request.call.type) *
                                   (parts ? ranks : 1));
}

int comm_size(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

}  // namespace

Takeover::Group::~Group() {
  loaded.clear();
  transports.reset();
  team.reset();
  if (comm != MPI_COMM_NULL) {
    PMPI_Comm_free(&comm);
  }
}

int forget_group(MPI_Comm /*comm*/, int /*key*/, void* group, void* /*extra*/) {
  Takeover& takeover = Takeover::instance();
  const bool was_busy = std::exchange(takeover.busy_, true);
  delete static_cast<Takeover::Group*>(group);
  takeover.busy_ = was_busy;
  return MPI_SUCCESS;
}

Takeover& Takeover::instance() {
  // Never destroyed, as MPI is over by then.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static auto* const one = new Takeover();
  return *one;
}

Takeover::Takeover()
    : plan_(from_environment("TACOS_PLAN")),
      map_(from_environment("TACOS_MAP")),
      verbose_(from_environment("TACOS_VERBOSE") == "1") {}

bool Takeover::active() {
  if (busy_ || plan_.empty()) {
    return false;
  }
  if (!ready_) {
    ready_ = true;
    const Busy busy(busy_);
    try {
      PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_group, &key_, nullptr);
      read_files(plan_);
      read_map(map_);
    } catch (const std::exception& error) {
      files_.clear();
      say_once(error.what());
    }
  }
  return true;
}

void Takeover::read_files(const std::string& directory) {
  std::error_code failure;
  if (std::filesystem::exists(std::filesystem::path(directory) / kPlanIndex, failure)) {
    read_entries(directory);
  } else {
    read_schedules(directory);
  }
}

void Takeover::read_entries(const std::string& directory) {
  const Result<Plan> plan = tacos::read_plan(directory);
  if (!plan) {
    say_once(plan.error().to_string());
    return;
  }
  for (const PlanEntry& entry : plan->entries) {
    files_.push_back({.path = (std::filesystem::path(directory) / entry.file).string(),
                      .kind = entry.kind,
                      .root = entry.root.value_or(entry.participants.front()),
                      .participants = entry.participants,
                      .least = entry.least.count,
                      .most = entry.most.count});
  }
}

void Takeover::read_schedules(const std::string& directory) {
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
    say_once(fmt::format("TACOS_PLAN {}: {}",
                         directory,
                         failure ? failure.message() : "has no schedules (*.tacos)"));
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const Result<Bundle> bundle = read_bundle(path);
    if (!bundle) {
      say_once(bundle.error().to_string());
      continue;
    }
    const auto participants = bundle->collective.participants();
    files_.push_back({.path = path,
                      .kind = bundle->collective.kind(),
                      .root = bundle->collective.root(),
                      .participants = {participants.begin(), participants.end()},
                      .least = bundle->collective.size().count,
                      .most = bundle->collective.size().count,
                      .others_too = true});
  }
}

void Takeover::read_map(const std::string& map) {
  MpiTeam world(MPI_COMM_WORLD);
  std::vector<NodeId> npus;
  for (std::uint32_t npu = 0; npu < static_cast<std::uint32_t>(world.size()); ++npu) {
    npus.emplace_back(npu);
  }
  const Result<std::vector<NodeId>> mapped = execution::map_members(world, npus, map);
  if (!mapped) {
    files_.clear();
    say_once(mapped.error().to_string());
    return;
  }
  npus_ = *mapped;
}

Takeover::Group& Takeover::group_of(MPI_Comm comm) {
  void* known = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, key_, &known, &found);
  if (found != 0) {
    return *static_cast<Group*>(known);
  }
  auto group = std::make_unique<Group>();
  PMPI_Comm_dup(comm, &group->comm);
  group->team = std::make_unique<MpiTeam>(group->comm);
  group->transports = std::make_unique<MpiTransports>(*group->team, group->comm);
  const int size = comm_size(comm);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> world_ranks(ranks.size());
  MPI_Group mine = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &mine);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(mine, size, ranks.data(), world, world_ranks.data());
  PMPI_Group_free(&mine);
  PMPI_Group_free(&world);
  for (const int rank : world_ranks) {
    // A process that another program started is no NPU of ours.
    group->npus.push_back(rank == MPI_UNDEFINED ? NodeId(~0U)
                                                : npus_[static_cast<std::size_t>(rank)]);
  }
  group->sorted = group->npus;
  std::sort(group->sorted.begin(), group->sorted.end());
  PMPI_Comm_set_attr(comm, key_, group.get());
  return *group.release();
}

std::optional<std::size_t> Takeover::best_file(const Group& group, const Request& request) const {
  const auto wanted = static_cast<double>(whole_bytes(request, group.npus.size()));
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const PlanFile& file = files_[i];
    const bool rooted = is_rooted(file.kind);
    if (file.kind != request.kind || file.participants != group.sorted ||
        (rooted && file.root != group.npus[static_cast<std::size_t>(request.root)])) {
      continue;
    }
    const auto middle =
        std::clamp(wanted, static_cast<double>(file.least), static_cast<double>(file.most));
    const double distance = std::fabs(std::log(wanted / middle));
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

LoadedSchedule* Takeover::load(Group& group, std::size_t file) {
  if (const auto loaded = group.loaded.find(file); loaded != group.loaded.end()) {
    return &loaded->second;
  }
  if (group.refused.contains(file)) {
    return nullptr;
  }
  const Result<Transport*> transport = group.transports->get("auto");
  Result<LoadedSchedule> made =
      transport ? LoadedSchedule::load(files_[file].path,
                                       *group.team,
                                       **transport,
                                       {.order = group.npus, .limit = std::chrono::hours(24)})
                : Result<LoadedSchedule>(transport.error());
  if (!made) {
    group.refused[file] = made.error().to_string();
    say_once(made.error().to_string());
    return nullptr;
  }
  return &group.loaded.emplace(file, *std::move(made)).first->second;
}

bool Takeover::attempt(const Request& request) {
  const Busy busy(busy_);
  try {
    Group& group = group_of(request.comm);
    const std::optional<std::size_t> file = best_file(group, request);
    if (!file) {
      fall_back(request.function, "no plan for it");
      return false;
    }
    LoadedSchedule* const schedule = load(group, *file);
    if (schedule == nullptr) {
      fall_back(request.function, "its plan cannot be used");
      return false;
    }
    if (const Status ran = schedule->run(request.call); !ran) {
      fall_back(request.function, "it failed");
      say_once(ran.error().to_string());
      return false;
    }
    ++taken_[request.function];
    return true;
  } catch (const std::exception& error) {
    fall_back(request.function, "it failed");
    say_once(error.what());
    return false;
  }
}

void Takeover::fall_back(const char* function, const std::string& reason) {
  ++fallen_[fmt::format("{} ({})", function, reason)];
}

bool Takeover::speaks() const {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

void Takeover::say_once(const std::string& sentence) {
  if (std::find(said_.begin(), said_.end(), sentence) == said_.end()) {
    said_.push_back(sentence);
    if (speaks()) {
      fmt::print(stderr, "tacos: {}\n", sentence);
    }
  }
}

void Takeover::end() {
  if (plan_.empty()) {
    return;
  }
  // Communicators that programs do not free.
  if (key_ != MPI_KEYVAL_INVALID) {
    for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
      void* known = nullptr;
      int found = 0;
      PMPI_Comm_get_attr(comm, key_, &known, &found);
      if (found != 0) {
        PMPI_Comm_delete_attr(comm, key_);
      }
    }
  }
  if (!verbose_ || !speaks()) {
    return;
  }
  const auto list = [](const std::map<std::string, std::uint64_t>& counts) {
    std::string text;
    for (const auto& [what, count] : counts) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
    }
    return text.empty() ? "none" : text;
  };
  fmt::print(stderr, "tacos: taken over: {}\n", list(taken_));
  fmt::print(stderr, "tacos: left to the library: {}\n", list(fallen_));
}

}  // namespace tacos::pmpi
