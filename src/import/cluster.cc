// SPDX-License-Identifier: MIT
// A cluster from a box: copies of it, whose NICs are joined.
//
// NPU n of box b is NPU b * (NPUs of a box) + n; then come the switches of the boxes, box by box,
// then those of the fabric. A NIC is a switch between its NPUs and the fabric, so that they share
// it. All links of a fabric are as fast as the NIC at their end; those from a leaf to its spines
// together carry what the NICs below it do. O(boxes x links of a box).
#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "tacos/import.h"

#include "base/numbers/wide.h"
#include "base/text/quantity.h"
#include "base/text/suggest.h"
#include "import/board.h"
#include "topology/generators.h"

namespace tacos {
namespace {

using importing::Hop;
using importing::kNicPrefix;

enum class FabricKind { kSwitch, kRail, kLeafSpine, kRing };

struct Fabric {
  FabricKind kind = FabricKind::kSwitch;
  std::uint32_t leaves = 0;
  std::uint32_t spines = 0;
};

Error fabric_error(const std::string& message, const std::string& fabric) {
  return input_error(message, "--fabric " + fabric);
}

Result<Fabric> parse_fabric(const std::string& text) {
  constexpr std::string_view kLeafSpine = "leaf-spine";
  if (text == "switch" || text == "rail" || text == "ring") {
    return Fabric{.kind = text == "switch" ? FabricKind::kSwitch
                          : text == "rail" ? FabricKind::kRail
                                           : FabricKind::kRing};
  }
  const std::string_view name = std::string_view(text).substr(0, text.find(':'));
  if (name != kLeafSpine) {
    constexpr std::array<std::string_view, 4> kNames{"switch", "rail", "leaf-spine:LxS", "ring"};
    return fabric_error(unknown_name("fabric", text, kNames), text);
  }
  const std::string_view sizes =
      std::string_view(text).substr(std::min(text.size(), name.size() + 1));
  const std::size_t cross = sizes.find('x');
  const auto number = [](std::string_view digits) { return parse_whole(digits, 1, kMaxNodes); };
  const Result<std::uint64_t> leaves = number(sizes.substr(0, cross));
  const Result<std::uint64_t> spines =
      number(cross == std::string_view::npos ? std::string_view() : sizes.substr(cross + 1));
  if (!leaves || !spines) {
    return fabric_error("takes the numbers of leaves and of spines: leaf-spine:4x2", text);
  }
  return Fabric{.kind = FabricKind::kLeafSpine,
                .leaves = static_cast<std::uint32_t>(*leaves),
                .spines = static_cast<std::uint32_t>(*spines)};
}

/// As in a box, without its place.
struct Nic {
  /// Index among the switches that a box keeps, or behind them.
  std::uint32_t place = 0;
  Bandwidth bandwidth;
  /// NPUs that a new one serves; one of the file has its links already.
  std::vector<std::uint32_t> npus;
};

class ClusterBuilder {
 public:
  ClusterBuilder(const Topology& box,
                 const ClusterOptions& options,
                 const Fabric& fabric,
                 const importing::Latencies& latencies)
      : box_(box), options_(options), fabric_(fabric), latencies_(latencies) {}

  Result<Topology> build() {
    choose_nics();
    if (nics_.empty()) {
      return input_error(
          "has no NICs to join boxes by; say how many, such as --nics 4 --nic-bw 200Gbps",
          box_.name());
    }
    if (fabric_.kind == FabricKind::kLeafSpine && fabric_.leaves > options_.boxes) {
      return fabric_error(fmt::format("has more leaves than the {} boxes", options_.boxes),
                          options_.fabric);
    }
    if (Status fits = check_size(); !fits) {
      return fits.error();
    }
    TopologyBuilder builder(
        fmt::format("{} x {} over {}", options_.boxes, box_.name(), options_.fabric),
        options_.boxes * box_.num_npus(),
        options_.boxes * box_switches() + fabric_switches());
    builder.set_npus_forward(box_.npus_forward());
    builder.set_node_names(names());
    for (std::uint32_t box = 0; box < options_.boxes; ++box) {
      add_box(box, builder);
    }
    for (std::uint32_t box = 0; options_.boxes > 1 && box < options_.boxes; ++box) {
      join_box(box, builder);
    }
    add_spines(builder);
    return std::move(builder).build();
  }

 private:
  [[nodiscard]] bool is_nic(std::uint32_t node) const {
    return !box_.is_npu(NodeId(node)) && box_.node_name(NodeId(node)).starts_with(kNicPrefix);
  }

  void choose_nics() {
    for (std::uint32_t node = box_.num_npus(); node < box_.num_nodes(); ++node) {
      if (is_nic(node) && options_.nics > 0) {
        continue;
      }
      const auto place = static_cast<std::uint32_t>(kept_.size());
      kept_.emplace(node, place);
      if (is_nic(node)) {
        nics_.push_back({.place = place, .bandwidth = speed_of(NodeId(node)), .npus = {}});
      }
    }
    for (std::uint32_t nic = 0; nic < options_.nics; ++nic) {
      nics_.push_back({.place = static_cast<std::uint32_t>(kept_.size()) + nic,
                       .bandwidth = options_.nic_bandwidth,
                       .npus = npus_of(nic)});
    }
  }

  /// That of its fastest link into the box, unless told.
  [[nodiscard]] Bandwidth speed_of(NodeId nic) const {
    Bandwidth speed = options_.nic_bandwidth;
    for (const LinkId link : box_.out_links(nic)) {
      speed =
          options_.nic_bandwidth > Bandwidth{} ? speed : std::max(speed, box_.link(link).bandwidth);
    }
    return speed;
  }

  /// Neighbours share one; with more NICs than NPUs an NPU has several.
  [[nodiscard]] std::vector<std::uint32_t> npus_of(std::uint32_t nic) const {
    const std::uint64_t npus = box_.num_npus();
    if (options_.nics > npus) {
      return {static_cast<std::uint32_t>(nic * npus / options_.nics)};
    }
    std::vector<std::uint32_t> served;
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      if (std::uint64_t{npu} * options_.nics / npus == nic) {
        served.push_back(npu);
      }
    }
    return served;
  }

  [[nodiscard]] std::uint32_t box_switches() const {
    return static_cast<std::uint32_t>(kept_.size()) + options_.nics;
  }
  [[nodiscard]] std::uint32_t fabric_switches() const {
    if (options_.boxes < 2) {
      return 0;
    }
    switch (fabric_.kind) {
      case FabricKind::kSwitch:
        return 1;
      case FabricKind::kRail:
        return static_cast<std::uint32_t>(nics_.size());
      case FabricKind::kLeafSpine:
        return fabric_.leaves + fabric_.spines;
      case FabricKind::kRing:
        break;
    }
    return 0;
  }

  [[nodiscard]] Status check_size() const {
    const std::uint64_t nodes = box_.num_npus() + kept_.size() + options_.nics;
    const std::uint64_t links =
        box_.num_links() + 2 * (std::uint64_t{options_.nics} + box_.num_npus() + nics_.size());
    const std::uint64_t extra = std::uint64_t{fabric_.leaves} * fabric_.spines * 2;
    return check_network_size(nodes * options_.boxes + fabric_.leaves + fabric_.spines,
                              links * options_.boxes + extra);
  }

  [[nodiscard]] NodeId npu(std::uint32_t box, std::uint32_t number) const {
    return NodeId(box * box_.num_npus() + number);
  }
  [[nodiscard]] NodeId switch_of(std::uint32_t box, std::uint32_t place) const {
    return NodeId(options_.boxes * box_.num_npus() + box * box_switches() + place);
  }
  [[nodiscard]] NodeId fabric_switch(std::uint32_t number) const {
    return switch_of(options_.boxes, number);
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    const auto name_in_box = [this](std::uint32_t node) {
      const std::string_view name = box_.node_name(NodeId(node));
      return !name.empty()            ? std::string(name)
             : node < box_.num_npus() ? fmt::format("gpu{}", node)
                                      : fmt::format("switch{}", node - box_.num_npus());
    };
    for (std::uint32_t box = 0; box < options_.boxes; ++box) {
      for (std::uint32_t node = 0; node < box_.num_npus(); ++node) {
        names.push_back(fmt::format("box{}/{}", box, name_in_box(node)));
      }
    }
    for (std::uint32_t box = 0; box < options_.boxes; ++box) {
      for (const auto& [node, place] : kept_) {
        names.push_back(fmt::format("box{}/{}", box, name_in_box(node)));
      }
      for (std::uint32_t nic = 0; nic < options_.nics; ++nic) {
        names.push_back(fmt::format("box{}/{}{}", box, kNicPrefix, nic));
      }
    }
    for (std::uint32_t number = 0; number < fabric_switches(); ++number) {
      names.push_back(fabric_.kind == FabricKind::kSwitch ? "fabric"
                      : fabric_.kind == FabricKind::kRail ? fmt::format("rail{}", number)
                      : number < fabric_.leaves           ? fmt::format("leaf{}", number)
                                                : fmt::format("spine{}", number - fabric_.leaves));
    }
    return names;
  }

  /// Of a node of the box; none of a NIC that is not kept.
  [[nodiscard]] std::optional<NodeId> copy_of(std::uint32_t box, NodeId node) const {
    if (box_.is_npu(node)) {
      return npu(box, node.value());
    }
    const auto found = kept_.find(node.value());
    return found == kept_.end() ? std::nullopt : std::optional(switch_of(box, found->second));
  }

  void add_box(std::uint32_t box, TopologyBuilder& builder) const {
    for (std::uint32_t id = 0; id < box_.num_links(); ++id) {
      Link link = box_.link(LinkId(id));
      const std::optional<NodeId> src = copy_of(box, link.src);
      const std::optional<NodeId> dst = copy_of(box, link.dst);
      if (src && dst) {
        link.src = *src;
        link.dst = *dst;
        box_.failed(LinkId(id)) ? builder.add_failed_link(link) : builder.add_link(link);
      }
    }
    for (const Nic& nic : nics_) {
      for (const std::uint32_t served : nic.npus) {
        join(npu(box, served), switch_of(box, nic.place), nic.bandwidth, Hop::kPcie, builder);
      }
    }
  }

  void join(NodeId a, NodeId b, Bandwidth bandwidth, Hop hop, TopologyBuilder& builder) const {
    builder.add_both(
        {.src = a, .dst = b, .bandwidth = bandwidth, .latency = latencies_[hop], .gap = {}});
  }

  /// Boxes next to each other share a leaf.
  [[nodiscard]] std::uint32_t leaf_of(std::uint32_t box) const {
    return static_cast<std::uint32_t>(std::uint64_t{box} * fabric_.leaves / options_.boxes);
  }

  void join_box(std::uint32_t box, TopologyBuilder& builder) const {
    // In a ring of two one link each way is all there is.
    const bool last_of_two = options_.boxes == 2 && box == 1;
    for (std::uint32_t number = 0; number < nics_.size(); ++number) {
      const Nic& nic = nics_[number];
      const NodeId here = switch_of(box, nic.place);
      if (fabric_.kind != FabricKind::kRing) {
        const std::uint32_t port = fabric_.kind == FabricKind::kRail        ? number
                                   : fabric_.kind == FabricKind::kLeafSpine ? leaf_of(box)
                                                                            : 0;
        join(here, fabric_switch(port), nic.bandwidth, Hop::kNetwork, builder);
      } else if (!last_of_two) {
        const std::uint32_t next = (box + 1) % options_.boxes;
        join(here, switch_of(next, nic.place), nic.bandwidth, Hop::kNetwork, builder);
      }
    }
  }

  void add_spines(TopologyBuilder& builder) const {
    if (fabric_.kind != FabricKind::kLeafSpine || options_.boxes < 2) {
      return;
    }
    Int128 of_box = 0;
    for (const Nic& nic : nics_) {
      of_box += nic.bandwidth.bytes_per_second;
    }
    std::vector<std::int64_t> boxes_at(fabric_.leaves);
    for (std::uint32_t box = 0; box < options_.boxes; ++box) {
      ++boxes_at[leaf_of(box)];
    }
    for (std::uint32_t leaf = 0; leaf < fabric_.leaves; ++leaf) {
      const auto below =
          static_cast<std::int64_t>(std::min(of_box * boxes_at[leaf], Int128{kMaxBytesPerSecond}));
      for (std::uint32_t spine = 0; spine < fabric_.spines; ++spine) {
        join(fabric_switch(leaf),
             fabric_switch(fabric_.leaves + spine),
             {(below + fabric_.spines - 1) / fabric_.spines},
             Hop::kFabric,
             builder);
      }
    }
  }

  const Topology& box_;
  const ClusterOptions& options_;
  Fabric fabric_;
  importing::Latencies latencies_;
  /// Switches of the box that its copies have, and where among them.
  std::map<std::uint32_t, std::uint32_t> kept_;
  std::vector<Nic> nics_;
};

}  // namespace

Result<Topology> make_cluster(const Topology& box, const ClusterOptions& options) {
  const Result<Fabric> fabric = parse_fabric(options.fabric);
  if (!fabric) {
    return fabric.error();
  }
  const Result<importing::Latencies> latencies = importing::parse_latencies(options.latencies);
  if (!latencies) {
    return latencies.error();
  }
  constexpr Bandwidth kFastest{kMaxBytesPerSecond};
  constexpr std::uint32_t kMostNics = 4096;
  if (options.nic_bandwidth > kFastest || options.nics > kMostNics || options.boxes > kMaxNodes) {
    return input_error("is more than a machine can have", "--nics, --nic-bw or --boxes");
  }
  if (options.nics > 0 && options.nic_bandwidth == Bandwidth{}) {
    return input_error("needs --nic-bw, such as 200Gbps", "--nics");
  }
  return ClusterBuilder(box, options, *fabric, *latencies).build();
}

}  // namespace tacos
