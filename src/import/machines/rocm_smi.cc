// SPDX-License-Identifier: MIT
// `rocm-smi --showtopo`: matrices of weights and link types between GPUs, and their NUMA nodes.
//
// Two GPUs whose type is XGMI have a link of their own when their weight is 15, what one hop
// weighs; hops are printed as 1 whatever lies between. Every GPU also reaches the CPU of its NUMA
// node. Speeds are not printed, so they are assumed: xGMI 48 GB/s on machines where a GPU has seven
// such links or more (MI300), else 36 GB/s (MI200), both RCCL's; PCIe 12 GB/s, sockets 16 GB/s.
// O(GPUs^2).
#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "import/board.h"
#include "import/formats.h"
#include "import/machines/device_matrix.h"
#include "import/machines/runtime_speeds.h"

namespace tacos::importing {
namespace {

constexpr std::string_view kOneHop = "15";
constexpr std::size_t kLinksOfMi300 = 7;

struct Printed {
  std::optional<DeviceMatrix> weights;
  std::optional<DeviceMatrix> types;
  /// By GPU, as far as they are known.
  std::vector<std::int64_t> numa;
};

/// "GPU[3] : (Topology) Numa Node: 1"
void read_numa(std::string_view line, std::vector<std::int64_t>& numa) {
  const std::size_t open = line.find("GPU[");
  const std::size_t close = line.find(']');
  constexpr std::string_view kLabel = "Numa Node:";
  const std::size_t label = line.find(kLabel);
  if (open == std::string_view::npos || close < open + 4 || close == std::string_view::npos ||
      label == std::string_view::npos) {
    return;
  }
  const std::optional<std::int64_t> gpu = whole(line.substr(open + 4, close - open - 4));
  const std::optional<std::int64_t> node = whole(trimmed(line.substr(label + kLabel.size())));
  if (gpu && node && *gpu >= 0 && static_cast<std::size_t>(*gpu) < numa.size()) {
    numa[static_cast<std::size_t>(*gpu)] = *node;
  }
}

Result<Printed> read_printed(const Source& source, const std::vector<TextLine>& lines) {
  Printed printed;
  std::string_view title;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const std::string_view text = lines[at].text;
    title = text.find("===") != std::string_view::npos ? text : title;
    const std::vector<std::string_view> words = words_of(text);
    if (!words.empty() && words.front() == "GPU0" && (words.size() == 1 || words[1] == "GPU1")) {
      const bool is_weight = title.find("Weight between") != std::string_view::npos;
      const bool is_type = title.find("Link Type between") != std::string_view::npos;
      if (is_weight || is_type) {
        Result<DeviceMatrix> matrix = read_device_matrix(source, lines, at, "");
        if (!matrix) {
          return matrix.error();
        }
        printed.numa.resize(std::max(printed.numa.size(), matrix->names.size()), 0);
        (is_weight ? printed.weights : printed.types) = *std::move(matrix);
      }
    }
    read_numa(text, printed.numa);
  }
  return printed;
}

/// Pairs with a link of their own, the higher number first.
std::vector<std::pair<std::size_t, std::size_t>> direct_pairs(const Source& source,
                                                              const Printed& printed) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  const DeviceMatrix& types = *printed.types;
  for (std::size_t row = 0; row < types.names.size(); ++row) {
    for (std::size_t column = 0; column < row; ++column) {
      const std::string& type = types.cells[row][column];
      if (type == "XGMI") {
        if (!printed.weights || printed.weights->cells[row][column] == kOneHop) {
          pairs.emplace_back(row, column);
        }
      } else if (type != "PCIE") {
        source.warn(types.lines[row],
                    fmt::format("'{}' between {} and {} is not known and counts as no link",
                                type,
                                types.names[row],
                                types.names[column]));
      }
    }
  }
  return pairs;
}

}  // namespace

Result<Topology> read_rocm_smi(const Source& source) {
  const std::string text = without_escapes(source.text());
  const std::vector<TextLine> lines = lines_of(text);
  const Result<Printed> printed = read_printed(source, lines);
  if (!printed) {
    return printed.error();
  }
  if (!printed->types) {
    return input_error("has no matrix 'Link Type between two GPUs'", source.where());
  }
  if (printed->weights && printed->weights->names != printed->types->names) {
    return source.error(printed->types->line, "the matrices are not of the same GPUs");
  }
  Board board(source);
  std::map<std::int64_t, Board::Node> cpus;
  for (std::size_t gpu = 0; gpu < printed->types->names.size(); ++gpu) {
    board.add_npu(fmt::format("gpu{}", gpu));
  }
  for (std::size_t gpu = 0; gpu < printed->types->names.size(); ++gpu) {
    const auto [cpu, added] = cpus.emplace(printed->numa[gpu], Board::Node{});
    if (added) {
      cpu->second = board.add_switch(fmt::format("cpu{}", cpus.size() - 1));
    }
    board.join(static_cast<Board::Node>(gpu), cpu->second, default_pcie_bandwidth(), Hop::kPcie);
  }
  const Bandwidth between = socket_bandwidth({.arch = {}, .vendor = "AuthenticAMD"});
  for (auto from = cpus.begin(); from != cpus.end(); ++from) {
    for (auto to = cpus.begin(); to != from; ++to) {
      board.join(to->second, from->second, between, Hop::kSocket);
    }
  }
  const auto pairs = direct_pairs(source, *printed);
  std::vector<std::size_t> degrees(printed->types->names.size());
  for (const auto& [a, b] : pairs) {
    ++degrees[a];
    ++degrees[b];
  }
  const bool mi300 = *std::max_element(degrees.begin(), degrees.end()) >= kLinksOfMi300;
  for (const auto& [a, b] : pairs) {
    board.join(static_cast<Board::Node>(b),
               static_cast<Board::Node>(a),
               xgmi_bandwidth(mi300 ? "gfx942" : "gfx90a"),
               Hop::kPeer);
  }
  return board.build();
}

}  // namespace tacos::importing
