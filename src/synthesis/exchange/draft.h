// SPDX-License-Identifier: MIT
// What participants send each other and when, before it is a schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "synthesis/exchange/clocks.h"
#include "synthesis/exchange/hops.h"
#include "synthesis/exchange/layout.h"
#include "synthesis/exchange/routine.h"
#include "synthesis/exchange/transfers.h"

namespace tacos::exchange {

/// A network, and what there is to know of those who take part.
struct Setting {
  Topology network;
  std::span<const NodeId> participants;
  Hops hops;
  std::vector<Layout> layouts;

  /// Messages are of about so many bytes.
  Setting(Topology topology, std::span<const NodeId> all, Bytes message);
};

struct Draft {
  TransferBatch transfers;
  std::int64_t end = 0;
  /// Whether links take transfers in the best order, as far as one can tell.
  bool in_order = true;
};

struct DraftTask {
  Content content = Content::kSame;
  /// Bytes of a part.
  Bytes part;
  Parts parts;
  LinkModel link_model = LinkModel::kHold;
  std::uint64_t seed = 1;
  /// A draft that takes as long is none.
  std::int64_t limit = kLongest;
};

/// Everybody's parts to everybody.
[[nodiscard]] std::optional<Draft> draft_plan(const Setting& setting, const DraftTask& task);

/// Everybody's part to those that differ from it in the first `axes` coordinates alone.
[[nodiscard]] std::optional<Draft> draft_plan_along(const Setting& setting,
                                                    const Layout& layout,
                                                    std::size_t axes,
                                                    const DraftTask& task);

/// The root's part, or a part for each, to everybody. The root is the number of a participant.
[[nodiscard]] std::optional<Draft> draft_tree(const Setting& setting,
                                              std::uint32_t root,
                                              const DraftTask& task);

/// Backwards in time. Transfers of the reversed network take its links turned round; or, where a
/// network's links have twins, those instead.
void turn(const Topology& topology,
          const Collective& collective,
          Op op,
          std::span<const LinkId> twins,
          Draft& draft);

/// Over routes of unequal links times cannot be `turned`. There, and where a draft is not in order,
/// links decide anew which transfer goes first; that is not done where chunks are `exchanged` both
/// ways at once. Nothing when it would take too long.
enum class Form { kForwards, kTurned, kExchanged };
[[nodiscard]] std::optional<Schedule> schedule_of(const Topology& topology,
                                                  const Collective& collective,
                                                  LinkModel model,
                                                  const Draft& draft,
                                                  Form form);

}  // namespace tacos::exchange
