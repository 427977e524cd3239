// SPDX-License-Identifier: MIT
// tacos/mpi.h. Nothing leaves it but return codes: no exception, no word on a stream.
#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tacos/bundle.h"
#include "tacos/execute.h"
#include "tacos/lower.h"
#include "tacos/mpi.h"
#include "tacos/verify.h"

#include "execute/placement.h"
#include "mpi/datatypes.h"
#include "mpi/mpi_team.h"
#include "mpi/mpi_transport.h"

namespace {

using tacos::Bundle;
using tacos::ElementType;
using tacos::Error;
using tacos::Executor;
using tacos::Program;
using tacos::ReduceOp;
using tacos::Result;
using tacos::Status;

thread_local std::string last_error;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// An executor, and what it is bound to.
struct Ready {
  Executor executor;
  std::size_t count = 0;
  std::optional<ElementType> type;
  ReduceOp op = ReduceOp::kSum;

  Status bind(std::size_t new_count, ElementType new_type, ReduceOp new_op) {
    if (type == new_type && count == new_count && op == new_op) {
      return tacos::ok();
    }
    type.reset();
    if (Status bound = executor.bind(new_count, new_type, new_op); !bound) {
      return bound;
    }
    count = new_count;
    type = new_type;
    op = new_op;
    return tacos::ok();
  }
};

/// The same at all members: the error of the first that has one.
Status agree(tacos::Team& team, const Status& mine) {
  const std::optional<Error> first =
      tacos::first_error(team, mine ? std::nullopt : std::optional(mine.error()));
  return first ? Status(*first) : tacos::ok();
}

int say(int code, std::string sentence) {
  last_error = std::move(sentence);
  return code;
}
int code_of(const Error& error) {
  const bool input = error.code == tacos::ErrorCode::kInput;
  return say(input ? TACOS_MPI_INPUT : TACOS_MPI_INTERNAL, error.to_string());
}

}  // namespace

struct tacos_mpi_plan {
  explicit tacos_mpi_plan(MPI_Comm given) {
    MPI_Comm_dup(given, &comm);
    team = std::make_unique<tacos::MpiTeam>(comm);
    transport = std::make_unique<tacos::MpiTransport>(comm);
  }
  tacos_mpi_plan(const tacos_mpi_plan&) = delete;
  tacos_mpi_plan& operator=(const tacos_mpi_plan&) = delete;
  ~tacos_mpi_plan() {
    apart.reset();
    in_place.reset();
    transport.reset();
    MPI_Comm_free(&comm);
  }

  MPI_Comm comm = MPI_COMM_NULL;
  std::unique_ptr<tacos::MpiTeam> team;
  std::unique_ptr<tacos::MpiTransport> transport;
  bool reduces = false;
  std::optional<Ready> apart;
  /// Nothing where the collective cannot be done so. A rank may be in place while others are not:
  /// their messages are the same.
  std::optional<Ready> in_place;
};

namespace {

Result<Ready> prepare(const Bundle& bundle, tacos_mpi_plan& plan, bool in_place) {
  const Result<Program> program =
      tacos::lower(bundle.topology, bundle.collective, bundle.schedule, {.in_place = in_place});
  if (!program) {
    return program.error();
  }
  const Result<tacos::execution::Placement> placement =
      tacos::execution::place(*program, static_cast<std::uint32_t>(plan.team->size()));
  if (!placement) {
    return placement.error();
  }
  Result<Executor> executor =
      Executor::load(*program,
                     placement->npus[static_cast<std::size_t>(plan.team->member())],
                     *plan.transport,
                     placement->options());
  if (!executor) {
    return executor.error();
  }
  return Ready{.executor = *std::move(executor), .type = std::nullopt};
}

Status prepare_all(const Bundle& bundle, tacos_mpi_plan& plan) {
  plan.reduces = tacos::traits(bundle.collective.kind()).reduces || bundle.collective.reduces();
  Result<Ready> apart = prepare(bundle, plan, false);
  if (!apart) {
    return apart.error();
  }
  plan.apart = *std::move(apart);
  if (tacos::can_be_in_place(bundle.collective)) {
    Result<Ready> shared = prepare(bundle, plan, true);
    if (!shared) {
      return shared.error();
    }
    plan.in_place = *std::move(shared);
  }
  return tacos::ok();
}

/// What the referee says, to everybody; the first member asks it.
Result<bool> verified(const Bundle& bundle, tacos::Team& team) {
  Status mine = tacos::ok();
  bool valid = true;
  if (team.leads()) {
    const auto report = tacos::verify(
        bundle.topology, bundle.collective, bundle.schedule, {.link_model = bundle.link_model});
    mine = report ? tacos::ok() : Status(report.error());
    valid = report && report->valid();
  }
  if (Status agreed = agree(team, mine); !agreed) {
    return agreed.error();
  }
  return tacos::broadcast(team, 0, valid);
}

int load(const char* file, tacos_mpi_plan& plan) {
  const Result<Bundle> bundle = tacos::read_bundle(file);
  if (const Status read = agree(*plan.team, bundle ? tacos::ok() : Status(bundle.error())); !read) {
    return code_of(read.error());
  }
  const Result<bool> valid = verified(*bundle, *plan.team);
  if (!valid) {
    return code_of(valid.error());
  }
  if (!*valid) {
    return say(
        TACOS_MPI_WRONG,
        fmt::format(
            "{}: not a correct {}; 'tacos verify' tells all", file, bundle->collective.name()));
  }
  Status prepared = agree(*plan.team, prepare_all(*bundle, plan));
  if (!prepared) {
    Error error = std::move(prepared).error();
    error.where = error.where.empty() ? file : error.where;
    return code_of(error);
  }
  return TACOS_MPI_GOOD;
}

int run(tacos_mpi_plan& plan,
        const void* input,
        void* output,
        std::size_t count,
        MPI_Datatype type,
        MPI_Op op) {
  const std::optional<ElementType> element = tacos::element_type(type);
  const std::optional<ReduceOp> operation =
      plan.reduces ? tacos::reduce_op(op) : std::optional(ReduceOp::kSum);
  if (!element || !operation) {
    return say(TACOS_MPI_INPUT,
               element ? "this operation is not one of MPI_SUM, MPI_MIN, MPI_MAX and MPI_PROD"
                       : "this type is not one of those that can be used");
  }
  const bool shared = input == MPI_IN_PLACE || (input == output && input != nullptr);
  std::optional<Ready>& ready = shared ? plan.in_place : plan.apart;
  if (!ready) {
    return say(TACOS_MPI_INPUT, "this collective cannot be done in place");
  }
  if (const Status bound = ready->bind(count, *element, *operation); !bound) {
    return code_of(bound.error());
  }
  const Status ran = ready->executor.run(shared ? output : input, output);
  return ran ? TACOS_MPI_GOOD : code_of(ran.error());
}

}  // namespace

int tacos_mpi_load(const char* file, MPI_Comm comm, tacos_mpi_plan** plan) {
  *plan = nullptr;
  try {
    auto made = std::make_unique<tacos_mpi_plan>(comm);
    const int code = load(file, *made);
    if (code == TACOS_MPI_GOOD) {
      *plan = made.release();
    }
    return code;
  } catch (const std::exception& error) {
    return say(TACOS_MPI_INTERNAL, error.what());
  }
}

int tacos_mpi_run(tacos_mpi_plan* plan,
                  const void* input,
                  void* output,
                  size_t count,
                  MPI_Datatype type,
                  MPI_Op op) {
  try {
    return run(*plan, input, output, count, type, op);
  } catch (const std::exception& error) {
    return say(TACOS_MPI_INTERNAL, error.what());
  }
}

void tacos_mpi_free(tacos_mpi_plan* plan) {
  const std::unique_ptr<tacos_mpi_plan> last(plan);
}

const char* tacos_mpi_error(void) {
  return last_error.c_str();
}
