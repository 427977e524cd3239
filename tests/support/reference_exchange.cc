// SPDX-License-Identifier: MIT
#include "support/reference_exchange.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tacos::testing {
namespace {

using exchange::Content;
using exchange::Routine;

/// A message: which entry of the routine it belongs to, and who gets it.
using Message = std::pair<std::size_t, std::uint32_t>;

}  // namespace

ReferenceExchange reference_exchange(const Topology& topology,
                                     const exchange::Moves& moves,
                                     Content content,
                                     Bytes part,
                                     LinkModel model,
                                     const Routine& routine) {
  const auto& who = moves.layout().participant;
  const std::uint32_t elements = moves.elements();
  const auto size = static_cast<std::uint32_t>(who.size());
  // By participant and owner: which entry brought it, and from whom; -1: it was there.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::int64_t, std::uint32_t>> has;
  for (std::uint32_t p = 0; p < size; ++p) {
    has[{p, p}] = {-1, p};
  }
  for (std::size_t k = 0; k < routine.size(); ++k) {
    const exchange::Move& move = moves[routine[k].move];
    const auto before = has;
    for (std::uint32_t e = 0; e < elements; ++e) {
      const std::uint32_t from = who[move.from * elements + e];
      const std::uint32_t to = who[move.to * elements + moves.add(e, move.shift)];
      for (std::uint32_t owner = 0; owner < size; ++owner) {
        const auto found = before.find({from, owner});
        if (found != before.end() && found->second.first < std::int64_t{routine[k].seen} &&
            !before.contains({to, owner})) {
          has[{to, owner}] = {static_cast<std::int64_t>(k), from};
        }
      }
    }
  }
  if (has.size() < std::size_t{size} * size) {
    return {};
  }
  // What each message carries, and which messages it has to wait for.
  std::map<Message, std::int64_t> parts;
  std::map<Message, std::set<Message>> needs;
  for (std::uint32_t owner = 0; owner < size; ++owner) {
    for (std::uint32_t last = 0; last < size; ++last) {
      for (std::uint32_t at = last; at != owner;) {
        const auto [k, from] = has[{at, owner}];
        const Message message(k, at);
        parts[message] += content == Content::kPairs || at == last ? 1 : 0;
        if (from != owner) {
          needs[message].insert({has[{from, owner}].first, from});
        }
        at = from;
      }
    }
  }
  std::map<Message, std::int64_t> arrival;
  std::map<std::uint32_t, std::int64_t> free;
  ReferenceExchange result{.complete = true, .end = 0};
  for (std::size_t k = 0; k < routine.size(); ++k) {
    const exchange::Move& move = moves[routine[k].move];
    for (std::uint32_t e = 0; e < elements; ++e) {
      const Message message(k, who[move.to * elements + moves.add(e, move.shift)]);
      if (!parts.contains(message)) {
        continue;
      }
      const Bytes bytes{part.count * parts[message]};
      const auto route = moves.route(routine[k].move, e);
      std::int64_t start = 0;
      for (const Message& need : needs[message]) {
        start = std::max(start, arrival[need]);
      }
      std::int64_t head = 0;
      for (const LinkId link : route) {
        start = std::max(start, free[link.value()] - head);
        head += topology.link(link).latency.ps;
      }
      head = start;
      for (const LinkId link : route) {
        free[link.value()] = head + link_cost(topology.link(link), bytes, model).busy.ps;
        head += topology.link(link).latency.ps;
      }
      arrival[message] = start + route_time(topology, route, bytes).ps;
      result.end = std::max(result.end, arrival[message]);
    }
  }
  return result;
}

}  // namespace tacos::testing
