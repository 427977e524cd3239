// SPDX-License-Identifier: MIT
#include "outcome.h"

#include <utility>

#include <fmt/format.h>

#include "tacos/verify.h"

#include "base/stopwatch.h"

namespace tacos::python {

Result<Outcome> examined(Outcome outcome, const Stages& stages, int threads) {
  const Bundle& bundle = *outcome.bundle;
  const Stopwatch verifying;
  Result<VerifyReport> report = verify(bundle.topology,
                                       bundle.collective,
                                       bundle.schedule,
                                       {.link_model = bundle.link_model,
                                        .threads = threads,
                                        .progress = stages.verification(),
                                        .cancel = stages.watch().cancel});
  if (!report) {
    return report.error();
  }
  outcome.verify_seconds = verifying.seconds();
  outcome.violations = std::move(report->violations);
  const Stopwatch bounding;
  Result<BoundReport> bound = compute_bounds(bundle.topology,
                                             bundle.collective,
                                             {.effort = effort_beside_schedule(bundle.topology),
                                              .link_model = bundle.link_model,
                                              .cancel = stages.watch().cancel});
  if (!bound) {
    return bound.error();
  }
  outcome.bound_seconds = bounding.seconds();
  outcome.bound = *std::move(bound);
  const Ticks time = bundle.schedule.collective_time();
  if (outcome.violations.empty() && outcome.bound.best.time > time) {
    return Error{.code = ErrorCode::kInternal,
                 .message = fmt::format("the bound of {} ps is above the schedule's {} ps",
                                        outcome.bound.best.time.ps,
                                        time.ps),
                 .where = bundle.topology.name()};
  }
  return outcome;
}

}  // namespace tacos::python
