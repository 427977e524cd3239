// SPDX-License-Identifier: MIT
// Makes up programs and data, and runs them on the ranks that mpirun started, over each transport
// in turn.
//
//   mpirun -np N mpi_cases [CASES [SEED]]
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "base/numbers/rng.h"
#include "execute/transports/shared_memory.h"
#include "execute/transports/split.h"
#include "execute/transports/tcp.h"
#include "mpi/mpi_team.h"
#include "mpi/mpi_transport.h"
#include "support/execute_case.h"

namespace {

using namespace tacos;  // NOLINT(google-build-using-namespace)

/// Empty when this rank ended with the right result every time.
std::string run_here(const test::ExecuteCase& given, Team& team, Transport& transport) {
  const NodeId npu(static_cast<std::uint32_t>(team.member()));
  ExecuteOptions options;
  options.positions = given.positions;
  Result<Executor> executor = Executor::load(given.program, npu, transport, options);
  if (!executor) {
    return executor.error().to_string();
  }
  if (Status bound = executor->bind(given.count, given.type, given.op); !bound) {
    return bound.error().to_string();
  }
  for (int run = 0; run < 3; ++run) {
    test::CaseBuffers buffers = make_buffers(given, npu, *executor);
    if (Status ran = executor->run(buffers.input.data(), buffers.output.data()); !ran) {
      return ran.error().to_string();
    }
    if (const std::size_t wrong = wrong_elements(given, npu, buffers); wrong > 0) {
      return fmt::format("run {}: {} wrong elements", run, wrong);
    }
    if (given.collective().kind() == CollectiveKind::kAllReduce) {
      const std::string_view bits(reinterpret_cast<const char*>(result_of(given, npu, buffers)),
                                  test::result_elements(given, npu) * element_bytes(given.type));
      const std::size_t mine = std::hash<std::string_view>()(bits);
      for (const std::size_t other : all_gather(team, mine)) {
        if (other != mine) {
          return fmt::format("run {}: others end with other bits", run);
        }
      }
    }
  }
  return {};
}

/// How many cases were wrong at any rank.
int run_cases(Team& team, std::uint64_t cases, std::uint64_t seed) {
  MpiTransport mpi(MPI_COMM_WORLD);
  execution::SharedMemoryTransport shared(team);
  execution::TcpTransport tcp(team);
  std::vector<std::uint32_t> choice;
  for (int peer = 0; peer < team.size(); ++peer) {
    choice.push_back(static_cast<std::uint32_t>(peer + team.member()) % 3);
  }
  execution::SplitTransport split({&mpi, &shared, &tcp}, choice);
  Transport* const transports[] = {&mpi, &shared, &tcp, &split};
  constexpr const char* kNames[] = {"mpi", "shm", "tcp", "each pair its own"};
  int wrong = 0;
  for (std::uint64_t i = 0; i < cases; ++i) {
    const test::ExecuteCase given =
        test::any_execute_case(mix64(seed, i),
                               {.most_npus = static_cast<std::uint32_t>(team.size()),
                                .most_count = 100'000,
                                .fixed = true});
    const std::string failure = run_here(given, team, *transports[i % 4]);
    if (!failure.empty()) {
      fmt::print("case {} of seed {}, rank {}, {}: {}: {}\n",
                 i,
                 seed,
                 team.member(),
                 kNames[i % 4],
                 given.description,
                 failure);
      (void)std::fflush(stdout);
    }
    bool any = false;
    for (const bool failed : all_gather(team, !failure.empty())) {
      any = any || failed;
    }
    wrong += any ? 1 : 0;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::uint64_t cases = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  int wrong = 0;
  {
    MpiTeam team(MPI_COMM_WORLD);
    wrong = run_cases(team, cases, seed);
    if (team.leads()) {
      fmt::print("{} ranks: {} cases, {} wrong\n", team.size(), cases, wrong);
    }
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
