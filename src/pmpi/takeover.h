// SPDX-License-Identifier: MIT
// Collectives of a program that knows nothing of us, done by schedules where there are some.
//
// Whether a call is taken over follows from what all ranks of it know: the collective, the root,
// the communicator, the bytes. So they all decide alike, without a word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "tacos/collective.h"
#include "tacos/execute.h"

#include "mpi/mpi_team.h"
#include "mpi/mpi_transports.h"
#include "serve/loaded_schedule.h"
#include "serve/schedule_folder.h"

namespace tacos::pmpi {

/// A call as the program made it, in our words.
struct Request {
  const char* function = "";
  CollectiveKind kind = CollectiveKind::kAllReduce;
  MPI_Comm comm = MPI_COMM_NULL;
  /// Rank of the root.
  int root = 0;
  LoadedSchedule::Call call;
};

class Takeover {
 public:
  /// Of this process, with what its environment says: TACOS_PLAN, TACOS_MAP, TACOS_VERBOSE.
  [[nodiscard]] static Takeover& instance();

  /// Whether calls are looked at: not where there is nothing to take them over with, and not our
  /// own.
  [[nodiscard]] bool active();
  /// Whether it was done; if not, the library must do it.
  [[nodiscard]] bool attempt(const Request& request);
  /// The library does a call, for a reason.
  void fall_back(const char* function, const std::string& reason);
  /// Before MPI ends: says what was done, where that was asked for.
  void end();

 private:
  /// What is known of a communicator.
  struct Group {
    ~Group();
    MPI_Comm comm = MPI_COMM_NULL;
    std::unique_ptr<MpiTeam> team;
    std::unique_ptr<MpiTransports> transports;
    /// By rank.
    std::vector<NodeId> npus;
    std::vector<NodeId> sorted;
    /// By file: what was loaded, and what cannot be.
    std::map<std::size_t, LoadedSchedule> loaded;
    std::map<std::size_t, std::string> refused;
  };
  friend int forget_group(MPI_Comm comm, int key, void* group, void* extra);

  Takeover();
  void read_map(const std::string& map);
  [[nodiscard]] Group& group_of(MPI_Comm comm);
  [[nodiscard]] std::optional<std::size_t> file_for(const Group& group,
                                                    const Request& request) const;
  /// Null where it cannot be used.
  [[nodiscard]] LoadedSchedule* load(Group& group, std::size_t file);
  void say_once(const std::string& sentence);
  [[nodiscard]] bool speaks() const;

  std::vector<ScheduleFile> files_;
  std::string plan_;
  std::string map_;
  bool verbose_ = false;
  bool ready_ = false;
  /// While we do something ourselves, for which MPI is called.
  bool busy_ = false;
  int key_ = MPI_KEYVAL_INVALID;
  /// By rank of all processes.
  std::vector<NodeId> npus_;
  std::map<std::string, std::uint64_t> taken_;
  std::map<std::string, std::uint64_t> fallen_;
  std::vector<std::string> said_;
};

}  // namespace tacos::pmpi
