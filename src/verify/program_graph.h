// SPDX-License-Identifier: MIT
// The steps of a program and what each waits for: the one before it in its lane, its dependencies,
// of a receive the send, and with bounded FIFOs of a send the receive that makes room for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tacos/program.h"

namespace tacos {

class ProgramGraph {
 public:
  /// Steps are numbered NPU by NPU, lane by lane. Sets `wrong` where lanes or dependencies make no
  /// sense.
  ProgramGraph(const Program& program, std::optional<std::string>& wrong);

  struct Place {
    std::uint32_t npu = 0;
    std::uint32_t lane = 0;
    std::uint32_t step = 0;
  };
  [[nodiscard]] std::uint32_t num_steps() const { return first_.back(); }
  [[nodiscard]] Place place(std::uint32_t step) const;
  [[nodiscard]] std::uint32_t number(std::uint32_t npu,
                                     std::uint32_t lane,
                                     std::uint32_t step) const {
    return first_[first_lane_[npu] + lane] + step;
  }
  /// The send of a receive.
  [[nodiscard]] std::uint32_t send_of(std::uint32_t receive) const { return partner_[receive]; }

  /// An order in which all steps can be done with so many messages in each FIFO, 0 for any number;
  /// shorter where some cannot.
  [[nodiscard]] std::vector<std::uint32_t> order(std::uint32_t fifo_slots) const;
  /// The fewest messages with which all can.
  [[nodiscard]] std::uint32_t least_slots() const;

 private:
  void number_lanes();
  void check_steps(std::optional<std::string>& wrong) const;
  template <class Visit>
  void each_wait(std::uint32_t fifo_slots, const Visit& visit) const;
  void match(std::optional<std::string>& wrong);
  /// Whether messages without data are awaited as such.
  [[nodiscard]] bool credits_match(std::uint32_t sender, std::uint32_t receiver) const;

  const Program& program_;
  /// By NPU: its first lane among all; by lane: its first step, and one more.
  std::vector<std::uint32_t> first_lane_;
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> npu_of_lane_;
  /// Of a receive the send, of a send the receive.
  std::vector<std::uint32_t> partner_;
  std::uint32_t longest_ = 0;
};

}  // namespace tacos
