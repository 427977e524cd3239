// SPDX-License-Identifier: MIT
#include "program/lane_peers.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace tacos {

LanePeers lane_peers(const Program& program) {
  using Fifo = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  std::vector<std::tuple<Fifo, std::size_t>> ends;
  LanePeers peers;
  std::size_t lanes = 0;
  for (std::uint32_t npu = 0; npu < program.npus.size(); ++npu) {
    peers.first.push_back(lanes);
    for (const Lane& lane : program.npus[npu].lanes) {
      const std::uint32_t other = lane.peer.value();
      if (lane.role == LaneRole::kSend) {
        ends.emplace_back(Fifo{npu, other, lane.channel}, lanes);
      } else if (lane.role == LaneRole::kReceive) {
        ends.emplace_back(Fifo{other, npu, lane.channel}, lanes);
      }
      ++lanes;
    }
  }
  peers.peer.assign(lanes, LanePeers::kNobody);
  // The two ends of a FIFO come one after the other.
  std::sort(ends.begin(), ends.end());
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    if (std::get<0>(ends[i]) == std::get<0>(ends[i + 1])) {
      peers.peer[std::get<1>(ends[i])] = std::get<1>(ends[i + 1]);
      peers.peer[std::get<1>(ends[i + 1])] = std::get<1>(ends[i]);
    }
  }
  return peers;
}

}  // namespace tacos
