// SPDX-License-Identifier: MIT
// NCCL's topology XML (NCCL_TOPO_DUMP_FILE), and RCCL's.
//
// CPUs hold PCIe switches, which hold GPUs and NICs; GPUs list their NVLinks or xGMI links by the
// PCIe address of the other end. What each element is worth is in runtime_speeds. GPUs become NPUs,
// CPUs, PCIe switches, NICs and the NVSwitch become switches: all NVSwitches of a box are one, as
// for NCCL. A PCIe device that holds nothing of these is left out. O(elements log elements).
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "import/board.h"
#include "import/formats.h"
#include "import/machines/runtime_speeds.h"
#include "import/text/fields.h"
#include "import/text/xml.h"

namespace tacos::importing {
namespace {

/// A number of links beyond it is a mistake; a product with any bandwidth still fits 64 bits.
constexpr std::int64_t kMostLinks = 10'000;
constexpr std::int64_t kMostMegabytes = 1'000'000;

std::int64_t number_or(const XmlElement& element, std::string_view key, std::int64_t otherwise) {
  return whole(element.attribute(key)).value_or(otherwise);
}

bool holds_device(const XmlElement& element) {
  return element.name == "gpu" || element.name == "net" ||
         std::any_of(element.children.begin(), element.children.end(), holds_device);
}

class NcclReader {
 public:
  explicit NcclReader(const Source& source) : source_(source), board_(source) {}

  Result<Topology> read(const XmlElement& system) {
    choose_order(system);
    for (const XmlElement& element : system.children) {
      if (element.name == "cpu") {
        read_cpu(element);
      }
    }
    join_sockets();
    for (const GpuLinks& gpu : gpus_) {
      for (const XmlElement& link : gpu.element->children) {
        if (Status added = add_link(gpu, link); !added) {
          return added.error();
        }
      }
    }
    check_twins();
    for (const auto& [pci, target, line] : pci_links_) {
      const auto found = nodes_.find(target);
      if (found == nodes_.end()) {
        source_.warn(line,
                     fmt::format("<pcilink> to {}, which is not listed, is left out", target));
      } else {
        board_.link(pci, found->second, default_pcie_bandwidth(), Hop::kPcie);
      }
    }
    return board_.build();
  }

 private:
  using Node = Board::Node;
  struct Cpu {
    Node node;
    std::string_view host;
    Bandwidth between;
  };
  struct GpuLinks {
    const XmlElement* element;
    Node node;
    Node cpu;
  };
  struct PciLink {
    Node pci;
    std::string target;
    std::size_t line;
  };

  /// GPUs are numbered by rank where the file gives every GPU one of its own, else by device.
  void choose_order(const XmlElement& system) {
    std::vector<const XmlElement*> waiting{&system};
    std::vector<std::int64_t> ranks;
    std::vector<std::int64_t> devices;
    while (!waiting.empty()) {
      const XmlElement* const element = waiting.back();
      waiting.pop_back();
      if (element->name == "gpu") {
        ranks.push_back(number_or(*element, "rank", -1));
        devices.push_back(number_or(*element, "dev", -1));
      }
      for (const XmlElement& child : element->children) {
        waiting.push_back(&child);
      }
    }
    const auto distinct = [](const std::vector<std::int64_t>& numbers) {
      const std::set<std::int64_t> different(numbers.begin(), numbers.end());
      return different.size() == numbers.size() && !different.empty() && *different.begin() >= 0;
    };
    order_ = distinct(ranks) ? "rank" : "dev";
    names_ = distinct(devices) ? "dev" : distinct(ranks) ? "rank" : "";
  }

  void read_cpu(const XmlElement& element) {
    if (!holds_device(element)) {
      return;
    }
    const Node node = board_.add_switch(fmt::format("cpu{}", cpus_.size()));
    cpus_.push_back({.node = node,
                     .host = element.attribute("host_hash"),
                     .between = socket_bandwidth({.arch = element.attribute("arch"),
                                                  .vendor = element.attribute("vendor"),
                                                  .family = number_or(element, "familyid", 0),
                                                  .model = number_or(element, "modelid", 0)})});
    for (const XmlElement& child : element.children) {
      if (child.name == "pci") {
        read_pci(child, node);
      } else if (child.name == "nic") {
        read_nic(child, node, std::nullopt);
      }
    }
  }

  /// Every socket to every other of its host, as NCCL does.
  void join_sockets() {
    for (const Cpu& from : cpus_) {
      for (const Cpu& to : cpus_) {
        if (from.node != to.node && from.host == to.host) {
          board_.link(from.node, to.node, from.between, Hop::kSocket);
        }
      }
    }
  }

  Bandwidth speed_of(const XmlElement& pci) {
    const std::string_view speed = pci.attribute("link_speed");
    const std::optional<Bandwidth> bandwidth =
        pcie_bandwidth(speed, number_or(pci, "link_width", 0));
    if (!bandwidth) {
      source_.warn(
          pci.line,
          fmt::format("PCIe speed '{}' is not known; it counts as 8 GT/s, as for NCCL", speed));
    }
    return bandwidth.value_or(default_pcie_bandwidth());
  }

  void read_pci(const XmlElement& pci, Node above) {
    if (!holds_device(pci)) {
      return;
    }
    const auto is = [](std::string_view name) {
      return [name](const XmlElement& child) { return child.name == name; };
    };
    const auto& children = pci.children;
    if (std::any_of(children.begin(), children.end(), is("gpu"))) {
      for (const XmlElement& child : children) {
        if (child.name == "gpu") {
          add_gpu(pci, child, above);
        }
      }
      return;
    }
    if (std::any_of(children.begin(), children.end(), is("nic"))) {
      for (const XmlElement& child : children) {
        if (child.name == "nic") {
          read_nic(child, above, speed_of(pci));
        }
      }
      return;
    }
    const Node node = board_.add_switch(fmt::format("pcie{}", switches_++));
    board_.join(node, above, speed_of(pci), Hop::kPcie);
    nodes_.emplace(lower(pci.attribute("busid")), node);
    for (const XmlElement& child : children) {
      if (child.name == "pci") {
        read_pci(child, node);
      } else if (child.name == "pcilink") {
        pci_links_.push_back({node, lower(child.attribute("target")), child.line});
      }
    }
  }

  void add_gpu(const XmlElement& pci, const XmlElement& gpu, Node above) {
    const std::int64_t number =
        names_.empty() ? static_cast<std::int64_t>(gpus_.size()) : number_or(gpu, names_, 0);
    const Node node = board_.add_npu(fmt::format("gpu{}", number), number_or(gpu, order_, 0));
    board_.join(node, above, speed_of(pci), Hop::kPcie);
    nodes_.emplace(lower(pci.attribute("busid")), node);
    gpus_.push_back({.element = &gpu, .node = node, .cpu = cpus_.back().node});
  }

  /// Every port is a NIC of its own; several on one card share its way to PCIe.
  void read_nic(const XmlElement& nic, Node above, std::optional<Bandwidth> pcie) {
    const auto ports = std::count_if(nic.children.begin(),
                                     nic.children.end(),
                                     [](const XmlElement& child) { return child.name == "net"; });
    Node card = above;
    if (ports > 1 && pcie) {
      card = board_.add_switch(fmt::format("pcie{}", switches_++));
      board_.join(card, above, *pcie, Hop::kPcie);
    }
    for (const XmlElement& net : nic.children) {
      if (net.name != "net") {
        continue;
      }
      constexpr std::int64_t kUnknown = 10'000;
      constexpr std::int64_t kMost = 1'000'000'000;
      const std::int64_t megabits = number_or(net, "speed", 0);
      const Bandwidth wire{std::min(megabits <= 0 ? kUnknown : megabits, kMost) * 125'000};
      const Node node = board_.add_switch(fmt::format("{}{}", kNicPrefix, nics_++));
      board_.join(node, card, pcie ? std::min(*pcie, wire) : wire, Hop::kPcie);
    }
  }

  Status add_link(const GpuLinks& gpu, const XmlElement& link) {
    if (link.name == "c2c") {
      const std::int64_t speed = number_or(link, "bw", 0);
      const std::int64_t chips = number_or(link, "count", 1);
      if (speed < 1 || speed > kMostMegabytes || chips < 1 || chips > kMostLinks) {
        return source_.error(link.line, "<c2c> needs a bw and a count that make a bandwidth");
      }
      board_.join(gpu.node, gpu.cpu, megabytes(speed * chips), Hop::kPeer);
      return ok();
    }
    if (link.name != "nvlink" && link.name != "xgmi") {
      source_.warn(link.line, fmt::format("<{}> of a GPU is not known and left out", link.name));
      return ok();
    }
    const std::int64_t count = number_or(link, "count", -1);
    if (count < 1 || count > kMostLinks) {
      return source_.error(link.line,
                           fmt::format("<{}> needs a count from 1 to {}", link.name, kMostLinks));
    }
    Bandwidth bandwidth = link.name == "xgmi" ? xgmi_bandwidth(gpu.element->attribute("gcn"))
                                              : nvlink_bandwidth(number_or(*gpu.element, "sm", 0));
    bandwidth.bytes_per_second *= count;
    connect(gpu, link, bandwidth);
    return ok();
  }

  void connect(const GpuLinks& gpu, const XmlElement& link, Bandwidth bandwidth) {
    const std::string target = lower(link.attribute("target"));
    const std::string_view kind = link.attribute("tclass");
    const auto found = nodes_.find(target);
    if (found != nodes_.end() && found->second != gpu.node && board_.is_npu(found->second)) {
      board_.link(gpu.node, found->second, bandwidth, Hop::kPeer);
      listed_.push_back({gpu.node, found->second, link.line});
    } else if (kind.starts_with("0x068001")) {
      board_.join(gpu.node, gpu.cpu, bandwidth, Hop::kPeer);
    } else if (kind.starts_with("0x0680")) {
      if (!nvswitch_) {
        nvswitch_ = board_.add_switch("nvswitch");
      }
      board_.join(gpu.node, *nvswitch_, bandwidth, Hop::kSwitched);
    } else if (kind.starts_with("0x03") || kind.starts_with("0x12")) {
      source_.warn(
          link.line,
          fmt::format("<{}> to {}, which is no GPU of the file, is left out", link.name, target));
    } else {
      source_.warn(
          link.line,
          fmt::format("<{}> to a device of class '{}' is not known and left out", link.name, kind));
    }
  }

  struct Listed {
    Node from;
    Node to;
    std::size_t line;
  };

  void check_twins() {
    std::set<std::pair<Node, Node>> pairs;
    for (const Listed& listed : listed_) {
      pairs.emplace(listed.from, listed.to);
    }
    for (const Listed& listed : listed_) {
      if (!pairs.contains({listed.to, listed.from})) {
        source_.warn(listed.line,
                     fmt::format("{} has a link to {}, which lists none back; it counts one way",
                                 board_.name(listed.from),
                                 board_.name(listed.to)));
      }
    }
  }

  const Source& source_;
  Board board_;
  std::string_view order_;
  std::string_view names_;
  std::vector<Cpu> cpus_;
  std::vector<GpuLinks> gpus_;
  std::vector<PciLink> pci_links_;
  std::vector<Listed> listed_;
  /// By PCIe address.
  std::map<std::string, Node> nodes_;
  std::optional<Node> nvswitch_;
  std::uint32_t switches_ = 0;
  std::uint32_t nics_ = 0;
};

}  // namespace

Result<Topology> read_nccl(const Source& source) {
  const Result<XmlElement> root = parse_xml(source.text(), source.where());
  if (!root) {
    return root.error();
  }
  if (root->name != "system") {
    return source.error(root->line, fmt::format("begins with <{}>, not <system>", root->name));
  }
  return NcclReader(source).read(*root);
}

}  // namespace tacos::importing
