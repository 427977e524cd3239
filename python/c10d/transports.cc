// SPDX-License-Identifier: MIT
#include "c10d/transports.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "execute/transports/shared_memory.h"
#include "execute/transports/split.h"
#include "execute/transports/tcp.h"

namespace tacos::torch_backend {

Result<Transports> Transports::choose(Team& team, const std::string& name) {
  const std::vector<int> machines = all_gather(team, team.machine());
  const bool one_machine = std::all_of(
      machines.begin(), machines.end(), [&](int machine) { return machine == machines.front(); });
  if (name != "auto" && name != "shm" && name != "tcp") {
    return input_error(fmt::format("'{}' is none of auto, shm and tcp", name), "TACOS_TRANSPORT");
  }
  if (name == "shm" && !one_machine) {
    return input_error("ranks are on several machines; use auto or tcp", "TACOS_TRANSPORT");
  }
  Transports made;
  if (name != "tcp") {
    made.all_.push_back(std::make_unique<execution::SharedMemoryTransport>(team));
  }
  if (name == "tcp" || !one_machine) {
    made.all_.push_back(std::make_unique<execution::TcpTransport>(team));
  }
  if (made.all_.size() == 1) {
    return made;
  }
  std::vector<std::uint32_t> choice;
  choice.reserve(machines.size());
  for (const int machine : machines) {
    choice.push_back(machine == team.machine() ? 0 : 1);
  }
  made.all_.push_back(std::make_unique<execution::SplitTransport>(
      std::vector<Transport*>{made.all_[0].get(), made.all_[1].get()}, choice));
  return made;
}

}  // namespace tacos::torch_backend
