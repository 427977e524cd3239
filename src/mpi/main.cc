// SPDX-License-Identifier: MIT
// tacos-mpi: synth by several processes, and schedules run by them, started by mpirun. The first
// rank speaks and writes files.
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include "base/assert.h"
#include "cli/app.h"
#include "cli/executables.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/streams.h"
#include "mpi/mpi_ranks.h"
#include "mpi/mpi_team.h"

namespace {

/// From now on what this process prints goes nowhere; returns where words went before.
int fall_silent() {
  const int words = ::dup(STDERR_FILENO);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) {
    (void)::dup2(nowhere, STDOUT_FILENO);
    (void)::dup2(nowhere, STDERR_FILENO);
    (void)::close(nowhere);
  }
  return words < 0 ? STDERR_FILENO : words;
}

}  // namespace

int main(int argc, char** argv) {
  // One thread at a time talks to the others, not always the same one: schedules are read ahead.
  int provided = MPI_THREAD_SINGLE;
  tacos::cli::claim_standard_streams();
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  tacos::cli::handle_interrupts();
  int words = STDERR_FILENO;
  auto code = tacos::cli::ExitCode::kInternal;
  try {
    if (provided < MPI_THREAD_SERIALIZED) {
      throw tacos::InternalError("this MPI library lets only one thread use it");
    }
    tacos::MpiTeam team(MPI_COMM_WORLD);
    if (!team.leads()) {
      words = fall_silent();
    }
    tacos::MpiRanks ranks(team, MPI_COMM_WORLD);
    code = tacos::cli::run(argc, argv, tacos::cli::tacos_mpi_executable(team, &ranks));
    // Nobody leaves before the leader has finished; MPI_Finalize would keep their cores busy.
    (void)all_gather(team, 0);
    if (!team.leads()) {
      // What went wrong went wrong everywhere, and the leader says so.
      code = tacos::cli::ExitCode::kGood;
    }
  } catch (const std::exception& error) {
    // The others do not know, and wait.
    const tacos::Error failure = tacos::cli::error_of(error);
    const std::string sentence =
        fmt::format("tacos-mpi: {}\n", tacos::cli::one_line(failure.to_string()));
    (void)!::write(words, sentence.data(), sentence.size());
    // Who waited for somebody has others who did, and they have something to say too.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(tacos::cli::exit_code(failure.code)));
  }
  (void)std::fflush(nullptr);
  MPI_Finalize();
  return static_cast<int>(code);
}
