// SPDX-License-Identifier: MIT
#include "mpi/mpi_transports.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "execute/transports/shared_memory.h"
#include "execute/transports/split.h"
#include "execute/transports/tcp.h"
#include "mpi/mpi_transport.h"

namespace tacos {
namespace {

template <class Made, class... Arguments>
Transport* made_once(std::unique_ptr<Transport>& place, Arguments&&... arguments) {
  if (!place) {
    place = std::make_unique<Made>(std::forward<Arguments>(arguments)...);
  }
  return place.get();
}

}  // namespace

Transport* MpiTransports::mpi() {
  return made_once<MpiTransport>(mpi_, comm_);
}
Transport* MpiTransports::shared_memory() {
  return made_once<execution::SharedMemoryTransport>(shared_memory_, team_);
}

Result<Transport*> MpiTransports::get(std::string_view name) {
  if (name == "tcp") {
    return made_once<execution::TcpTransport>(tcp_, team_);
  }
  if (name == "mpi") {
    return mpi();
  }
  const std::vector<int> machines = all_gather(team_, team_.machine());
  const bool one_machine = std::all_of(
      machines.begin(), machines.end(), [&](int machine) { return machine == machines.front(); });
  if (one_machine) {
    return shared_memory();
  }
  if (name == "shm") {
    return input_error("ranks are on several machines; use --transport auto, mpi or tcp");
  }
  std::vector<std::uint32_t> choice;
  choice.reserve(machines.size());
  for (const int machine : machines) {
    choice.push_back(machine == team_.machine() ? 0 : 1);
  }
  return made_once<execution::SplitTransport>(
      split_, std::vector<Transport*>{shared_memory(), mpi()}, choice);
}

}  // namespace tacos
