// SPDX-License-Identifier: MIT
#include "mpi/mpi_team.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

namespace tacos {
namespace {

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/// The lowest rank on this machine.
int first_here(MPI_Comm comm) {
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  int first = rank_of(comm);
  MPI_Bcast(&first, 1, MPI_INT, 0, here);
  MPI_Comm_free(&here);
  return first;
}

/// Waits as MPI does while the answer is near, then ever more seldom: a member may wait for minutes
/// while the leader verifies, on a core that the leader could use.
void wait(std::vector<MPI_Request>& requests) {
  using std::chrono::microseconds;
  constexpr int kSpins = 2000;
  constexpr microseconds kLongest{1000};
  microseconds pause{0};
  const auto count = static_cast<int>(requests.size());
  for (int turn = 0;; ++turn) {
    int done = 0;
    MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) {
      return;
    }
    if (turn > kSpins) {
      pause = std::min(kLongest, pause + microseconds{10});
      std::this_thread::sleep_for(pause);
    }
  }
}

/// MPI counts in int, so that a long packet is several.
constexpr std::size_t kMostBytes = std::size_t{1} << 30U;
constexpr int kTag = 1;

/// Calls start(piece, request) for each piece of the packet.
template <class Bytes, class Start>
void in_pieces(Bytes& packet, std::vector<MPI_Request>& requests, const Start& start) {
  for (std::size_t at = 0; at < packet.size(); at += kMostBytes) {
    const std::size_t count = std::min(kMostBytes, packet.size() - at);
    MPI_Request request = MPI_REQUEST_NULL;
    start(packet.data() + at, static_cast<int>(count), &request);
    requests.push_back(request);
  }
}

}  // namespace

MpiTeam::MpiTeam(MPI_Comm comm)
    : Team(rank_of(comm), size_of(comm)), comm_(comm), machine_(first_here(comm)) {}

std::vector<Packet> MpiTeam::exchange(std::vector<Packet> packets) {
  const std::size_t members = packets.size();
  std::vector<std::uint64_t> given(members);
  std::transform(packets.begin(), packets.end(), given.begin(), [](const Packet& packet) {
    return packet.size();
  });
  std::vector<std::uint64_t> taken(members);
  std::vector<MPI_Request> requests(1);
  MPI_Ialltoall(
      given.data(), 1, MPI_UINT64_T, taken.data(), 1, MPI_UINT64_T, comm_, requests.data());
  wait(requests);
  requests.clear();
  std::vector<Packet> received(members);
  for (int other = 0; other < size(); ++other) {
    const auto at = static_cast<std::size_t>(other);
    if (other == member()) {
      received[at] = std::move(packets[at]);
      continue;
    }
    received[at].resize(taken[at]);
    in_pieces(received[at], requests, [&](std::byte* bytes, int count, MPI_Request* request) {
      MPI_Irecv(bytes, count, MPI_BYTE, other, kTag, comm_, request);
    });
    in_pieces(packets[at], requests, [&](const std::byte* bytes, int count, MPI_Request* request) {
      MPI_Isend(bytes, count, MPI_BYTE, other, kTag, comm_, request);
    });
  }
  wait(requests);
  return received;
}

}  // namespace tacos
