// SPDX-License-Identifier: MIT
// libtacos_pmpi.so: what a program calls when it calls MPI, by LD_PRELOAD.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "mpi/datatypes.h"
#include "pmpi/takeover.h"

namespace {

using tacos::CollectiveKind;
using tacos::ElementType;
using tacos::LoadedSchedule;
using tacos::ReduceOp;
using tacos::pmpi::Request;
using tacos::pmpi::Takeover;

int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}
int size_of(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

/// Bytes of a predefined type whose elements follow each other; 0 for any other.
std::size_t plain_bytes(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  int size = 0;
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  PMPI_Type_size(type, &size);
  PMPI_Type_get_extent(type, &low, &extent);
  return combiner == MPI_COMBINER_NAMED && low == 0 && extent == size
             ? static_cast<std::size_t>(size)
             : 0;
}

/// Whether there is anything to be looked at: another process, and data.
bool worth_a_look(MPI_Comm comm, int count) {
  if (!Takeover::instance().active() || count <= 0 || comm == MPI_COMM_NULL) {
    return false;
  }
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  return inter == 0 && size_of(comm) > 1;
}

/// For what copies: `count` elements of the type are a part, or the buffer.
bool copy(Request request, int count, MPI_Datatype type) {
  if (!worth_a_look(request.comm, count)) {
    return false;
  }
  const std::size_t bytes = plain_bytes(type);
  if (bytes == 0) {
    Takeover::instance().fall_back(request.function, "derived datatype");
    return false;
  }
  request.call.type = ElementType::kUint8;
  request.call.count = static_cast<std::size_t>(count) * bytes;
  return Takeover::instance().attempt(request);
}

/// For what reduces.
bool reduce(Request request, int count, MPI_Datatype type, MPI_Op op) {
  if (!worth_a_look(request.comm, count)) {
    return false;
  }
  const std::optional<ElementType> element = tacos::element_type(type);
  const std::optional<ReduceOp> operation = tacos::reduce_op(op);
  if (!element || !operation || !check_reduction(*element, *operation)) {
    Takeover::instance().fall_back(request.function,
                                   !operation               ? "operation"
                                   : plain_bytes(type) == 0 ? "derived datatype"
                                                            : "datatype");
    return false;
  }
  request.call.type = *element;
  request.call.op = *operation;
  request.call.count = static_cast<std::size_t>(count);
  return Takeover::instance().attempt(request);
}

/// Of MPI's Reduce-Scatter: in place the input is the output's buffer, and the result comes first
/// in it; ours would be at its place. So it is made elsewhere.
bool reduce_scatter(Request request, int count, MPI_Datatype type, MPI_Op op) {
  if (request.call.input != MPI_IN_PLACE) {
    return reduce(request, count, type, op);
  }
  std::vector<char> result(static_cast<std::size_t>(std::max(count, 0)) * plain_bytes(type));
  void* const buffer = request.call.output;
  request.call.input = buffer;
  request.call.output = result.data();
  if (!reduce(request, count, type, op)) {
    return false;
  }
  std::memcpy(buffer, result.data(), result.size());
  return true;
}

void count_nonblocking(const char* function) {
  if (Takeover::instance().active()) {
    Takeover::instance().fall_back(function, "nonblocking");
  }
}

}  // namespace

// What they take is what MPI says.
// NOLINTBEGIN(readability-function-size)
extern "C" {

int MPI_Allreduce(const void* sendbuf,
                  void* recvbuf,
                  int count,
                  MPI_Datatype datatype,
                  MPI_Op op,
                  MPI_Comm comm) {
  const Request request{
      .function = "MPI_Allreduce",
      .kind = CollectiveKind::kAllReduce,
      .comm = comm,
      .call = {.input = sendbuf, .output = recvbuf, .in_place = sendbuf == MPI_IN_PLACE}};
  return reduce(request, count, datatype, op)
             ? MPI_SUCCESS
             : PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Reduce(const void* sendbuf,
               void* recvbuf,
               int count,
               MPI_Datatype datatype,
               MPI_Op op,
               int root,
               MPI_Comm comm) {
  const Request request{
      .function = "MPI_Reduce",
      .kind = CollectiveKind::kReduce,
      .comm = comm,
      .root = root,
      .call = {.input = sendbuf, .output = recvbuf, .in_place = sendbuf == MPI_IN_PLACE}};
  return reduce(request, count, datatype, op)
             ? MPI_SUCCESS
             : PMPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
}

int MPI_Reduce_scatter_block(const void* sendbuf,
                             void* recvbuf,
                             int recvcount,
                             MPI_Datatype datatype,
                             MPI_Op op,
                             MPI_Comm comm) {
  const Request request{.function = "MPI_Reduce_scatter_block",
                        .kind = CollectiveKind::kReduceScatter,
                        .comm = comm,
                        .call = {.input = sendbuf, .output = recvbuf}};
  return reduce_scatter(request, recvcount, datatype, op)
             ? MPI_SUCCESS
             : PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
}

int MPI_Reduce_scatter(const void* sendbuf,
                       void* recvbuf,
                       const int recvcounts[],
                       MPI_Datatype datatype,
                       MPI_Op op,
                       MPI_Comm comm) {
  constexpr const char* kFunction = "MPI_Reduce_scatter";
  if (worth_a_look(comm, 1)) {
    const std::vector<int> counts(recvcounts, recvcounts + size_of(comm));
    const bool equal =
        std::all_of(counts.begin(), counts.end(), [&](int one) { return one == counts.front(); });
    const Request request{.function = kFunction,
                          .kind = CollectiveKind::kReduceScatter,
                          .comm = comm,
                          .call = {.input = sendbuf, .output = recvbuf}};
    if (equal && reduce_scatter(request, counts.front(), datatype, op)) {
      return MPI_SUCCESS;
    }
    if (!equal) {
      Takeover::instance().fall_back(kFunction, "unequal counts");
    }
  }
  return PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  const Request request{.function = "MPI_Bcast",
                        .kind = CollectiveKind::kBroadcast,
                        .comm = comm,
                        .root = root,
                        .call = {.input = buffer, .output = buffer, .in_place = true}};
  return copy(request, count, datatype) ? MPI_SUCCESS
                                        : PMPI_Bcast(buffer, count, datatype, root, comm);
}

int MPI_Allgather(const void* sendbuf,
                  int sendcount,
                  MPI_Datatype sendtype,
                  void* recvbuf,
                  int recvcount,
                  MPI_Datatype recvtype,
                  MPI_Comm comm) {
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const Request request{.function = "MPI_Allgather",
                        .kind = CollectiveKind::kAllGather,
                        .comm = comm,
                        .call = {.input = sendbuf, .output = recvbuf, .in_place = in_place}};
  const bool plain = in_place || plain_bytes(sendtype) > 0;
  // A derived type of either side shows as one of both.
  return copy(request, recvcount, plain ? recvtype : sendtype)
             ? MPI_SUCCESS
             : PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Gather(const void* sendbuf,
               int sendcount,
               MPI_Datatype sendtype,
               void* recvbuf,
               int recvcount,
               MPI_Datatype recvtype,
               int root,
               MPI_Comm comm) {
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const Request request{.function = "MPI_Gather",
                        .kind = CollectiveKind::kGather,
                        .comm = comm,
                        .root = root,
                        .call = {.input = sendbuf, .output = recvbuf, .in_place = in_place}};
  // Only the root says what is received.
  const bool here = Takeover::instance().active() && rank_in(comm) == root;
  const bool use_receive = here && (in_place || plain_bytes(recvtype) == 0);
  return copy(request, use_receive ? recvcount : sendcount, use_receive ? recvtype : sendtype)
             ? MPI_SUCCESS
             : PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Scatter(const void* sendbuf,
                int sendcount,
                MPI_Datatype sendtype,
                void* recvbuf,
                int recvcount,
                MPI_Datatype recvtype,
                int root,
                MPI_Comm comm) {
  const bool in_place = recvbuf == MPI_IN_PLACE;
  // In place the part stays where it is in the root's buffer.
  void* const buffer = in_place ? const_cast<void*>(sendbuf) : recvbuf;
  const Request request{.function = "MPI_Scatter",
                        .kind = CollectiveKind::kScatter,
                        .comm = comm,
                        .root = root,
                        .call = {.input = sendbuf, .output = buffer, .in_place = in_place}};
  const bool here = Takeover::instance().active() && rank_in(comm) == root;
  const bool use_send = here && (in_place || plain_bytes(sendtype) == 0);
  return copy(request, use_send ? sendcount : recvcount, use_send ? sendtype : recvtype)
             ? MPI_SUCCESS
             : PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Alltoall(const void* sendbuf,
                 int sendcount,
                 MPI_Datatype sendtype,
                 void* recvbuf,
                 int recvcount,
                 MPI_Datatype recvtype,
                 MPI_Comm comm) {
  Request request{.function = "MPI_Alltoall",
                  .kind = CollectiveKind::kAllToAll,
                  .comm = comm,
                  .call = {.input = sendbuf, .output = recvbuf}};
  std::vector<char> sent;
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (in_place && worth_a_look(comm, recvcount)) {
    // What is received would overwrite what is still to be sent.
    const auto* const from = static_cast<const char*>(recvbuf);
    sent.assign(from,
                from + plain_bytes(recvtype) * static_cast<std::size_t>(recvcount) *
                           static_cast<std::size_t>(size_of(comm)));
    request.call.input = sent.data();
  }
  const bool plain = in_place || plain_bytes(sendtype) > 0;
  return copy(request, recvcount, plain ? recvtype : sendtype)
             ? MPI_SUCCESS
             : PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Iallreduce(const void* sendbuf,
                   void* recvbuf,
                   int count,
                   MPI_Datatype datatype,
                   MPI_Op op,
                   MPI_Comm comm,
                   MPI_Request* request) {
  count_nonblocking("MPI_Iallreduce");
  return PMPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
}

int MPI_Iallgather(const void* sendbuf,
                   int sendcount,
                   MPI_Datatype sendtype,
                   void* recvbuf,
                   int recvcount,
                   MPI_Datatype recvtype,
                   MPI_Comm comm,
                   MPI_Request* request) {
  count_nonblocking("MPI_Iallgather");
  return PMPI_Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
}

int MPI_Ibcast(
    void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request) {
  count_nonblocking("MPI_Ibcast");
  return PMPI_Ibcast(buffer, count, datatype, root, comm, request);
}

int MPI_Ialltoall(const void* sendbuf,
                  int sendcount,
                  MPI_Datatype sendtype,
                  void* recvbuf,
                  int recvcount,
                  MPI_Datatype recvtype,
                  MPI_Comm comm,
                  MPI_Request* request) {
  count_nonblocking("MPI_Ialltoall");
  return PMPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
}

int MPI_Ireduce(const void* sendbuf,
                void* recvbuf,
                int count,
                MPI_Datatype datatype,
                MPI_Op op,
                int root,
                MPI_Comm comm,
                MPI_Request* request) {
  count_nonblocking("MPI_Ireduce");
  return PMPI_Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request);
}

int MPI_Ireduce_scatter_block(const void* sendbuf,
                              void* recvbuf,
                              int recvcount,
                              MPI_Datatype datatype,
                              MPI_Op op,
                              MPI_Comm comm,
                              MPI_Request* request) {
  count_nonblocking("MPI_Ireduce_scatter_block");
  return PMPI_Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
}

int MPI_Ireduce_scatter(const void* sendbuf,
                        void* recvbuf,
                        const int recvcounts[],
                        MPI_Datatype datatype,
                        MPI_Op op,
                        MPI_Comm comm,
                        MPI_Request* request) {
  count_nonblocking("MPI_Ireduce_scatter");
  return PMPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
}

int MPI_Igather(const void* sendbuf,
                int sendcount,
                MPI_Datatype sendtype,
                void* recvbuf,
                int recvcount,
                MPI_Datatype recvtype,
                int root,
                MPI_Comm comm,
                MPI_Request* request) {
  count_nonblocking("MPI_Igather");
  return PMPI_Igather(
      sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
}

int MPI_Iscatter(const void* sendbuf,
                 int sendcount,
                 MPI_Datatype sendtype,
                 void* recvbuf,
                 int recvcount,
                 MPI_Datatype recvtype,
                 int root,
                 MPI_Comm comm,
                 MPI_Request* request) {
  count_nonblocking("MPI_Iscatter");
  return PMPI_Iscatter(
      sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
}

int MPI_Finalize(void) {
  Takeover::instance().end();
  return PMPI_Finalize();
}

}  // extern "C"
// NOLINTEND(readability-function-size)
