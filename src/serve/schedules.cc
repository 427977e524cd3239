// SPDX-License-Identifier: MIT
// A schedule serves the sizes up to its own from half of it; one for each power of two is few, and
// each is at most so much off as a factor of two matters.
#include "serve/schedules.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "tacos/plan.h"
#include "tacos/synthesize.h"
#include "tacos/verify.h"

#include "base/parallel/agree.h"

namespace tacos {
namespace {

/// Below this the latency is all that matters.
constexpr std::int64_t kLeastSize = 1024;

/// Every rank reaches every other, as through the memory of a machine, or a good switch.
Result<Topology> default_network(std::size_t ranks) {
  return parse_topology_spec(
      fmt::format("fc:{},bw=2GBps,lat=10us", std::max<std::size_t>(ranks, 2)));
}

Status check_ranks(const std::string& what, std::uint32_t npus, std::uint32_t ranks) {
  if (npus != ranks) {
    return input_error(
        fmt::format("is for {} NPUs, but there are {} ranks; start {} of them, or give ranks their "
                    "NPUs with TACOS_MAP",
                    npus,
                    ranks,
                    npus),
        what);
  }
  return ok();
}

}  // namespace

Status Schedules::read(std::uint32_t ranks) {
  if (!options_.plan.empty()) {
    ScheduleFolder folder = read_schedule_folder(options_.plan);
    if (!folder.problems.empty()) {
      return input_error(folder.problems.front() +
                         "; make a plan with 'tacos plan', or unset TACOS_PLAN");
    }
    files_ = std::move(folder.files);
    const Result<Plan> plan = read_plan(options_.plan);
    return plan && options_.world ? check_ranks("TACOS_PLAN", plan->npus, *options_.world) : ok();
  }
  Result<Topology> topology =
      options_.topology.empty() ? default_network(ranks) : load_topology(options_.topology);
  if (!topology) {
    Error error = std::move(topology).error();
    error.where = error.where.empty() ? "TACOS_TOPOLOGY" : "TACOS_TOPOLOGY: " + error.where;
    return error;
  }
  if (options_.topology.empty()) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      options_.npus[rank] = NodeId(rank);
    }
  } else if (options_.world) {
    if (Status fits = check_ranks("TACOS_TOPOLOGY", topology->num_npus(), *options_.world); !fits) {
      return fits;
    }
  }
  for (const NodeId npu : options_.npus) {
    if (npu.value() >= topology->num_npus()) {
      return input_error(fmt::format("NPU {} does not exist in the network, which has {}",
                                     npu.value(),
                                     topology->num_npus()),
                         "TACOS_MAP");
    }
  }
  topology_ = *std::move(topology);
  return ok();
}

Status Schedules::check_alike(Team& team) const {
  std::string text = topology_ ? topology_to_json(*topology_) : std::string();
  for (const ScheduleFile& file : files_) {
    text += fmt::format("{} {} {} {}\n", file.path, to_string(file.kind), file.least, file.most);
  }
  for (const NodeId npu : options_.npus) {
    text += fmt::format("{} ", npu.value());
  }
  Packet packet;
  put_text(packet, text);
  const std::vector<Packet> all = all_gather(team, packet);
  const auto other =
      std::find_if(all.begin(), all.end(), [&](const Packet& one) { return one != all.front(); });
  if (other == all.end()) {
    return ok();
  }
  return input_error(
      fmt::format("rank {} has another network, plan or map than rank 0; set TACOS_TOPOLOGY, "
                  "TACOS_PLAN and TACOS_MAP alike for all ranks",
                  other - all.begin()));
}

Result<Schedules> Schedules::open(Team& team, Options options) {
  Schedules made;
  made.options_ = std::move(options);
  const auto ranks = static_cast<std::uint32_t>(team.size());
  if (Status read = agree(team, made.read(ranks)); !read) {
    return read.error();
  }
  made.sorted_ = made.options_.npus;
  std::sort(made.sorted_.begin(), made.sorted_.end());
  const bool twice =
      std::adjacent_find(made.sorted_.begin(), made.sorted_.end()) != made.sorted_.end();
  if (twice) {
    return input_error("an NPU is given to two ranks", "TACOS_MAP");
  }
  if (Status alike = made.check_alike(team); !alike) {
    return alike.error();
  }
  return made;
}

std::optional<Schedules::Use> Schedules::find(CollectiveKind kind,
                                              int root,
                                              const LoadedSchedule::Call& call) {
  const NodeId npu = options_.npus[static_cast<std::size_t>(root)];
  const std::int64_t bytes = whole_bytes(kind, call, sorted_.size());
  std::size_t* number = nullptr;
  if (topology_) {
    const auto size = std::max(
        kLeastSize, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(bytes))));
    const std::uint32_t at = is_rooted(kind) ? npu.value() : 0;
    const auto [found, is_new] =
        made_.try_emplace({static_cast<int>(kind), at, size}, entries_.size());
    number = &found->second;
    if (is_new) {
      Entry& entry = entries_.emplace_back();
      entry.kind = kind;
      entry.root = npu;
      entry.size = Bytes{size};
    }
  } else {
    const std::optional<std::size_t> file =
        best_file(files_, {.kind = kind, .root = npu, .participants = sorted_, .bytes = bytes});
    if (!file) {
      return std::nullopt;
    }
    const auto [found, is_new] = read_.try_emplace(*file, entries_.size());
    number = &found->second;
    if (is_new) {
      Entry& entry = entries_.emplace_back();
      entry.kind = kind;
      entry.root = npu;
      entry.path = files_[*file].path;
      entry.name = entry.path;
    }
  }
  if (entries_[*number].refused) {
    return std::nullopt;
  }
  return Use{.number = *number};
}

LoadedSchedule* Schedules::loaded(Use use) {
  std::optional<LoadedSchedule>& one = entries_[use.number].loaded;
  return one ? &*one : nullptr;
}

Result<Bundle> Schedules::make(const Entry& entry) const {
  // Ranks that are not of this group do not pass anything on for it.
  const bool all = sorted_.size() == topology_->num_npus();
  Topology network = all ? *topology_ : without_relays(*topology_, sorted_);
  Problem problem{.kind = entry.kind, .size = entry.size, .participants = sorted_};
  if (is_rooted(entry.kind)) {
    problem.root = entry.root;
  }
  Result<Synthesis> found = synthesize(network, problem, {.effort = options_.effort});
  if (!found) {
    return found.error();
  }
  if (found->status != SynthesisStatus::kFeasible) {
    return input_error("the network has no way between some ranks of the group but past others");
  }
  Bundle bundle{.topology = std::move(network),
                .collective = *std::move(found->collective),
                .link_model = LinkModel::kHold,
                .schedule = *std::move(found->schedule),
                .engine = found->engine,
                .seed = 1};
  const Result<VerifyReport> report =
      verify(bundle.topology, bundle.collective, bundle.schedule, {});
  if (!report || !report->valid()) {
    return Error{.code = ErrorCode::kInternal,
                 .message = fmt::format("engine {} made a wrong schedule", bundle.engine),
                 .where = {}};
  }
  return bundle;
}

Result<LoadedSchedule> Schedules::load_entry(Entry& entry, Team& team, Transport& transport) {
  const LoadedSchedule::Options options{.order = options_.npus, .limit = std::chrono::hours(24)};
  if (!entry.path.empty()) {
    return LoadedSchedule::load(entry.path, team, transport, options);
  }
  const Result<Bundle> bundle = make(entry);
  if (Status made = agree(team, bundle); !made) {
    return made.error();
  }
  entry.name = fmt::format("{} for {} bytes", bundle->engine, entry.size.count);
  return LoadedSchedule::load(*bundle, team, transport, options);
}

LoadedSchedule* Schedules::load(Use use, Team& team, Transport& transport) {
  Entry& entry = entries_[use.number];
  Result<LoadedSchedule> made = load_entry(entry, team, transport);
  if (!made) {
    reason_ = made.error().to_string();
    entry.refused = true;
    return nullptr;
  }
  entry.loaded = *std::move(made);
  return &*entry.loaded;
}

}  // namespace tacos
