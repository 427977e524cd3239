// SPDX-License-Identifier: MIT
// Contingency plans: a folder with the answers to every single failure of a network, made before
// any of them happens (docs/repair.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tacos/bundle.h"
#include "tacos/repair.h"
#include "tacos/result.h"
#include "tacos/synthesize.h"

namespace tacos {

struct ContingencyOptions {
  LinkModel link_model = LinkModel::kHold;
  std::uint64_t seed = 1;
  /// Of the schedule for the whole network.
  int effort = kDefaultEffort;
  /// Answers that are made at once; never changes the result.
  int threads = 1;
  /// Called now and then with the share of the work done, 0 to 1, by one thread at a time; may be
  /// empty.
  std::function<void(double)> progress = {};
  /// Once stop is requested, work ends soon, with kCancelled; from any thread.
  std::stop_token cancel = {};
};

/// What to do when one thing fails.
struct Contingency {
  /// `link:3-4` or `npu:5`.
  std::string failure;
  /// The failure that the answer was made for: this one, or one that a symmetry of the network
  /// takes to it.
  std::string like;
  /// In the folder; empty where no schedule can help.
  std::string file;
  Ticks time;
  Ticks bound;
  /// As in Repair.
  std::uint64_t kept_transfers = 0;
  std::uint64_t new_transfers = 0;

  [[nodiscard]] bool possible() const { return !file.empty(); }
  friend bool operator==(const Contingency&, const Contingency&) = default;
};

struct ContingencyPlan {
  std::string network;
  std::uint64_t network_hash = 0;
  /// Of what the schedule does: kind, root, participants, size.
  std::uint64_t collective_hash = 0;
  /// For people.
  std::string collective;
  LinkModel link_model = LinkModel::kHold;
  /// Of the whole network.
  Ticks time;
  Ticks bound;
  /// Cables, then NPUs, both in the order of their ids.
  std::vector<Contingency> rows;

  /// The failure after which it takes longest; null when there is none.
  [[nodiscard]] const Contingency* worst() const;
  friend bool operator==(const ContingencyPlan&, const ContingencyPlan&) = default;
};

inline constexpr const char* kContingencyIndex = "contingency.json";

/// Makes the answers to all failures of one link (both directions, all parallel links) or one NPU,
/// once for those that are alike, each verified, in a folder that is put in its place when
/// complete: what was there must have been a contingency plan. An interrupted call goes on.
[[nodiscard]] Result<ContingencyPlan> make_contingency(const Topology& topology,
                                                       const Problem& problem,
                                                       const ContingencyOptions& options,
                                                       const std::string& folder);

/// The index; fails where a file that it names is missing.
[[nodiscard]] Result<ContingencyPlan> read_contingency(const std::string& folder);

/// The answer to a change of what a schedule was made for, not verified; nothing when it is not one
/// failure of the plan, or cannot be taken from there. Fails when the plan is for another network
/// or collective.
[[nodiscard]] Result<std::optional<Repair>> find_contingency(const std::string& folder,
                                                             const Bundle& bundle,
                                                             const NetworkChange& change);

}  // namespace tacos
