// SPDX-License-Identifier: MIT
// Schedules for a network in which something changed.
#include "tacos/repair.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "tacos/contingency.h"

#include "base/stopwatch.h"
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

struct Repaired {
  Outcome outcome;
  std::uint64_t kept = 0;
  std::uint64_t added = 0;
};

/// From a contingency plan where it has the answer, else made now.
Result<Repair> find_or_make(const Bundle& bundle,
                            const NetworkChange& change,
                            const std::optional<std::string>& plans,
                            const RepairOptions& options) {
  if (plans) {
    Result<std::optional<Repair>> found = find_contingency(*plans, bundle, change);
    if (!found) {
      return found.error();
    }
    if (*found) {
      return **std::move(found);
    }
  }
  const Result<Repairer> repairer = Repairer::make(bundle);
  return repairer ? repairer->repair(change, options) : repairer.error();
}

Repaired repaired(const Bundle& bundle,
                  const NetworkChange& change,
                  const std::string& way,
                  const std::optional<std::string>& plans,
                  int threads,
                  py::object listener) {
  if (change.failures.empty() && change.restored.empty()) {
    raise(input_error("say what has happened with fail or restore"));
  }
  const RepairWay wanted = way_of(way);
  return take(run(std::move(listener), [&](const Watch& watch) -> Result<Repaired> {
    const Stages stages(watch, {.synthesis = 0.5, .verification = 0.4});
    const Stopwatch watching;
    Result<Repair> made = find_or_make(
        bundle, change, plans, {.way = wanted, .threads = threads, .cancel = watch.cancel});
    if (!made) {
      return made.error();
    }
    Outcome outcome{.bundle = std::make_shared<Bundle>(std::move(made->bundle))};
    outcome.trials = 1;
    outcome.synthesis_seconds = watching.seconds();
    Result<Outcome> known = examined(std::move(outcome), stages, threads);
    if (!known) {
      return known.error();
    }
    return Repaired{
        .outcome = *std::move(known), .kept = made->kept_transfers, .added = made->new_transfers};
  }));
}

}  // namespace

void bind_repair(py::module_& module) {
  module.def("repair",
             [](const Bundle& bundle,
                std::vector<std::string> failures,
                std::vector<std::string> restored,
                const std::string& way,
                const std::optional<std::string>& plans,
                int threads,
                py::object listener) {
               Repaired made =
                   repaired(bundle,
                            {.failures = std::move(failures), .restored = std::move(restored)},
                            way,
                            plans,
                            threads,
                            std::move(listener));
               return py::make_tuple(std::move(made.outcome), made.kept, made.added);
             });
}

}  // namespace tacos::python
