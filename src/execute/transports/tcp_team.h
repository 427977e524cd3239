// SPDX-License-Identifier: MIT
// A team of processes that know nothing of each other but the address of the first: a rendezvous
// for transports where there is no MPI.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/parallel/team.h"
#include "execute/transports/sockets.h"

namespace tacos::execution {

class TcpTeam final : public Team {
 public:
  /// The first member listens there, the others come to it.
  [[nodiscard]] static Result<std::unique_ptr<TcpTeam>> join(const std::string& address,
                                                             int member,
                                                             int size);

  /// Throws when a member is gone.
  [[nodiscard]] std::vector<Packet> exchange(std::vector<Packet> packets) override;
  [[nodiscard]] int machine() const override { return machine_; }

 private:
  TcpTeam(int member, int size) : Team(member, size) {}
  [[nodiscard]] Status gather(Address address);
  [[nodiscard]] Status come(Address address);
  void find_machine();

  /// Of the first member: one for each of the others; of the others one, to the first.
  std::vector<Socket> sockets_;
  int machine_ = 0;
};

}  // namespace tacos::execution
