// SPDX-License-Identifier: MIT
// tacos/mpi.h. Nothing leaves it but return codes: no exception, no word on a stream.
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tacos/execute.h"
#include "tacos/mpi.h"

#include "mpi/datatypes.h"
#include "mpi/mpi_team.h"
#include "mpi/mpi_transports.h"
#include "serve/loaded_schedule.h"

struct tacos_mpi_plan {
  explicit tacos_mpi_plan(MPI_Comm given) {
    MPI_Comm_dup(given, &comm);
    team = std::make_unique<tacos::MpiTeam>(comm);
    transports = std::make_unique<tacos::MpiTransports>(*team, comm);
  }
  tacos_mpi_plan(const tacos_mpi_plan&) = delete;
  tacos_mpi_plan& operator=(const tacos_mpi_plan&) = delete;
  ~tacos_mpi_plan() {
    schedule.reset();
    transports.reset();
    MPI_Comm_free(&comm);
  }

  MPI_Comm comm = MPI_COMM_NULL;
  std::unique_ptr<tacos::MpiTeam> team;
  std::unique_ptr<tacos::MpiTransports> transports;
  std::optional<tacos::LoadedSchedule> schedule;
};

namespace {

using tacos::ElementType;
using tacos::Error;
using tacos::ErrorCode;
using tacos::LoadedSchedule;
using tacos::ReduceOp;
using tacos::Result;
using tacos::Status;

thread_local std::string last_error;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

int say(int code, std::string sentence) {
  last_error = std::move(sentence);
  return code;
}

int code_of(const Error& error) {
  const bool input = error.code == ErrorCode::kInput;
  return say(input ? TACOS_MPI_INPUT : TACOS_MPI_INTERNAL, error.to_string());
}

int load(const char* file, tacos_mpi_plan& plan) {
  const Result<tacos::Transport*> transport = plan.transports->get("auto");
  if (!transport) {
    return code_of(transport.error());
  }
  Result<LoadedSchedule> schedule = LoadedSchedule::load(file, *plan.team, **transport, {});
  if (!schedule) {
    return code_of(schedule.error());
  }
  plan.schedule = *std::move(schedule);
  return TACOS_MPI_GOOD;
}

int run(LoadedSchedule& schedule, LoadedSchedule::Call call, MPI_Datatype type, MPI_Op op) {
  const std::optional<ElementType> element = tacos::element_type(type);
  const std::optional<ReduceOp> operation =
      schedule.reduces() ? tacos::reduce_op(op) : std::optional(ReduceOp::kSum);
  if (!element || !operation) {
    return say(TACOS_MPI_INPUT,
               element ? "this operation is not one of MPI_SUM, MPI_MIN, MPI_MAX and MPI_PROD"
                       : "this type is not one of those that can be used");
  }
  call.type = *element;
  call.op = *operation;
  const Status ran = schedule.run(call);
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
    const bool in_place = input == MPI_IN_PLACE || (input == output && input != nullptr);
    return run(*plan->schedule,
               {.input = input, .output = output, .count = count, .in_place = in_place},
               type,
               op);
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
