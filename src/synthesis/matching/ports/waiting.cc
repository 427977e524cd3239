// SPDX-License-Identifier: MIT
#include "synthesis/matching/ports/waiting.h"

namespace tacos::matching {
Waiting::Waiting(const PortNetwork& network, const SpeedLevels& levels, std::uint32_t num_npus)
    : network_(network),
      num_npus_(num_npus),
      receivers_(network.num_nodes(), num_npus),
      to_switches_(num_npus,
                   [&](const auto& add) {
                     for (std::uint32_t link = 0; link < network.links().size(); ++link) {
                       const PortLink& way = network.links()[link];
                       if (way.src < num_npus && way.dst >= num_npus) {
                         add(way.src, link);
                       }
                     }
                   }),
      neighbours_(network.num_nodes(), num_npus) {
  waiting_.resize(receivers_.words_per_row());
  always_.resize(waiting_.size());
  for (std::uint32_t npu = 0; npu < num_npus; ++npu) {
    add(npu);
    widest_.push_back(levels.component(levels.num_levels() - 1, npu));
    neighbours_.set(widest_[npu], npu);
    for (const std::uint32_t link : network.in_links(npu)) {
      const std::uint32_t src = network.links()[link].src;
      receivers_.set(src, npu);
      if (src >= num_npus && !network.is_even(src)) {
        always_[npu / kWordBits] |= Word{1} << npu % kWordBits;
      }
    }
  }
}

void Waiting::add_everybody() {
  for (std::uint32_t npu = 0; npu < num_npus_; ++npu) {
    add(npu);
  }
}

void Waiting::freed(std::uint32_t link) {
  const std::uint32_t dst = network_.links()[link].dst;
  if (dst < num_npus_) {
    add(dst);
  } else {
    add(receivers_.row(dst));
  }
}

void Waiting::arrived(std::uint32_t npu, const Sources& sources) {
  add(receivers_.row(npu));
  for (const std::uint32_t link : to_switches_[npu]) {
    if (sources.is_idle(link)) {
      add(receivers_.row(network_.links()[link].dst));
    }
  }
}

}  // namespace tacos::matching
