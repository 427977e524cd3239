// SPDX-License-Identifier: MIT
// `nvidia-smi topo -m`: how each two devices reach each other, in a word.
//
// NV# is that many NVLinks. When every two GPUs have the same number and their sum is more than any
// GPU has, they all lead into an NVSwitch. The other words say what two devices have in common:
// PIX a PCIe bridge, PXB a tree of bridges, PHB and NODE a CPU, SYS nothing; the PCIe tree is made
// from these classes, as fine as the words are. Speeds are not printed, so they are assumed:
// an NVLink 20 GB/s (NCCL's for V100 and A100), PCIe 12 GB/s, sockets 10 GB/s. O(devices^2).
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "import/board.h"
#include "import/formats.h"
#include "import/machines/device_matrix.h"
#include "import/machines/runtime_speeds.h"

namespace tacos::importing {
namespace {

/// No GPU has more.
constexpr std::int64_t kMostNvlinks = 18;
constexpr std::int64_t kAmpere = 80;
constexpr Bandwidth kBetweenSockets = megabytes(10'000);

/// What two devices have in common, the closest first.
enum class Closeness { kBridge, kBridges, kCpu, kNothing };

std::optional<Closeness> closeness_of(std::string_view cell) {
  constexpr std::array<std::pair<std::string_view, Closeness>, 6> kWords{
      std::pair{"PIX", Closeness::kBridge},
      std::pair{"PXB", Closeness::kBridges},
      std::pair{"PHB", Closeness::kCpu},
      std::pair{"NODE", Closeness::kCpu},
      std::pair{"SYS", Closeness::kNothing},
      std::pair{"SOC", Closeness::kNothing}};
  for (const auto& [word, closeness] : kWords) {
    if (word == cell) {
      return closeness;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> nvlinks_of(std::string_view cell) {
  const std::optional<std::int64_t> count =
      cell.starts_with("NV") ? whole(cell.substr(2)) : std::nullopt;
  return count && *count >= 1 && *count <= 1'000 ? count : std::nullopt;
}

/// Classes of devices that have something in common.
class Classes {
 public:
  explicit Classes(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  [[nodiscard]] std::size_t of(std::size_t device) const {
    while (parent_[device] != device) {
      device = parent_[device];
    }
    return device;
  }
  void unite(std::size_t a, std::size_t b) {
    const auto [low, high] = std::minmax({of(a), of(b)});
    parent_[high] = low;
  }

 private:
  std::vector<std::size_t> parent_;
};

class NvidiaReader {
 public:
  NvidiaReader(const Source& source, const DeviceMatrix& matrix, bool has_numa)
      : source_(source),
        matrix_(matrix),
        board_(source),
        bridge_(matrix.names.size()),
        bridges_(matrix.names.size()),
        cpu_(matrix.names.size()) {
    find_classes(has_numa);
  }

  Result<Topology> read() {
    for (std::size_t device = 0; device < size(); ++device) {
      devices_.push_back(is_gpu(device)
                             ? board_.add_npu(fmt::format("gpu{}", board_.num_npus()))
                             : board_.add_switch(fmt::format("{}{}", kNicPrefix, nics_++)));
    }
    add_pcie();
    add_nvlinks();
    return board_.build();
  }

 private:
  using Node = Board::Node;

  [[nodiscard]] std::size_t size() const { return matrix_.names.size(); }
  [[nodiscard]] bool is_gpu(std::size_t device) const {
    return matrix_.names[device].starts_with("GPU");
  }

  void find_classes(bool has_numa) {
    std::map<std::string, std::size_t> first_of_numa;
    for (std::size_t row = 0; row < size(); ++row) {
      for (std::size_t column = 0; column < row; ++column) {
        read_cell(row, column);
      }
      // Behind the cells: CPUs, then the NUMA node.
      const auto& rest = matrix_.rest[row];
      if (has_numa && rest.size() > 1 && whole(rest[1])) {
        cpu_.unite(row, first_of_numa.emplace(rest[1], row).first->second);
      }
    }
  }

  void read_cell(std::size_t row, std::size_t column) {
    const std::string& cell = matrix_.cells[row][column];
    const std::optional<Closeness> closeness = closeness_of(cell);
    if (!closeness) {
      if (!nvlinks_of(cell)) {
        source_.warn(matrix_.lines[row],
                     fmt::format("'{}' between {} and {} is not known and counts as no link",
                                 cell,
                                 matrix_.names[row],
                                 matrix_.names[column]));
      }
      return;
    }
    if (*closeness <= Closeness::kBridge) {
      bridge_.unite(row, column);
    }
    if (*closeness <= Closeness::kBridges) {
      bridges_.unite(row, column);
    }
    if (*closeness <= Closeness::kCpu) {
      cpu_.unite(row, column);
    }
  }

  /// The switches of classes.
  using Level = std::map<std::size_t, Node>;

  void add_pcie() {
    std::map<std::size_t, Node> cpus;
    for (std::size_t device = 0; device < size(); ++device) {
      if (!cpus.contains(cpu_.of(device))) {
        const Node node = board_.add_switch(fmt::format("cpu{}", cpus.size()));
        for (const auto& [other, socket] : cpus) {
          board_.join(socket, node, kBetweenSockets, Hop::kSocket);
        }
        cpus.emplace(cpu_.of(device), node);
      }
    }
    Level outer;
    Level inner;
    for (std::size_t device = 0; device < size(); ++device) {
      Node above = cpus.at(cpu_.of(device));
      above = below(outer, bridges_, device, above, is_split(device));
      above = below(inner, bridge_, device, above, members(bridge_, device) > 1);
      board_.join(devices_[device], above, default_pcie_bandwidth(), Hop::kPcie);
    }
  }

  [[nodiscard]] std::size_t members(const Classes& classes, std::size_t device) const {
    std::size_t count = 0;
    for (std::size_t other = 0; other < size(); ++other) {
      count += classes.of(other) == classes.of(device) ? 1 : 0;
    }
    return count;
  }

  /// Whether its tree of bridges has more in it than its bridge.
  [[nodiscard]] bool is_split(std::size_t device) const {
    return members(bridges_, device) > members(bridge_, device);
  }

  /// The switch of its class, below `above`; that itself where none is needed.
  Node below(Level& level, const Classes& classes, std::size_t device, Node above, bool needed) {
    if (!needed) {
      return above;
    }
    const auto [found, added] = level.emplace(classes.of(device), Node{});
    if (added) {
      found->second = board_.add_switch(fmt::format("pcie{}", switches_++));
      board_.join(found->second, above, default_pcie_bandwidth(), Hop::kPcie);
    }
    return found->second;
  }

  /// The number that every two GPUs have, when it is too many for links of their own.
  [[nodiscard]] std::optional<std::int64_t> links_into_switch() const {
    std::optional<std::int64_t> same;
    std::int64_t gpus = 0;
    for (std::size_t row = 0; row < size(); ++row) {
      gpus += is_gpu(row) ? 1 : 0;
      for (std::size_t column = 0; is_gpu(row) && column < row; ++column) {
        const std::optional<std::int64_t> links = nvlinks_of(matrix_.cells[row][column]);
        if (is_gpu(column) && (!links || (same && links != same))) {
          return std::nullopt;
        }
        same = is_gpu(column) ? links : same;
      }
    }
    return same && *same * (gpus - 1) > kMostNvlinks ? same : std::nullopt;
  }

  void add_nvlinks() {
    const auto times = [](std::int64_t links) {
      return Bandwidth{nvlink_bandwidth(kAmpere).bytes_per_second * links};
    };
    if (const std::optional<std::int64_t> links = links_into_switch()) {
      const Node node = board_.add_switch("nvswitch");
      for (std::size_t device = 0; device < size(); ++device) {
        if (is_gpu(device)) {
          board_.join(devices_[device], node, times(*links), Hop::kSwitched);
        }
      }
      return;
    }
    for (std::size_t row = 0; row < size(); ++row) {
      for (std::size_t column = 0; column < row; ++column) {
        if (const std::optional<std::int64_t> links = nvlinks_of(matrix_.cells[row][column])) {
          board_.join(devices_[column], devices_[row], times(*links), Hop::kPeer);
        }
      }
    }
  }

  const Source& source_;
  const DeviceMatrix& matrix_;
  Board board_;
  Classes bridge_;
  Classes bridges_;
  Classes cpu_;
  std::vector<Node> devices_;
  std::uint32_t switches_ = 0;
  std::uint32_t nics_ = 0;
};

}  // namespace

Result<Topology> read_nvidia_smi(const Source& source) {
  const std::string text = without_escapes(source.text());
  const std::vector<TextLine> lines = lines_of(text);
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const std::vector<std::string_view> words = words_of(lines[at].text);
    if (words.empty() || words.front() != "GPU0") {
      continue;
    }
    const Result<DeviceMatrix> matrix = read_device_matrix(source, lines, at, "CPU");
    if (!matrix) {
      return matrix.error();
    }
    const bool has_numa = lines[at].text.find("NUMA Affinity") != std::string_view::npos;
    return NvidiaReader(source, *matrix, has_numa).read();
  }
  return input_error("has no line that begins with GPU0, the header of the matrix", source.where());
}

}  // namespace tacos::importing
