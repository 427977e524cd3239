// SPDX-License-Identifier: MIT
#include "synthesis/exchange/draft.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "replay/message_scheduler.h"
#include "replay/relist.h"
#include "synthesis/exchange/moves.h"
#include "synthesis/exchange/rooted.h"
#include "synthesis/exchange/search.h"

namespace tacos::exchange {
namespace {

/// Places of a routine, by which its work grows.
constexpr std::size_t kMostPlaces = 1'024;

std::optional<Draft> draft_with(const Setting& setting, const Moves& moves, const DraftTask& task) {
  const Costs costs(
      setting.network, task.part, moves.num_reached() * moves.roles(), task.link_model);
  const auto found = find_plan(moves, costs, task.content, task.limit, task.seed);
  if (!found) {
    return std::nullopt;
  }
  return Draft{.transfers = transfers_of(moves, costs, task.content, found->routine, task.parts),
               .end = found->time.end,
               .in_order = found->alike};
}

}  // namespace

Setting::Setting(Topology topology, std::span<const NodeId> all, Bytes message)
    : network(std::move(topology)),
      participants(all),
      hops(network, all, message),
      layouts(find_layouts(network, hops)) {}

std::optional<Draft> draft_plan(const Setting& setting, const DraftTask& task) {
  DraftTask faster = task;
  std::optional<Draft> best;
  bool reached = false;
  for (const Layout& plain : setting.layouts) {
    // With as few roles as it takes to reach everybody, and with as many as it takes for all of a
    // role to be alike.
    const std::uint32_t length = plain.group.lengths().front();
    bool alike = false;
    for (std::uint32_t roles = 1; roles <= length && !alike; ++roles) {
      if (length % roles != 0 || std::size_t{setting.hops.size()} * roles > kMostPlaces) {
        continue;
      }
      const Layout layout = with_roles(plain, roles);
      const Moves moves(setting.hops, layout, layout.group.num_digits());
      alike = moves.are_alike();
      if (moves.num_reached() < setting.hops.size() || (reached && !alike)) {
        continue;
      }
      reached = true;
      if (std::optional<Draft> made = draft_with(setting, moves, faster)) {
        faster.limit = made->end;
        best = std::move(made);
      }
    }
    if (reached) {
      break;
    }
  }
  return best;
}

std::optional<Draft> draft_plan_along(const Setting& setting,
                                      const Layout& layout,
                                      std::size_t axes,
                                      const DraftTask& task) {
  // Alone along these axes nobody has anything to exchange.
  if (layout.num_within(axes) < 2) {
    return std::nullopt;
  }
  const Moves moves(setting.hops, layout, axes);
  return moves.num_reached() == layout.num_within(axes) ? draft_with(setting, moves, task)
                                                        : std::nullopt;
}

std::optional<Draft> draft_tree(const Setting& setting, std::uint32_t root, const DraftTask& task) {
  const Costs costs(setting.network, task.part, setting.hops.size(), task.link_model);
  const auto found = find_tree(setting.hops, costs, task.content, root, task.seed);
  if (!found || found->time.end >= task.limit) {
    return std::nullopt;
  }
  return Draft{.transfers = transfers_of(setting.hops, task.content, *found, task.parts),
               .end = found->time.end};
}

void turn(const Topology& topology,
          const Collective& collective,
          Op op,
          std::span<const LinkId> twins,
          Draft& draft) {
  const std::vector<Ticks> ends = ends_of(topology, collective, draft.transfers);
  const Ticks last = *std::max_element(ends.begin(), ends.end());
  std::vector<std::uint32_t> order(ends.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return ends[a] > ends[b];
  });
  TransferBatch batch;
  std::vector<LinkId> links;
  for (const std::uint32_t i : order) {
    const Transfer one = draft.transfers[i];
    links.assign(one.links.rbegin(), one.links.rend());
    for (LinkId& link : links) {
      link = twins.empty() ? link : twins[link.index()];
    }
    batch.append({.start = last - ends[i], .op = op, .links = links, .chunks = one.chunks});
  }
  draft.transfers = std::move(batch);
  draft.end = last.ps;
}

std::optional<Schedule> schedule_of(const Topology& topology,
                                    const Collective& collective,
                                    LinkModel model,
                                    const Draft& draft,
                                    Form form) {
  const bool fits =
      form == Form::kForwards || !replay::has_unequal_routes(topology, draft.transfers);
  std::optional<Schedule> best;
  if (fits) {
    best = as_planned(topology, collective, draft.transfers);
  }
  if (form != Form::kExchanged && (!fits || !draft.in_order)) {
    std::optional<Schedule> listed =
        replay::schedule_messages(topology, collective, model, draft.transfers);
    if (listed && (!best || listed->collective_time() < best->collective_time())) {
      best = std::move(listed);
    }
  }
  return best;
}

}  // namespace tacos::exchange
