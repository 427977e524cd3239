// SPDX-License-Identifier: MIT
// A team whose members find each other by the store that every process group of PyTorch has.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/parallel/team.h"
#include "c10d/shim.h"

namespace tacos::torch_backend {

class StoreTeam final : public Team {
 public:
  /// `members` says who they are, and must be the same at all of them, or all throw.
  StoreTeam(c10::intrusive_ptr<c10d::Store> store,
            int rank,
            int size,
            const std::string& members,
            std::chrono::milliseconds timeout);

  /// Throws when others do not come in time, or `watch` does.
  [[nodiscard]] std::vector<Packet> exchange(std::vector<Packet> packets) override;
  [[nodiscard]] int machine() const override { return machine_; }

  /// Before a member gives up: waits a little until all have heard why, as the store may be its.
  void part() noexcept;

  /// Before a member leaves: waits a little until nobody needs what it has written any more, as the
  /// store may be its.
  void settle() noexcept;

  /// Called now and then while it waits.
  void watch(std::function<void()> watch) { watch_ = std::move(watch); }

 private:
  [[nodiscard]] std::string key(std::uint64_t exchange, int member) const;
  /// Where those count themselves who have read everything of an exchange.
  [[nodiscard]] std::string past(std::uint64_t exchange) const;
  void compare_members(const std::string& members, std::int64_t turn);
  /// Until `there` says so.
  void wait_until(const std::function<bool()>& there);
  void wait_for(const std::vector<std::string>& keys);

  c10::intrusive_ptr<c10d::Store> store_;
  /// What all our keys begin with.
  std::string prefix_;
  std::chrono::milliseconds timeout_;
  std::function<void()> watch_;
  std::uint64_t exchanges_ = 0;
  int machine_ = 0;
};

}  // namespace tacos::torch_backend
