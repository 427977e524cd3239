// SPDX-License-Identifier: MIT
#include "import/graphs/attributed_graph.h"

#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/text/quantity.h"
#include "import/board.h"
#include "import/text/fields.h"
#include "topology/generators.h"

namespace tacos::importing {
namespace {

// What an edge without them has: the paper's links.
constexpr Bandwidth kUsualBandwidth = megabytes(50'000);
constexpr Ticks kUsualLatency{500'000};

/// A key that people use, and the unit of its bare numbers; none when the value has its own.
struct KnownKey {
  std::string_view key;
  std::string_view unit;
};
constexpr std::array kBandwidths{KnownKey{"bandwidth_bps", ""},
                                 KnownKey{"bandwidth", ""},
                                 KnownKey{"bw", ""},
                                 KnownKey{"capacity", ""},
                                 KnownKey{"linkspeedraw", "bps"}};
constexpr std::array kLatencies{
    KnownKey{"latency_ps", "ps"}, KnownKey{"latency", ""}, KnownKey{"lat", ""}};

const std::string* find(const Attributes& attributes, std::string_view key) {
  for (const auto& [name, value] : attributes) {
    if (lower(name) == key) {
      return &value;
    }
  }
  return nullptr;
}

/// Whole bytes per second, whatever a program makes of large numbers: 5e10 is one.
Result<Bandwidth> bytes_per_second(const std::string& text) {
  const Result<Bytes> bytes = parse_size(text);
  return bytes ? Result<Bandwidth>(Bandwidth{bytes->count}) : bytes.error();
}

Result<Bandwidth> bits_per_second(const std::string& text) {
  const Result<Bandwidth> megabits = parse_bandwidth(text + "Mbps");
  return megabits ? Result<Bandwidth>(Bandwidth{megabits->bytes_per_second / 1'000'000})
                  : megabits.error();
}

class GraphReader {
 public:
  explicit GraphReader(const Source& source) : source_(source), board_(source) {}

  Result<Topology> read(const AttributedGraph& graph) {
    if (Status fits = check_network_size(graph.nodes.size(), 2 * graph.edges.size()); !fits) {
      return input_error(fits.error().message, source_.where());
    }
    for (const GraphNode& node : graph.nodes) {
      const Board::Node added =
          is_switch(node) ? board_.add_switch(node.id) : board_.add_npu(node.id);
      if (!nodes_.emplace(node.id, added).second) {
        return input_error(fmt::format("node '{}' is there twice", node.id), node.where);
      }
    }
    for (const GraphEdge& edge : graph.edges) {
      if (Status added = add_edge(edge); !added) {
        return added.error();
      }
    }
    return board_.build();
  }

 private:
  bool is_switch(const GraphNode& node) {
    for (const std::string_view key : {"kind", "type", "node_type"}) {
      if (const std::string* const kind = find(node.attributes, key)) {
        const std::string word = lower(*kind);
        if (word != "switch" && word != "router" && word != "npu" && word != "gpu" &&
            word != "host") {
          source_.warn(1, fmt::format("node '{}' of kind '{}' counts as an NPU", node.id, *kind));
        }
        return word == "switch" || word == "router";
      }
    }
    return false;
  }

  Result<Bandwidth> bandwidth_of(const GraphEdge& edge) {
    for (const KnownKey& known : kBandwidths) {
      if (const std::string* const value = find(edge.attributes, known.key)) {
        return known.unit == "bps"            ? bits_per_second(*value)
               : known.key == "bandwidth_bps" ? bytes_per_second(*value)
                                              : parse_bandwidth(*value);
      }
    }
    if (!std::exchange(told_bandwidth_, true)) {
      source_.warn(1, "has edges without a bandwidth; they count as 50 GB/s");
    }
    return kUsualBandwidth;
  }

  Result<Ticks> latency_of(const GraphEdge& edge) {
    for (const KnownKey& known : kLatencies) {
      if (const std::string* const value = find(edge.attributes, known.key)) {
        return parse_time(*value + std::string(known.unit));
      }
    }
    if (!std::exchange(told_latency_, true)) {
      source_.warn(1, "has edges without a latency; they count as 0.5 us");
    }
    return kUsualLatency;
  }

  Status add_edge(const GraphEdge& edge) {
    const auto from = nodes_.find(edge.source);
    const auto to = nodes_.find(edge.target);
    if (from == nodes_.end() || to == nodes_.end()) {
      return input_error(fmt::format("an edge ends at '{}', which is no node",
                                     from == nodes_.end() ? edge.source : edge.target),
                         edge.where);
    }
    const Result<Bandwidth> bandwidth = bandwidth_of(edge);
    const Result<Ticks> latency = latency_of(edge);
    if (!bandwidth || !latency) {
      return input_error(!bandwidth ? bandwidth.error().message : latency.error().message,
                         edge.where);
    }
    if (from->second == to->second) {
      return input_error(fmt::format("an edge joins '{}' to itself", edge.source), edge.where);
    }
    board_.link(from->second, to->second, *bandwidth, *latency);
    if (!edge.directed) {
      board_.link(to->second, from->second, *bandwidth, *latency);
    }
    return ok();
  }

  const Source& source_;
  Board board_;
  std::map<std::string, Board::Node> nodes_;
  bool told_bandwidth_ = false;
  bool told_latency_ = false;
};

}  // namespace

Result<Topology> make_network(const Source& source, const AttributedGraph& graph) {
  return GraphReader(source).read(graph);
}

}  // namespace tacos::importing
