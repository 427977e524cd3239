// SPDX-License-Identifier: MIT
#include "mpi/mpi_ranks.h"

#include <chrono>

#include "mpi/datatypes.h"

namespace tacos {

MpiRanks::~MpiRanks() {
  if (chosen_ != MPI_COMM_NULL) {
    MPI_Comm_free(&chosen_);
  }
}

void MpiRanks::choose(bool takes_part) {
  if (chosen_ != MPI_COMM_NULL) {
    MPI_Comm_free(&chosen_);
  }
  MPI_Comm_split(comm_, takes_part ? 0 : MPI_UNDEFINED, team_.member(), &chosen_);
}

bool MpiRanks::barrier(std::chrono::milliseconds limit) {
  // The clock is asked seldom.
  constexpr int kSeldom = 1024;
  const auto start = std::chrono::steady_clock::now();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm_, &request);
  for (int turn = 1;; ++turn) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) {
      return true;
    }
    if (turn % kSeldom == 0 && std::chrono::steady_clock::now() - start > limit) {
      return false;
    }
  }
}

void MpiRanks::call_library(const cli::LibraryCall& call) {
  const MPI_Datatype type = mpi_datatype(call.type);
  const MpiOp op(call.type, call.op);
  const auto count = static_cast<int>(call.count);
  int members = 1;
  MPI_Comm_size(chosen_, &members);
  switch (call.kind) {
    case CollectiveKind::kAllGather:
      MPI_Allgather(call.input, count, type, call.output, count, type, chosen_);
      break;
    case CollectiveKind::kReduceScatter:
      MPI_Reduce_scatter_block(call.input, call.output, count, type, op.get(), chosen_);
      break;
    case CollectiveKind::kAllReduce:
      MPI_Allreduce(call.input, call.output, count, type, op.get(), chosen_);
      break;
    case CollectiveKind::kBroadcast:
      // The root's buffer is given as input; it is only read there.
      MPI_Bcast(call.output != nullptr ? call.output : const_cast<void*>(call.input),
                count,
                type,
                call.root,
                chosen_);
      break;
    case CollectiveKind::kReduce:
      MPI_Reduce(call.input, call.output, count, type, op.get(), call.root, chosen_);
      break;
    case CollectiveKind::kGather:
      MPI_Gather(call.input, count, type, call.output, count, type, call.root, chosen_);
      break;
    case CollectiveKind::kScatter:
      MPI_Scatter(call.input, count, type, call.output, count, type, call.root, chosen_);
      break;
    case CollectiveKind::kAllToAll:
      MPI_Alltoall(call.input, count, type, call.output, count, type, chosen_);
      break;
    case CollectiveKind::kCustom:
      break;
  }
}

}  // namespace tacos
