// SPDX-License-Identifier: MIT
// The transfers go through replay::Machine, which gives them times; here they are counted. The
// critical path is followed backwards from what ended last, since each transfer remembers whom it
// waited for, and then read from the schedule once more.
//
// Cost: that of the machine, 0.1 to 0.2 us a transfer over direct links; memory as for the options.
#include "tacos/simulate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/memory/room.h"
#include "base/numbers/rng.h"
#include "base/numbers/wide.h"
#include "base/parallel/cancel.h"
#include "base/parallel/threads.h"
#include "replay/machine.h"
#include "replay/retime.h"
#include "schedule/read_ahead.h"

namespace tacos {
namespace {

using replay::Cause;
using replay::Made;

/// So many transfers before it is its turn a transfer is announced to the machine.
constexpr std::size_t kAhead = 12;

/// What is planned and what there is.
struct Scene {
  replay::Setting planned;
  replay::Setting actual;
  const Schedule& schedule;
  const SimulationOptions& options;
};

Scene scene_of(const Topology& topology,
               const Collective& collective,
               const Schedule& schedule,
               const SimulationOptions& options) {
  const Collective& chunks = options.collective != nullptr ? *options.collective : collective;
  return {.planned = {topology, collective.chunks()},
          .actual = {options.topology != nullptr ? *options.topology : topology, chunks.chunks()},
          .schedule = schedule,
          .options = options};
}

Status check_links(const Topology& topology, const Transfer& transfer) {
  const auto failed = std::find_if(transfer.links.begin(), transfer.links.end(), [&](LinkId link) {
    return topology.failed(link);
  });
  if (failed == transfer.links.end()) {
    return ok();
  }
  const Link& link = topology.link(*failed);
  return input_error(fmt::format("the schedule takes link {} from node {} to node {}, which has "
                                 "failed; synthesize or repair it for this network",
                                 failed->value(),
                                 link.src.value(),
                                 link.dst.value()),
                     topology.name());
}

/// Feeds the schedule to a machine.
Result<Ticks> run(const Scene& scene, replay::Machine& machine, int threads) {
  std::uint64_t done = 0;
  const Topology& topology = scene.actual.topology;
  const bool all_work = topology.num_working_links() == topology.num_links();
  const auto add = [&](const TransferBatch& batch) -> Status {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Transfer transfer = batch[i];
      if (!all_work) {
        if (Status work = check_links(topology, transfer); !work) {
          return work;
        }
      }
      machine.expect(batch[std::min(i + kAhead, batch.size() - 1)]);
      machine.add(transfer);
    }
    done += batch.size();
    if (scene.options.progress) {
      scene.options.progress(static_cast<double>(done) /
                             static_cast<double>(scene.schedule.num_transfers()));
    }
    return ok();
  };
  if (const Status read = read_batches(scene.schedule, threads, add); !read) {
    return read.error();
  }
  return machine.finish();
}

Status check_room(const Scene& scene, int machines) {
  const SimulationOptions& options = scene.options;
  const std::uint64_t places =
      std::uint64_t{scene.planned.topology.num_npus()} * scene.planned.chunks.count();
  const std::uint64_t each = 8 * places * (options.critical_path ? 2 : 1) +
                             scene.schedule.num_transfers() * (options.critical_path ? 16 : 0) +
                             scene.schedule.num_moves() * (options.schedule ? 40 : 0);
  return check_memory_room(each * static_cast<std::uint64_t>(machines),
                           std::nullopt,
                           "simulate a smaller network, or with fewer chunks",
                           scene.planned.topology.name());
}

/// What is kept of every transfer to find the critical path.
class Trail {
 public:
  explicit Trail(std::uint64_t transfers) : marks_(transfers) {}

  void add(const Made& made) {
    marks_[made.number] = {made.before << 2U | static_cast<std::uint64_t>(made.cause), made.start};
    if (made.end > last_end_ || (made.end == last_end_ && made.number < last_)) {
      last_end_ = made.end;
      last_ = made.number;
    }
  }

  /// Numbers, starts and causes, from the first to the last.
  [[nodiscard]] std::vector<CriticalStep> steps() const {
    std::vector<CriticalStep> steps;
    if (marks_.empty()) {
      return steps;
    }
    for (std::uint64_t number = last_;;) {
      const Mark& mark = marks_[number];
      const auto cause = static_cast<Cause>(mark.before & 3U);
      steps.push_back({.number = number, .start = mark.start, .wait = wait_of(cause)});
      if (cause == Cause::kNothing) {
        break;
      }
      number = mark.before >> 2U;
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

 private:
  struct Mark {
    std::uint64_t before = 0;
    Ticks start;
  };
  static CriticalStep::Wait wait_of(Cause cause) {
    switch (cause) {
      case Cause::kNothing:
        return CriticalStep::Wait::kNothing;
      case Cause::kData:
        return CriticalStep::Wait::kData;
      case Cause::kLink:
        return CriticalStep::Wait::kLink;
    }
    return CriticalStep::Wait::kNothing;
  }

  std::vector<Mark> marks_;
  std::uint64_t last_ = 0;
  Ticks last_end_{-1};
};

Ticks latency_of(const Topology& topology, const CriticalStep& step) {
  Ticks latency;
  for (const LinkId link : step.links) {
    latency += topology.link(link).latency;
  }
  return latency;
}

/// Reads what else the steps are from the schedule, and adds up their time.
Result<CriticalPath> critical_path(const Scene& scene, const Trail& trail) {
  CriticalPath path{.steps = trail.steps(), .latency = {}, .serialization = {}, .waiting = {}};
  std::vector<CriticalStep*> by_number;
  for (CriticalStep& step : path.steps) {
    by_number.push_back(&step);
  }
  std::sort(by_number.begin(), by_number.end(), [](const auto* a, const auto* b) {
    return a->number < b->number;
  });
  auto next = by_number.begin();
  std::uint64_t first = 0;
  const Status read =
      read_batches(scene.schedule, scene.options.threads, [&](const TransferBatch& batch) {
        for (; next != by_number.end() && (*next)->number < first + batch.size(); ++next) {
          const Transfer transfer = batch[(*next)->number - first];
          (*next)->links.assign(transfer.links.begin(), transfer.links.end());
          (*next)->chunk = transfer.chunks.front();
          (*next)->end = (*next)->start + route_time(scene.actual.topology,
                                                     transfer.links,
                                                     scene.actual.chunks.bytes(transfer.chunks));
        }
        first += batch.size();
        return ok();
      });
  if (!read) {
    return read.error();
  }
  for (std::size_t i = 0; i < path.steps.size(); ++i) {
    const CriticalStep& step = path.steps[i];
    if (i == 0) {
      path.waiting += step.start;
    }
    const bool last = i + 1 == path.steps.size();
    if (!last && path.steps[i + 1].wait == CriticalStep::Wait::kLink) {
      path.waiting += path.steps[i + 1].start - step.start;
      continue;
    }
    const Ticks latency = latency_of(scene.actual.topology, step);
    path.latency += latency;
    path.serialization += step.end - step.start - latency;
  }
  return path;
}

/// Keeps the transfers with their times.
class Recorder {
 public:
  void add(const Transfer& planned, const Made& made) {
    transfers_.append(planned);
    start_.push_back(made.start);
    end_.push_back(made.end);
  }
  [[nodiscard]] Schedule schedule(const Topology& topology) const {
    return replay::with_times(topology, transfers_, start_, end_);
  }

 private:
  TransferBatch transfers_;
  std::vector<Ticks> start_;
  std::vector<Ticks> end_;
};

/// Up to so many percent longer, by the number of the transfer: the same on any machine.
class Longer {
 public:
  Longer(double percent, std::uint64_t seed)
      : parts_(std::llround(percent * kParts / 100)), seed_(seed) {}

  Ticks operator()(std::uint64_t number, Ticks duration) const {
    const Int128 most = Int128{duration.ps} * parts_ / kParts;
    const std::uint64_t chance = mix64(seed_, number) >> 32U;
    return {static_cast<std::int64_t>(most * static_cast<std::int64_t>(chance) >> 32)};
  }

 private:
  static constexpr std::int64_t kParts = 1'000'000;
  std::int64_t parts_;
  std::uint64_t seed_;
};

Result<Simulation> run_once(const Topology& topology,
                            const Collective& collective,
                            const Schedule& schedule,
                            const SimulationOptions& options) {
  const Scene scene = scene_of(topology, collective, schedule, options);
  if (Status room = check_room(scene, 1); !room) {
    return room.error();
  }
  Trail trail(options.critical_path ? schedule.num_transfers() : 0);
  Recorder recorder;
  replay::MachineOptions machine_options{.link_model = options.link_model,
                                         .with_causes = options.critical_path};
  if (options.critical_path || options.schedule) {
    machine_options.take = [&](const Transfer& planned, const Made& made) {
      if (options.critical_path) {
        trail.add(made);
      }
      if (options.schedule) {
        recorder.add(planned, made);
      }
    };
  }
  replay::Machine machine(scene.planned, scene.actual, std::move(machine_options));
  const Result<Ticks> time = run(scene, machine, options.threads);
  if (!time) {
    return time.error();
  }
  Simulation simulation;
  simulation.time = *time;
  simulation.transfers = schedule.num_transfers();
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    simulation.busy.push_back(machine.clocks().busy(LinkId(id)));
  }
  if (options.critical_path) {
    Result<CriticalPath> path = critical_path(scene, trail);
    if (!path) {
      return path.error();
    }
    simulation.critical_path = *std::move(path);
  }
  if (options.schedule) {
    simulation.schedule = recorder.schedule(scene.actual.topology);
  }
  return simulation;
}

Result<std::vector<Ticks>> run_draws(const Topology& topology,
                                     const Collective& collective,
                                     const Schedule& schedule,
                                     const Jitter& jitter,
                                     const SimulationOptions& options) {
  SimulationOptions quiet = options;
  quiet.progress = {};
  quiet.critical_path = false;
  quiet.schedule = false;
  const Scene scene = scene_of(topology, collective, schedule, quiet);
  if (Status room = check_room(scene, options.threads); !room) {
    return room.error();
  }
  const auto draws = static_cast<std::size_t>(jitter.draws);
  std::vector<Result<Ticks>> times(draws, Ticks{});
  ThreadPool pool(options.threads);
  pool.for_ranges(draws, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t draw = begin; draw < end; ++draw) {
      replay::Machine machine(scene.planned,
                              scene.actual,
                              {.link_model = options.link_model,
                               .delay = Longer(jitter.percent, mix64(jitter.seed, draw))});
      times[draw] = run(scene, machine, 1);
    }
  });
  std::vector<Ticks> sorted;
  for (const Result<Ticks>& time : times) {
    if (!time) {
      return time.error();
    }
    sorted.push_back(*time);
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

double Simulation::utilization(const Topology& topology) const {
  double sum = 0;
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    sum += topology.failed(LinkId(id)) ? 0 : utilization(LinkId(id));
  }
  return topology.num_working_links() == 0 ? 0 : sum / topology.num_working_links();
}

Result<Simulation> simulate(const Topology& topology,
                            const Collective& collective,
                            const Schedule& schedule,
                            const SimulationOptions& options) {
  return cancellable(options.cancel,
                     [&] { return run_once(topology, collective, schedule, options); });
}

Result<std::vector<Ticks>> simulate_jitter(const Topology& topology,
                                           const Collective& collective,
                                           const Schedule& schedule,
                                           const Jitter& jitter,
                                           const SimulationOptions& options) {
  return cancellable(options.cancel,
                     [&] { return run_draws(topology, collective, schedule, jitter, options); });
}

}  // namespace tacos
