// SPDX-License-Identifier: MIT
#include "support/random_network.h"

#include <array>

namespace tacos::testing {
namespace {

Ticks random_gap(std::uint64_t number, Ticks latency, Rng& rng) {
  return number % 4 == 3 ? Ticks{latency.ps * rng.below(3) / 2} : Ticks{};
}

}  // namespace

Topology random_network(std::uint64_t number, const NetworkShape& shape) {
  Rng rng(number);
  const std::uint32_t npus = 1 + rng.below(shape.max_npus);
  TopologyBuilder builder("random", npus);
  const std::array<std::int64_t, 4> speeds{25, 50, 100, 75};
  const auto link = [&](std::uint32_t a, std::uint32_t b) {
    const std::int64_t speed = shape.heterogeneous ? speeds[rng.below(4)] : speeds[1];
    const Ticks latency{shape.heterogeneous ? 100'000LL * rng.below(8) : 500'000};
    const Link made{.src = NodeId(a),
                    .dst = NodeId(b),
                    .bandwidth = {speed * 1'000'000'000},
                    .latency = latency,
                    .gap = random_gap(number, latency, rng)};
    if (shape.directed) {
      builder.add_link(made);
    } else {
      builder.add_both(made);
    }
  };
  if (shape.connected && npus > 1) {
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      link(npu, (npu + 1) % npus);
    }
  }
  const std::uint32_t extra = npus > 1 ? rng.below(2 * npus + 1) : 0;
  for (std::uint32_t i = 0; i < extra; ++i) {
    const std::uint32_t a = rng.below(npus);
    const std::uint32_t b = rng.below(npus);
    if (a != b) {
      link(a, b);
    }
  }
  return *std::move(builder).build();
}

Topology random_switched_network(std::uint64_t number, std::uint32_t max_npus) {
  Rng rng(number);
  const std::uint32_t npus = 1 + rng.below(max_npus);
  const std::uint32_t switches = 1 + rng.below(4);
  TopologyBuilder builder("random", npus, switches);
  const std::array<std::int64_t, 4> speeds{25, 50, 100, 300};
  const auto link = [&](std::uint32_t a, std::uint32_t b) {
    Link made{.src = NodeId(a),
              .dst = NodeId(b),
              .bandwidth = {speeds[rng.below(4)] * 1'000'000'000},
              .latency = {100'000LL * rng.below(8)}};
    made.gap = random_gap(number, made.latency, rng);
    builder.add_link(made);
  };
  const auto both = [&](std::uint32_t a, std::uint32_t b) {
    link(a, b);
    link(b, a);
  };
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    both(npu, npus + rng.below(switches));
  }
  for (std::uint32_t i = 1; i < switches; ++i) {
    both(npus + i - 1, npus + i);
  }
  const std::uint32_t extra = rng.below(npus + switches);
  for (std::uint32_t i = 0; i < extra; ++i) {
    const std::uint32_t a = rng.below(npus + switches);
    const std::uint32_t b = rng.below(npus + switches);
    if (a != b) {
      link(a, b);
    }
  }
  return *std::move(builder).build();
}

}  // namespace tacos::testing
