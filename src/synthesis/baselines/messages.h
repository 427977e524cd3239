// SPDX-License-Identifier: MIT
// What an algorithm from a book sends: parts of the buffer from participant to participant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tacos/schedule.h"

#include "base/csr.h"

namespace tacos::baselines {

/// Participants and parts have numbers from 0. A part is what one participant owns; of a
/// Broadcast there is one, of an All-to-All one for each pair, `src * participants + dst`.
struct Message {
  std::uint32_t src = 0;
  std::uint32_t dst = 0;
  Op op = Op::kCopy;
};

/// In an order in which each comes after those that it needs; that is also who goes first.
class Messages {
 public:
  void send(std::uint32_t src,
            std::uint32_t dst,
            std::span<const std::uint32_t> parts,
            Op op = Op::kCopy);
  void send(std::uint32_t src, std::uint32_t dst, std::uint32_t part, Op op = Op::kCopy) {
    send(src, dst, std::span(&part, 1), op);
  }
  void append(const Messages& others);

  [[nodiscard]] std::size_t size() const { return messages_.size(); }
  [[nodiscard]] const Message& operator[](std::size_t index) const { return messages_[index]; }
  [[nodiscard]] std::span<const std::uint32_t> parts(std::size_t index) const {
    return parts_[index];
  }
  /// Of all messages together.
  [[nodiscard]] std::size_t num_parts() const { return parts_.all().size(); }

  /// Backwards in time, from their receivers to their senders.
  [[nodiscard]] Messages reversed(Op op) const;

 private:
  std::vector<Message> messages_;
  Csr<std::uint32_t> parts_;
};

}  // namespace tacos::baselines
