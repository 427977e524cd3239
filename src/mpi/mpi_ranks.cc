// SPDX-License-Identifier: MIT
#include "mpi/mpi_ranks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "execute/transports/shared_memory.h"
#include "execute/transports/split.h"
#include "execute/transports/tcp.h"
#include "mpi/datatypes.h"

namespace tacos {

MpiRanks::~MpiRanks() {
  if (chosen_ != MPI_COMM_NULL) {
    MPI_Comm_free(&chosen_);
  }
}

Result<Transport*> MpiRanks::transport(std::string_view name) {
  if (name == "tcp") {
    transport_ = std::make_unique<execution::TcpTransport>(team_);
    return transport_.get();
  }
  const std::vector<int> machines = all_gather(team_, team_.machine());
  const bool one_machine = std::all_of(
      machines.begin(), machines.end(), [&](int machine) { return machine == machines.front(); });
  if (name == "shm" && !one_machine) {
    return input_error("ranks are on several machines; use --transport auto, mpi or tcp");
  }
  mpi_ = std::make_unique<MpiTransport>(comm_);
  shared_memory_ = std::make_unique<execution::SharedMemoryTransport>(team_);
  if (name != "auto") {
    return name == "shm" ? shared_memory_.get() : mpi_.get();
  }
  std::vector<std::uint32_t> choice;
  choice.reserve(machines.size());
  for (const int machine : machines) {
    choice.push_back(machine == team_.machine() ? 0 : 1);
  }
  transport_ = std::make_unique<execution::SplitTransport>(
      std::vector<Transport*>{shared_memory_.get(), mpi_.get()}, choice);
  return transport_.get();
}

void MpiRanks::choose(bool takes_part) {
  if (chosen_ != MPI_COMM_NULL) {
    MPI_Comm_free(&chosen_);
  }
  MPI_Comm_split(comm_, takes_part ? 0 : MPI_UNDEFINED, team_.member(), &chosen_);
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
