// SPDX-License-Identifier: MIT
#include "synthesis/baselines/messages.h"

namespace tacos::baselines {

void Messages::send(std::uint32_t src,
                    std::uint32_t dst,
                    std::span<const std::uint32_t> parts,
                    Op op) {
  messages_.push_back({.src = src, .dst = dst, .op = op});
  for (const std::uint32_t part : parts) {
    parts_.push_back(part);
  }
  parts_.end_row();
}

void Messages::append(const Messages& others) {
  for (std::size_t i = 0; i < others.size(); ++i) {
    send(others[i].src, others[i].dst, others.parts(i), others[i].op);
  }
}

Messages Messages::reversed(Op op) const {
  Messages turned;
  for (std::size_t i = size(); i-- > 0;) {
    turned.send(messages_[i].dst, messages_[i].src, parts(i), op);
  }
  return turned;
}

}  // namespace tacos::baselines
