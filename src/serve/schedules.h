// SPDX-License-Identifier: MIT
// The schedules that a group of ranks has for its collectives: those of a plan, or such as are
// synthesized when they are first needed. All ranks make the same, since synthesis does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tacos/collective.h"
#include "tacos/synthesize.h"
#include "tacos/topology.h"

#include "base/parallel/team.h"
#include "serve/loaded_schedule.h"
#include "serve/schedule_folder.h"

namespace tacos {

class Schedules {
 public:
  struct Options {
    /// A folder; else a network, as a spec or a file; with neither, every two ranks have a wire.
    std::string plan;
    std::string topology;
    /// By rank of this group: its NPU.
    std::vector<NodeId> npus;
    /// Ranks of all groups, where the network, or the plan, must be for them and no others.
    std::optional<std::uint32_t> world;
    /// Of synthesis.
    int effort = kDefaultEffort;
  };

  /// By all ranks; all get the error if one fails, or has something else than others.
  [[nodiscard]] static Result<Schedules> open(Team& team, Options options);

  /// What serves a call, by number; nothing where nothing does. The root is a rank.
  struct Use {
    std::size_t number = 0;
  };
  [[nodiscard]] std::optional<Use> find(CollectiveKind kind,
                                        int root,
                                        const LoadedSchedule::Call& call);
  /// Null while it is not loaded.
  [[nodiscard]] LoadedSchedule* loaded(Use use);
  /// By all ranks together. Null where it cannot be used; then it is not found again.
  [[nodiscard]] LoadedSchedule* load(Use use, Team& team, Transport& transport);
  /// Why the last one could not.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// For people: the file, or the engine that made it.
  [[nodiscard]] const std::string& name(Use use) const { return entries_[use.number].name; }

 private:
  struct Entry {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    NodeId root;
    /// The size that it is made for, where it is made.
    Bytes size;
    /// The file that it is read from.
    std::string path;
    std::string name;
    std::optional<LoadedSchedule> loaded;
    bool refused = false;
  };

  [[nodiscard]] Status read(std::uint32_t ranks);
  [[nodiscard]] Status check_alike(Team& team) const;
  [[nodiscard]] Result<Bundle> make(const Entry& entry) const;
  [[nodiscard]] Result<LoadedSchedule> load_entry(Entry& entry, Team& team, Transport& transport);

  Options options_;
  std::vector<NodeId> sorted_;
  std::vector<ScheduleFile> files_;
  std::optional<Topology> topology_;
  std::vector<Entry> entries_;
  /// What is made, by collective, root and size; or which file, by its number.
  std::map<std::tuple<int, std::uint32_t, std::int64_t>, std::size_t> made_;
  std::map<std::size_t, std::size_t> read_;
  std::string reason_;
};

}  // namespace tacos
