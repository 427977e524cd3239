// SPDX-License-Identifier: MIT
// A network under construction by a reader: nodes in the order in which the file has them, NPUs or
// not, with names. Ids of the finished network are given at the end, NPUs first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tacos/topology.h"

#include "import/source.h"

namespace tacos::importing {

/// Bandwidths as runtimes count them.
[[nodiscard]] constexpr Bandwidth megabytes(std::int64_t per_second) {
  return {per_second * 1'000'000};
}

/// NICs are switches whose names begin so; a cluster joins boxes by them.
inline constexpr std::string_view kNicPrefix = "nic";

class Board {
 public:
  using Node = std::uint32_t;

  explicit Board(const Source& source) : source_(source) {}

  /// NPUs are numbered by `order`, then as added.
  Node add_npu(std::string name, std::int64_t order = 0);
  Node add_switch(std::string name);
  [[nodiscard]] bool is_npu(Node node) const { return nodes_[node].npu; }
  [[nodiscard]] std::size_t num_npus() const;
  [[nodiscard]] const std::string& name(Node node) const { return nodes_[node].name; }

  void link(Node from, Node to, Bandwidth bandwidth, Ticks latency);
  void link(Node from, Node to, Bandwidth bandwidth, Hop hop) {
    link(from, to, bandwidth, source_.latencies()[hop]);
  }
  /// Both ways.
  template <class Latency>
  void join(Node a, Node b, Bandwidth bandwidth, Latency latency) {
    link(a, b, bandwidth, latency);
    link(b, a, bandwidth, latency);
  }

  /// Switches without a link are left out. Fails when there is no NPU.
  [[nodiscard]] Result<Topology> build() const;

 private:
  struct Entry {
    std::string name;
    bool npu = false;
    std::int64_t order = 0;
    bool linked = false;
  };
  struct Wire {
    Node from;
    Node to;
    Bandwidth bandwidth;
    Ticks latency;
  };

  const Source& source_;
  std::vector<Entry> nodes_;
  std::vector<Wire> wires_;
};

}  // namespace tacos::importing
