// SPDX-License-Identifier: MIT
#include "serve/loaded_schedule.h"

#include <utility>

#include <fmt/format.h>

#include "tacos/lower.h"
#include "tacos/verify.h"

#include "base/parallel/agree.h"
#include "execute/placement.h"
#include "execute/run_to_end.h"
#include "execute/transports/common_lanes.h"

namespace tacos {
namespace {

/// What the referee says; the first member asks it.
Status check(const std::string& file, const Bundle& bundle, const Team& team) {
  if (!team.leads()) {
    return ok();
  }
  const Result<VerifyReport> report = verify(
      bundle.topology, bundle.collective, bundle.schedule, {.link_model = bundle.link_model});
  if (!report) {
    return report.error();
  }
  if (!report->valid()) {
    return input_error(
        fmt::format("not a correct {}; 'tacos verify' tells all", bundle.collective.name()), file);
  }
  return ok();
}

}  // namespace

Result<LoadedSchedule::Ready> LoadedSchedule::prepare(
    const Bundle& bundle, Team& team, Transport& transport, const Options& options, bool in_place) {
  // Whatever one rank cannot do, all must know before they open lanes together.
  const Result<Runnable> runnable =
      lower_to_run(bundle.topology, bundle.collective, bundle.schedule, {.in_place = in_place});
  if (Status lowered = agree(team, runnable); !lowered) {
    return lowered.error();
  }
  const Result<execution::Placement> placement =
      execution::place(runnable->program, static_cast<std::uint32_t>(team.size()), options.order);
  if (Status placed = agree(team, placement); !placed) {
    return placed.error();
  }
  ExecuteOptions execute = placement->options();
  execute.limit = options.limit;
  const NodeId npu = placement->npus[static_cast<std::size_t>(team.member())];
  Result<Executor> executor = runnable->loop
                                  ? Executor::load(*runnable->loop, npu, transport, execute)
                                  : Executor::load(runnable->program, npu, transport, execute);
  if (Status loaded = agree(team, executor); !loaded) {
    return loaded.error();
  }
  return Ready{.executor = *std::move(executor)};
}

Status LoadedSchedule::prepare_all(const Bundle& bundle,
                                   Team& team,
                                   Transport& transport,
                                   const Options& options) {
  reduces_ = bundle.collective.reduces() || bundle.collective.form() == CollectiveForm::kGathered;
  execution::CommonLanes lanes(transport);
  Result<Ready> apart = prepare(bundle, team, lanes, options, false);
  if (!apart) {
    return apart.error();
  }
  apart_ = *std::move(apart);
  if (tacos::can_be_in_place(bundle.collective)) {
    Result<Ready> shared = prepare(bundle, team, lanes, options, true);
    if (!shared) {
      return shared.error();
    }
    in_place_ = *std::move(shared);
  }
  return ok();
}

Result<LoadedSchedule> LoadedSchedule::load(const std::string& file,
                                            Team& team,
                                            Transport& transport,
                                            const Options& options) {
  const Result<Bundle> bundle = read_bundle(file);
  if (Status read = agree(team, bundle); !read) {
    return read.error();
  }
  if (Status right = agree(team, check(file, *bundle, team)); !right) {
    return right.error();
  }
  Result<LoadedSchedule> made = load(*bundle, team, transport, options);
  if (!made) {
    Error error = std::move(made).error();
    error.where = error.where.empty() ? file : error.where;
    return error;
  }
  return made;
}

Result<LoadedSchedule> LoadedSchedule::load(const Bundle& bundle,
                                            Team& team,
                                            Transport& transport,
                                            const Options& options) {
  LoadedSchedule made;
  if (Status prepared = made.prepare_all(bundle, team, transport, options); !prepared) {
    return prepared.error();
  }
  return made;
}

Status LoadedSchedule::start(const Call& call) {
  std::optional<Ready>& ready = call.in_place ? in_place_ : apart_;
  if (!ready) {
    return input_error("this collective cannot be done in place");
  }
  if (ready->type != call.type || ready->count != call.count || ready->op != call.op) {
    ready->type.reset();
    if (Status bound = ready->executor.bind(call.count, call.type, call.op); !bound) {
      return bound;
    }
    ready->count = call.count;
    ready->type = call.type;
    ready->op = call.op;
  }
  runs_in_place_ = call.in_place;
  ready->executor.start(call.in_place ? call.output : call.input, call.output);
  return ok();
}

Status LoadedSchedule::run(const Call& call) {
  if (Status started = start(call); !started) {
    return started;
  }
  return execution::run_to_end(*this);
}

}  // namespace tacos
