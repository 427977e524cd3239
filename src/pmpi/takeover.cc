// SPDX-License-Identifier: MIT
#include "pmpi/takeover.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <utility>

#include <fmt/format.h>

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
      ScheduleFolder folder = read_schedule_folder(plan_);
      files_ = std::move(folder.files);
      for (const std::string& problem : folder.problems) {
        say_once(problem);
      }
      read_map(map_);
    } catch (const std::exception& error) {
      files_.clear();
      say_once(error.what());
    }
  }
  return true;
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

std::optional<std::size_t> Takeover::file_for(const Group& group, const Request& request) const {
  return best_file(files_,
                   {.kind = request.kind,
                    .root = group.npus[static_cast<std::size_t>(request.root)],
                    .participants = group.sorted,
                    .bytes = whole_bytes(request.kind, request.call, group.npus.size())});
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
    const std::optional<std::size_t> file = file_for(group, request);
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
