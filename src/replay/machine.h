// SPDX-License-Identifier: MIT
// A machine that makes the transfers of a schedule in their order, with no eye on the clock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "replay/clocks.h"

namespace tacos::replay {

/// A network and the chunks that move on it.
struct Setting {
  const Topology& topology;
  const ChunkTable& chunks;
};

struct MachineOptions {
  LinkModel link_model = LinkModel::kHold;
  /// Whether `Made` says what a transfer waited for.
  bool with_causes = false;
  /// How much longer a transfer takes than its links would, by its number; may be empty.
  std::function<Ticks(std::uint64_t number, Ticks duration)> delay = {};
  /// Gets every transfer once its times are known, over direct links in planned order; may be
  /// empty.
  std::function<void(const Transfer& planned, const Made& made)> take = {};
};

/// Every link sends its transfers in the order in which they were planned to reach it, each as soon
/// as its source holds what it was planned to hold and the link is free. What arrives at a chunk
/// that is still being sent, as when two NPUs exchange their sums, is kept apart until it was sent.
/// Where everything is as planned nothing is later than planned.
///
/// Of routes through three and more links, some may wait for each other in a circle: one of them
/// then starts no sooner than planned, and where links are slower those may change their order.
///
/// O(1) for a transfer over one link, O(links x log transfers under way) over a route; memory as
/// for Clocks.
class Machine {
 public:
  /// The schedule was made for `planned`; links and chunks of `actual` have the same ids.
  Machine(const Setting& planned, const Setting& actual, MachineOptions options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// In the order of the schedule, whose transfers are numbered from 0.
  void add(const Transfer& planned);
  /// That a transfer will be added soon: what it needs is fetched from memory meanwhile.
  void expect(const Transfer& planned) const;
  /// After the last one. When all is done.
  Ticks finish();

  [[nodiscard]] const Clocks& clocks() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tacos::replay
