// SPDX-License-Identifier: MIT
#include "support/reference_replay.h"

#include <algorithm>

namespace tacos::testing {
namespace {

bool share_a_chunk(const Transfer& a, const Transfer& b) {
  return std::any_of(a.chunks.begin(), a.chunks.end(), [&](ChunkId chunk) {
    return std::find(b.chunks.begin(), b.chunks.end(), chunk) != b.chunks.end();
  });
}

/// From its start until a transfer gets to its i-th link.
Ticks head(const Topology& topology, const Transfer& transfer, std::size_t i) {
  Ticks sum;
  for (std::size_t k = 0; k < i; ++k) {
    sum += topology.link(transfer.links[k]).latency;
  }
  return sum;
}

Ticks duration(const replay::Setting& setting, const Transfer& transfer) {
  return route_time(setting.topology, transfer.links, setting.chunks.bytes(transfer.chunks));
}

}  // namespace

std::optional<std::vector<Ticks>> reference_starts(const replay::Setting& planned,
                                                   const replay::Setting& actual,
                                                   LinkModel model,
                                                   const TransferBatch& transfers) {
  struct Constraint {
    std::size_t from;
    std::size_t to;
    Ticks gap;
  };
  std::vector<Constraint> constraints;
  for (std::size_t a = 0; a < transfers.size(); ++a) {
    for (std::size_t b = 0; b < transfers.size(); ++b) {
      const Transfer from = transfers[a];
      const Transfer to = transfers[b];
      const bool meets = planned.topology.link(from.links.back()).dst ==
                         planned.topology.link(to.links.front()).src;
      if (meets && share_a_chunk(from, to) && from.start + duration(planned, from) <= to.start) {
        constraints.push_back({a, b, duration(actual, from)});
      }
      for (std::size_t i = 0; i < from.links.size(); ++i) {
        for (std::size_t k = 0; k < to.links.size(); ++k) {
          if (a == b || from.links[i] != to.links[k] ||
              from.start + head(planned.topology, from, i) >=
                  to.start + head(planned.topology, to, k)) {
            continue;
          }
          const Ticks busy =
              link_cost(
                  actual.topology.link(from.links[i]), actual.chunks.bytes(from.chunks), model)
                  .busy;
          constraints.push_back(
              {a, b, head(actual.topology, from, i) + busy - head(actual.topology, to, k)});
        }
      }
    }
  }
  std::vector<Ticks> start(transfers.size());
  for (std::size_t round = 0; round <= transfers.size(); ++round) {
    bool changed = false;
    for (const Constraint& constraint : constraints) {
      const Ticks least = start[constraint.from] + constraint.gap;
      if (least > start[constraint.to]) {
        start[constraint.to] = least;
        changed = true;
      }
    }
    if (!changed) {
      return start;
    }
  }
  return std::nullopt;
}

}  // namespace tacos::testing
