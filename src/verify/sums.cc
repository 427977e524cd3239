// SPDX-License-Identifier: MIT
#include "verify/sums.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/numbers/rng.h"
#include "verify/places.h"

namespace tacos {
namespace {

/// What a participant brings to a chunk: looks random, the same in every run. For one chunk no two
/// participants bring the same.
std::uint64_t contribution(std::uint32_t participant, ChunkId chunk) {
  constexpr std::uint64_t kKey = 0x6a09e667f3bcc908U;
  return mix64(kKey ^ participant, chunk.value());
}

}  // namespace

std::uint32_t Sums::chunks_within(std::size_t memory_bytes,
                                  std::uint32_t num_npus,
                                  std::uint32_t num_chunks) {
  const std::size_t per_chunk = kPlaceBytes * std::max(1U, num_npus);
  const std::size_t fitting = std::max<std::size_t>(1, memory_bytes / per_chunk);
  return static_cast<std::uint32_t>(std::min<std::size_t>(fitting, num_chunks));
}

Sums::Sums(const Topology& topology,
           const Collective& collective,
           Violations& violations,
           std::uint32_t first,
           std::uint32_t count)
    : collective_(collective),
      mixed_(collective.kind() == CollectiveKind::kCustom),
      violations_(violations),
      num_npus_(topology.num_npus()),
      first_(first),
      count_(count),
      places_(std::size_t{count} * topology.num_npus()) {
  for (std::uint32_t c = first; c < first + count; ++c) {
    for_each_start(collective, ChunkId(c), [&](std::uint32_t participant) {
      places_[at(collective.participants()[participant], ChunkId(c))] = {
          share(participant, ChunkId(c)), Ticks{}};
    });
  }
}

std::uint64_t Sums::share(std::uint32_t participant, ChunkId chunk) const {
  // All who start with a chunk that is copied have the same.
  const bool same = mixed_ && !collective_.reduces(chunk);
  return contribution(same ? collective_.num_participants() : participant, chunk);
}

std::uint64_t Sums::complete(ChunkId chunk) const {
  if (mixed_ && !collective_.reduces(chunk)) {
    return share(0, chunk);
  }
  std::uint64_t sum = 0;
  for_each_start(
      collective_, chunk, [&](std::uint32_t participant) { sum += share(participant, chunk); });
  return sum;
}

void Sums::arrive() {
  constexpr std::size_t kAhead = 16;
  arrivals_.take_next(arriving_);
  // Sums do not depend on their order, so one order stands for all, unless a copy takes part: after
  // copies first, then sums, every copy's value must have survived.
  for (const Op op : {Op::kCopy, Op::kReduce}) {
    for (std::size_t i = 0; i < arriving_.size(); ++i) {
      if (i + kAhead < arriving_.size()) {
        prefetch(arriving_[i + kAhead].node, arriving_[i + kAhead].chunk);
      }
      if (arriving_[i].op == op) {
        apply(arriving_[i]);
      }
    }
  }
  for (const Arrival& arrival : arriving_) {
    if (arrival.op == Op::kCopy &&
        places_[at(arrival.node, arrival.chunk)].value != arrival.value) {
      violations_.add([&] {
        return fmt::format(
            "transfer {} copies chunk {} to {} at {} ps, just when something else arrives for it: "
            "the result depends on which is first",
            arrival.transfer,
            arrival.chunk.value(),
            violations_.name(arrival.node),
            arrival.time.ps);
      });
    }
  }
}

void Sums::apply(const Arrival& arrival) {
  Place& place = places_[at(arrival.node, arrival.chunk)];
  const std::uint64_t before = place.value;
  place.value = arrival.op == Op::kCopy ? arrival.value : before + arrival.value;
  if (place.value != before && place.sent_until > arrival.time) {
    violations_.add([&] {
      return fmt::format(
          "transfer {} changes chunk {} at {} at {} ps, while {} is sending it until {} ps",
          arrival.transfer,
          arrival.chunk.value(),
          violations_.name(arrival.node),
          arrival.time.ps,
          violations_.name(arrival.node),
          place.sent_until.ps);
    });
  }
  place.sent_until = std::max(place.sent_until, Ticks{});
}

void Sums::finish() {
  advance(kMaxTime);
  for (std::uint32_t c = first_; c < first_ + count_; ++c) {
    const ChunkId chunk(c);
    const std::uint64_t expected = complete(chunk);
    for_each_end(collective_, chunk, [&](std::uint32_t participant) {
      const NodeId node = collective_.participants()[participant];
      if (!holds(node, chunk) || places_[at(node, chunk)].value != expected) {
        report_wrong_sum(node, chunk, expected);
      }
    });
  }
}

void Sums::report_wrong_sum(NodeId node, ChunkId chunk, std::uint64_t expected) {
  violations_.add([&] {
    if (mixed_ && !collective_.reduces(chunk) && !holds(node, chunk)) {
      return fmt::format("{} never gets chunk {}", violations_.name(node), chunk.value());
    }
    const std::string end = fmt::format(
        "{} ends with the wrong sum of chunk {}", violations_.name(node), chunk.value());
    const std::uint64_t got = places_[at(node, chunk)].value;
    std::string blame = "some contributions are missing or counted more than once";
    for_each_start(collective_, chunk, [&](std::uint32_t participant) {
      const std::uint64_t brought = share(participant, chunk);
      const NodeId from = collective_.participants()[participant];
      if (got + brought == expected) {
        blame = fmt::format("the contribution of {} is missing", violations_.name(from));
      } else if (got - brought == expected) {
        blame = fmt::format("the contribution of {} is counted twice", violations_.name(from));
      }
    });
    return end + ": " + blame;
  });
}

}  // namespace tacos
