// SPDX-License-Identifier: MIT
// What the executor costs: the same ring All-Reduce written by hand with MPI, run by an executor
// over MPI, and by the MPI library, in turns. Prints the least time of each, of the slowest rank.
//
//   mpirun --allow-run-as-root --oversubscribe -np 8 ring_bench [ITERATIONS [TRANSPORT]]
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "tacos/execute.h"
#include "tacos/lower.h"
#include "tacos/synthesize.h"

#include "execute/transports/shared_memory.h"
#include "execute/transports/tcp.h"
#include "mpi/mpi_team.h"
#include "mpi/mpi_transport.h"

namespace {

using namespace tacos;  // NOLINT(google-build-using-namespace)

/// As one writes it: a Reduce-Scatter, then an All-Gather, of as many pieces as there are ranks.
void ring_by_hand(const float* input, float* output, std::size_t count, std::vector<float>& room) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int right = (rank + 1) % ranks;
  const int left = (rank + ranks - 1) % ranks;
  const auto begin = [&](int piece) {
    return static_cast<std::size_t>((piece % ranks + ranks) % ranks) * count /
           static_cast<std::size_t>(ranks);
  };
  const auto length = [&](int piece) {
    const auto number = static_cast<std::size_t>((piece % ranks + ranks) % ranks);
    return static_cast<int>((number + 1) * count / static_cast<std::size_t>(ranks) - begin(piece));
  };
  std::memcpy(output, input, count * sizeof(float));
  for (int step = 0; step < ranks - 1; ++step) {
    const int gone = rank - step;
    const int come = rank - step - 1;
    MPI_Request requests[2];
    MPI_Irecv(room.data(), length(come), MPI_FLOAT, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(
        output + begin(gone), length(gone), MPI_FLOAT, right, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    float* __restrict const to = output + begin(come);
    const float* __restrict const from = room.data();
    for (int i = 0; i < length(come); ++i) {
      to[i] += from[i];
    }
  }
  for (int step = 0; step < ranks - 1; ++step) {
    const int gone = rank + 1 - step;
    const int come = rank - step;
    MPI_Request requests[2];
    MPI_Irecv(output + begin(come), length(come), MPI_FLOAT, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(
        output + begin(gone), length(gone), MPI_FLOAT, right, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

/// A schedule that is the same ring.
Program ring_program(std::uint32_t ranks) {
  const Topology ring = *parse_topology_spec(fmt::format("ring:{}", ranks));
  Problem problem{.kind = CollectiveKind::kAllReduce, .size = {1 << 20}, .chunks = ranks};
  for (std::uint32_t npu = 0; npu < ranks; ++npu) {
    problem.participants.emplace_back(npu);
  }
  const Synthesis made = *synthesize(ring, problem, {.engine = "ring"});
  return *lower(ring, *made.collective, *made.schedule);
}

/// What a run takes, of the slowest rank.
template <class Run>
double time_of(const Run& run) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  run();
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

void measure(Executor& executor, std::size_t bytes, int iterations, bool speaks) {
  const std::size_t count = bytes / sizeof(float);
  std::vector<float> input(count, 1);
  std::vector<float> by_hand(count);
  std::vector<float> ours(count);
  std::vector<float> library(count);
  std::vector<float> room(count);
  if (!executor.bind(count, ElementType::kFloat32, ReduceOp::kSum)) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  double least[3];
  std::fill(std::begin(least), std::end(least), std::numeric_limits<double>::max());
  for (int i = 0; i < iterations; ++i) {
    const double times[] = {
        time_of([&] { ring_by_hand(input.data(), by_hand.data(), count, room); }),
        time_of([&] {
          if (!executor.run(input.data(), ours.data())) {
            MPI_Abort(MPI_COMM_WORLD, 1);
          }
        }),
        time_of([&] {
          MPI_Allreduce(input.data(),
                        library.data(),
                        static_cast<int>(count),
                        MPI_FLOAT,
                        MPI_SUM,
                        MPI_COMM_WORLD);
        })};
    for (std::size_t one = 0; one < 3; ++one) {
      least[one] = std::min(least[one], times[one]);
    }
  }
  if (by_hand != ours || by_hand != library) {
    fmt::print(stderr, "ring_bench: results differ\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (speaks) {
    fmt::print("{:>10} {:>12.1f} {:>12.1f} {:>12.1f} {:>16.2f}\n",
               bytes >> 10U,
               least[0] * 1e6,
               least[1] * 1e6,
               least[2] * 1e6,
               least[1] / least[0]);
    (void)std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int iterations = argc > 1 ? std::atoi(argv[1]) : 50;
  {
    MpiTeam team(MPI_COMM_WORLD);
    const auto ranks = static_cast<std::uint32_t>(team.size());
    const std::string_view name = argc > 2 ? argv[2] : "mpi";
    MpiTransport mpi(MPI_COMM_WORLD);
    execution::SharedMemoryTransport shared(team);
    execution::TcpTransport tcp(team);
    Transport* const transport = name == "shm"   ? static_cast<Transport*>(&shared)
                                 : name == "tcp" ? static_cast<Transport*>(&tcp)
                                                 : &mpi;
    Executor executor = *Executor::load(
        ring_program(ranks), NodeId(static_cast<std::uint32_t>(team.member())), *transport);
    if (team.leads()) {
      fmt::print("{:>10} {:>12} {:>12} {:>12} {:>16}\n",
                 "size, KiB",
                 "by hand, us",
                 "ours, us",
                 "library, us",
                 "ours / by hand");
    }
    for (std::size_t bytes = std::size_t{64} << 10U; bytes <= std::size_t{16} << 20U; bytes *= 4) {
      measure(executor, bytes, iterations, team.leads());
    }
  }
  MPI_Finalize();
}
