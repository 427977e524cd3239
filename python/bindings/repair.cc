// SPDX-License-Identifier: MIT
// Schedules for a network in which something changed.
#include "tacos/repair.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "tacos/contingency.h"

#include "base/stopwatch.h"
#include "base/text/quantity.h"
#include "base/text/suggest.h"
#include "bindings.h"
#include "errors.h"
#include "outcome.h"
#include "work.h"

namespace tacos::python {
namespace {

RepairWay way_of(const std::string& name) {
  constexpr std::array<std::string_view, 3> kNames{"best", "keep", "fresh"};
  constexpr std::array kWays{RepairWay::kBest, RepairWay::kKeep, RepairWay::kFresh};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) {
      return kWays[i];
    }
  }
  raise(input_error(unknown_name("way", name, kNames)));
}

/// What has happened, and how to go on, as keywords say it.
struct RepairWishes {
  std::vector<std::string> failures;
  std::vector<std::string> restored;
  std::string way = "best";
  /// A folder of answers.
  std::optional<std::string> plans;
  /// When it happened, while the schedule ran.
  std::optional<std::string> at;
  int threads = 1;
};

struct Repaired {
  Outcome outcome;
  std::uint64_t kept = 0;
  std::uint64_t added = 0;
  /// The bundle is that of the outcome.
  std::optional<ResumedSchedule> resumed = std::nullopt;
};

/// From a contingency plan where it has the answer, else made now.
Result<Repair> find_or_make(const Repairer& repairer,
                            const NetworkChange& change,
                            const std::optional<std::string>& plans,
                            const RepairOptions& options) {
  if (plans) {
    Result<std::optional<Repair>> found = find_contingency(*plans, repairer.bundle(), change);
    if (!found) {
      return found.error();
    }
    if (*found) {
      return **std::move(found);
    }
  }
  return repairer.repair(change, options);
}

std::optional<Ticks> time_of(const RepairWishes& wishes) {
  if (wishes.failures.empty() && wishes.restored.empty()) {
    raise(input_error("say what has happened with fail or restore"));
  }
  if (!wishes.at) {
    return std::nullopt;
  }
  if (wishes.plans || !wishes.restored.empty()) {
    raise(input_error(
        fmt::format("at goes with fail, not with {}", wishes.plans ? "plans" : "restore")));
  }
  const Result<Ticks> at = parse_time(*wishes.at);
  return at ? *at : take(Result<Ticks>(input_error(at.error().message, "at " + *wishes.at)));
}

/// What is made of the schedule, nothing of which is verified yet.
Result<Repaired> made_by(const Repairer& repairer,
                         const RepairWishes& wishes,
                         std::optional<Ticks> at,
                         const RepairOptions& options) {
  const NetworkChange change{.failures = wishes.failures, .restored = wishes.restored};
  Repaired repaired;
  Result<Repair> made = input_error("");
  if (at) {
    Result<ResumedSchedule> resumed = repairer.repair_at(*at, change, options);
    if (!resumed) {
      return resumed.error();
    }
    made = resumed->repair;
    repaired.resumed = *std::move(resumed);
  } else {
    made = find_or_make(repairer, change, wishes.plans, options);
  }
  if (!made) {
    return made.error();
  }
  repaired.outcome.bundle = std::make_shared<Bundle>(std::move(made->bundle));
  repaired.kept = made->kept_transfers;
  repaired.added = made->new_transfers;
  return repaired;
}

Repaired repaired(const Bundle& bundle, const RepairWishes& wishes, py::object listener) {
  const std::optional<Ticks> at = time_of(wishes);
  const RepairWay way = way_of(wishes.way);
  return take(run(std::move(listener), [&](const Watch& watch) -> Result<Repaired> {
    const Stages stages(watch, {.synthesis = 0.5, .verification = 0.4});
    const Stopwatch watching;
    const Result<Repairer> repairer = Repairer::make(bundle);
    if (!repairer) {
      return repairer.error();
    }
    Result<Repaired> made = made_by(
        *repairer, wishes, at, {.way = way, .threads = wishes.threads, .cancel = watch.cancel});
    if (!made) {
      return made.error();
    }
    made->outcome.trials = 1;
    made->outcome.synthesis_seconds = watching.seconds();
    Result<Outcome> known = examined(std::move(made->outcome), stages, wishes.threads);
    if (!known) {
      return known.error();
    }
    made->outcome = *std::move(known);
    return made;
  }));
}

py::dict resumed_dict(const ResumedSchedule& resumed) {
  py::dict dict;
  dict["begins"] = resumed.begins.ps;
  dict["resumption"] = std::string(to_string(resumed.resumption));
  dict["arrived_moves"] = resumed.arrived_moves;
  dict["under_way_moves"] = resumed.under_way_moves;
  dict["lost_moves"] = resumed.lost_moves;
  dict["restarted_sums"] = resumed.restarted_sums;
  return dict;
}

}  // namespace

void bind_repair(py::module_& module) {
  py::class_<RepairWishes>(module, "RepairWishes")
      .def(py::init<>())
      .def_readwrite("failures", &RepairWishes::failures)
      .def_readwrite("restored", &RepairWishes::restored)
      .def_readwrite("way", &RepairWishes::way)
      .def_readwrite("plans", &RepairWishes::plans)
      .def_readwrite("at", &RepairWishes::at)
      .def_readwrite("threads", &RepairWishes::threads);
  module.def("repair", [](const Bundle& bundle, const RepairWishes& wishes, py::object listener) {
    Repaired made = repaired(bundle, wishes, std::move(listener));
    return py::make_tuple(std::move(made.outcome),
                          made.kept,
                          made.added,
                          made.resumed ? py::object(resumed_dict(*made.resumed)) : py::none());
  });
}

}  // namespace tacos::python
