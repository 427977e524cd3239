// SPDX-License-Identifier: MIT
// hwloc's XML (lstopo --of xml), versions 2 and 3.
//
// The tree of objects gives PCIe: GPUs and NICs below bridges below packages; a bridge is a switch
// where it holds two of them or more, otherwise the slowest link of a chain of bridges counts. The
// matrices NVLinkBandwidth, XGMIBandwidth and XeLinkBandwidth (MB/s, row to column) give what is
// faster: between GPUs, to a CPU, and to NVSwitches. The drivers do not tell hwloc of the links
// between NVSwitches, without which a DGX-2 would be two halves, so all of them are one switch, as
// for NCCL. Packages are joined by pairs at socket_bandwidth. O(elements + values).
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/text/quantity.h"
#include "import/board.h"
#include "import/formats.h"
#include "import/machines/runtime_speeds.h"
#include "import/text/fields.h"
#include "import/text/xml.h"

namespace tacos::importing {
namespace {

constexpr std::array<std::string_view, 3> kMatrices{
    "NVLinkBandwidth", "XGMIBandwidth", "XeLinkBandwidth"};
constexpr std::size_t kMostObjects = 4096;
constexpr std::int64_t kMostBandwidth = 1'000'000'000;

bool is_object(const XmlElement& element, std::string_view type) {
  return element.name == "object" && element.attribute("type") == type;
}

std::string_view info(const XmlElement& object, std::string_view key) {
  for (const XmlElement& child : object.children) {
    if (child.name == "info" && child.attribute("name") == key) {
      return child.attribute("value");
    }
  }
  return {};
}

/// Of an operating system's device: the libraries that know GPUs.
bool names_gpu(const XmlElement& device) {
  constexpr std::array<std::string_view, 5> kPrefixes{"nvml", "rsmi", "amdsmi", "ze", "cuda"};
  const std::string_view name = device.attribute("name");
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [name](std::string_view prefix) {
    return name.starts_with(prefix);
  });
}

struct Matrix {
  std::size_t line = 0;
  /// "OSDev:332", in order.
  std::vector<std::string> objects;
  /// Row by row.
  std::vector<std::int64_t> values;
};

Result<Matrix> read_matrix(const Source& source, const XmlElement& element) {
  Matrix matrix{.line = element.line, .objects = {}, .values = {}};
  for (const XmlElement& child : element.children) {
    for (const TextLine& line : lines_of(child.text)) {
      for (const std::string_view word : words_of(line.text)) {
        if (child.name == "indexes") {
          matrix.objects.emplace_back(word.find(':') == std::string_view::npos
                                          ? fmt::format("{}:{}", element.attribute("type"), word)
                                          : std::string(word));
        } else if (child.name == "u64values") {
          const std::optional<std::int64_t> value = whole(word);
          if (!value || *value < 0 || *value > kMostBandwidth) {
            return source.error(child.line, fmt::format("'{}' is no bandwidth in MB/s", word));
          }
          matrix.values.push_back(*value);
        }
      }
    }
  }
  const std::size_t size = matrix.objects.size();
  if (size > kMostObjects || matrix.values.size() != size * size) {
    return source.error(element.line,
                        fmt::format("the matrix {} has {} values for {} objects, not {} x {}",
                                    element.attribute("name"),
                                    matrix.values.size(),
                                    size,
                                    size,
                                    size));
  }
  return matrix;
}

class HwlocReader {
 public:
  explicit HwlocReader(const Source& source) : source_(source), board_(source) {}

  Result<Topology> read(const XmlElement& topology) {
    new_types_ = topology.attribute("version").starts_with('3');
    for (const XmlElement& element : topology.children) {
      const bool wanted =
          std::find(kMatrices.begin(), kMatrices.end(), element.attribute("name")) !=
          kMatrices.end();
      if (!element.name.starts_with("distances2") || !wanted) {
        continue;
      }
      Result<Matrix> matrix = read_matrix(source_, element);
      if (!matrix) {
        return matrix.error();
      }
      matrices_.push_back(*std::move(matrix));
    }
    number_gpus();
    for (const XmlElement& element : topology.children) {
      if (element.name == "object") {
        walk(element, std::nullopt);
      }
    }
    join_packages();
    for (const Matrix& matrix : matrices_) {
      if (Status added = add_matrix(matrix); !added) {
        return added.error();
      }
    }
    return board_.build();
  }

 private:
  using Node = Board::Node;
  /// Where PCIe goes up from here: the node, and the slowest link so far on the way to it.
  struct Uplink {
    Node node = 0;
    std::optional<Bandwidth> slowest;
  };
  struct Package {
    Node node;
    Bandwidth between;
  };

  /// GPUs of matrices have their order.
  void number_gpus() {
    for (const Matrix& matrix : matrices_) {
      for (const std::string& object : matrix.objects) {
        if (object.starts_with("OSDev:")) {
          gpu_numbers_.emplace(object, static_cast<std::int64_t>(gpu_numbers_.size()));
        }
      }
    }
  }

  [[nodiscard]] static std::string key(const XmlElement& object) {
    return fmt::format("{}:{}", object.attribute("type"), object.attribute("gp_index"));
  }
  [[nodiscard]] bool in_matrix(const XmlElement& device) const {
    return gpu_numbers_.contains(key(device));
  }
  [[nodiscard]] bool is_nic(const XmlElement& device) const {
    constexpr std::int64_t kInfiniband = 3;
    constexpr std::int64_t kInfinibandBit = 32;
    const std::int64_t type = whole(device.attribute("osdev_type")).value_or(0);
    return new_types_ ? (type & kInfinibandBit) != 0 : type == kInfiniband;
  }
  [[nodiscard]] bool holds_device(const XmlElement& element) const {
    return (is_object(element, "OSDev") && (names_gpu(element) || is_nic(element))) ||
           std::any_of(element.children.begin(),
                       element.children.end(),
                       [this](const XmlElement& child) { return holds_device(child); });
  }

  void walk(const XmlElement& element, std::optional<Node> package) {
    if (is_object(element, "Package") && (holds_device(element) || is_in_a_matrix(element))) {
      package = add_package(element);
    }
    for (const XmlElement& child : element.children) {
      if (is_object(child, "Bridge") || is_object(child, "PCIDev")) {
        if (holds_device(child)) {
          // What hangs on no package hangs on the first.
          const Node above = package ? *package : first_package(element);
          attach(child, {.node = above, .slowest = {}});
        }
      } else if (child.name == "object") {
        walk(child, package);
      }
    }
  }

  [[nodiscard]] bool is_in_a_matrix(const XmlElement& object) const {
    return std::any_of(matrices_.begin(), matrices_.end(), [&](const Matrix& matrix) {
      return std::find(matrix.objects.begin(), matrix.objects.end(), key(object)) !=
             matrix.objects.end();
    });
  }

  Node first_package(const XmlElement& machine) {
    return packages_.empty() ? add_package(machine) : packages_.front().node;
  }

  Node add_package(const XmlElement& element) {
    const Node node = board_.add_switch(fmt::format("cpu{}", packages_.size()));
    const bool power = info(element, "CPUModel").starts_with("POWER");
    packages_.push_back({.node = node,
                         .between = socket_bandwidth(
                             {.arch = power ? "ppc64" : info(element, "Architecture"),
                              .vendor = info(element, "CPUVendor"),
                              .family = whole(info(element, "CPUFamilyNumber")).value_or(0),
                              .model = whole(info(element, "CPUModelNumber")).value_or(0)})});
    nodes_[key(element)] = node;
    return node;
  }

  void join_packages() {
    for (const Package& from : packages_) {
      for (const Package& to : packages_) {
        if (from.node != to.node) {
          board_.link(from.node, to.node, from.between, Hop::kSocket);
        }
      }
    }
  }

  /// A bridge or a device, and what is below it.
  void attach(const XmlElement& element, Uplink up) {
    if (const Result<Bandwidth> speed =
            parse_bandwidth(std::string(element.attribute("pci_link_speed")) + "GBps");
        speed) {
      up.slowest = up.slowest ? std::min(*up.slowest, *speed) : *speed;
    }
    const Bandwidth bandwidth = up.slowest.value_or(default_pcie_bandwidth());
    if (is_object(element, "PCIDev")) {
      return add_devices(element, up.node, bandwidth);
    }
    const auto holding = std::count_if(
        element.children.begin(), element.children.end(), [this](const XmlElement& child) {
          return holds_device(child);
        });
    // The host's own bridge is part of the package.
    if (holding > 1 && element.attribute("bridge_type") == "1-1") {
      const Node node = board_.add_switch(fmt::format("pcie{}", switches_++));
      board_.join(node, up.node, bandwidth, Hop::kPcie);
      up = {.node = node, .slowest = {}};
    }
    for (const XmlElement& child : element.children) {
      if (holds_device(child)) {
        attach(child, up);
      }
    }
  }

  void add_devices(const XmlElement& pci, Node above, Bandwidth bandwidth) {
    std::vector<const XmlElement*> gpus;
    for (const XmlElement& device : pci.children) {
      if (is_object(device, "OSDev") && in_matrix(device)) {
        gpus.push_back(&device);
      }
      if (is_object(device, "OSDev") && is_nic(device)) {
        const Node nic = board_.add_switch(fmt::format("{}{}", kNicPrefix, nics_++));
        board_.join(nic, above, bandwidth, Hop::kPcie);
      }
    }
    // One that several libraries know is one GPU.
    for (const XmlElement& device : pci.children) {
      if (gpus.empty() && is_object(device, "OSDev") && names_gpu(device)) {
        gpus.push_back(&device);
      }
    }
    for (const XmlElement* const gpu : gpus) {
      const auto [number, added] =
          gpu_numbers_.emplace(key(*gpu), static_cast<std::int64_t>(gpu_numbers_.size()));
      const Node node = board_.add_npu(fmt::format("gpu{}", number->second), number->second);
      board_.join(node, above, bandwidth, Hop::kPcie);
      nodes_[key(*gpu)] = node;
    }
  }

  /// The node of a row; NVSwitches are PCIe devices.
  Result<Node> node_of(const Matrix& matrix, const std::string& object) {
    if (object.starts_with("PCIDev:")) {
      if (!nvswitch_) {
        nvswitch_ = board_.add_switch("nvswitch");
      }
      return *nvswitch_;
    }
    const auto found = nodes_.find(object);
    if (found == nodes_.end()) {
      return source_.error(matrix.line,
                           fmt::format("the matrix speaks of {}, which is not there", object));
    }
    return found->second;
  }

  Status add_matrix(const Matrix& matrix) {
    const std::size_t size = matrix.objects.size();
    std::vector<Node> nodes;
    for (const std::string& object : matrix.objects) {
      const Result<Node> node = node_of(matrix, object);
      if (!node) {
        return node.error();
      }
      nodes.push_back(*node);
    }
    // Several ways between two nodes, such as to each of the NVSwitches, are one.
    std::map<std::pair<Node, Node>, std::int64_t> sums;
    for (std::size_t row = 0; row < size; ++row) {
      for (std::size_t column = 0; column < size; ++column) {
        const std::int64_t value = matrix.values[row * size + column];
        if (nodes[row] == nodes[column] || value == 0) {
          continue;
        }
        sums[{nodes[row], nodes[column]}] += value;
        if (matrix.values[column * size + row] == 0) {
          source_.warn(matrix.line,
                       fmt::format("{} has a link to {} and none back; it counts one way",
                                   matrix.objects[row],
                                   matrix.objects[column]));
        }
      }
    }
    for (const auto& [ends, value] : sums) {
      const bool switched = nvswitch_ && (ends.first == *nvswitch_ || ends.second == *nvswitch_);
      board_.link(
          ends.first, ends.second, megabytes(value), switched ? Hop::kSwitched : Hop::kPeer);
    }
    return ok();
  }

  const Source& source_;
  Board board_;
  bool new_types_ = false;
  std::vector<Matrix> matrices_;
  std::map<std::string, std::int64_t> gpu_numbers_;
  std::vector<Package> packages_;
  /// Packages and GPUs by type and index.
  std::map<std::string, Node> nodes_;
  std::optional<Node> nvswitch_;
  std::uint32_t switches_ = 0;
  std::uint32_t nics_ = 0;
};

}  // namespace

Result<Topology> read_hwloc(const Source& source) {
  const Result<XmlElement> root = parse_xml(source.text(), source.where());
  if (!root) {
    return root.error();
  }
  if (root->name != "topology") {
    return source.error(root->line, fmt::format("begins with <{}>, not <topology>", root->name));
  }
  return HwlocReader(source).read(*root);
}

}  // namespace tacos::importing
