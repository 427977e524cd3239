// SPDX-License-Identifier: MIT
// What is asked for in words, as on the command line: a collective among some NPUs of a network.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tacos/ids.h"
#include "tacos/result.h"
#include "tacos/synthesize.h"
#include "tacos/topology.h"

namespace tacos {

struct TaskWords {
  /// `all-gather`, `broadcast:3`, or a file.
  std::string collective;
  /// What is in such a file, which then need not exist.
  std::optional<std::string> collective_text = std::nullopt;
  /// The whole buffer, 1GiB unless said.
  std::optional<std::string> size = std::nullopt;
  /// Those that take part, such as `0-3,8,9`; nothing: all that have not failed.
  std::optional<std::string> group = std::nullopt;
  /// Whether only NPUs that take part, and switches, carry data.
  bool no_relay = false;
};

inline constexpr const char* kDefaultSize = "1GiB";

/// A network, what is left of it, and what to synthesize for it.
struct Task {
  Topology topology;
  Problem problem;
};

/// Whether size and collective can be read at all, before a network is there.
[[nodiscard]] Status check_words(const TaskWords& words);
[[nodiscard]] Result<Task> make_task(const TaskWords& words, DegradedTopology network);

/// Those of a group, or all that have not failed.
[[nodiscard]] Result<std::vector<NodeId>> choose_participants(
    const std::optional<std::string>& group, const DegradedTopology& network);

}  // namespace tacos
