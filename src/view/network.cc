// SPDX-License-Identifier: MIT
#include "view/network.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "draw/layout.h"

namespace tacos::viewing {
namespace {

/// Coordinates on the way to columns.
class Places {
 public:
  explicit Places(draw::Place low) : low_(low) {}
  void add(draw::Place place) {
    x_.push_back(whole(place.x - low_.x));
    y_.push_back(whole(place.y - low_.y));
  }
  [[nodiscard]] Json to_json() const { return {{"x", column(x_)}, {"y", column(y_)}}; }

 private:
  static std::uint64_t whole(double distance) {
    return static_cast<std::uint64_t>(std::llround(std::max(0., distance) * kPlaces));
  }
  draw::Place low_;
  Numbers x_;
  Numbers y_;
};

Json frames_json(const draw::Layout& layout) {
  Json frames = Json::array();
  for (const draw::Frame& frame : layout.frames) {
    const char* outline = frame.outline == draw::Outline::kBox      ? "box"
                          : frame.outline == draw::Outline::kCircle ? "circle"
                                                                    : "slab";
    frames.push_back({{"outline", outline},
                      {"x", frame.low.x - layout.low.x},
                      {"y", frame.low.y - layout.low.y},
                      {"width", frame.high.x - frame.low.x},
                      {"height", frame.high.y - frame.low.y},
                      {"skew", frame.skew},
                      {"label", frame.label}});
  }
  return frames;
}

Json links_json(const Topology& network, const draw::Layout& layout, const Traffic& traffic) {
  Numbers src;
  Numbers dst;
  Numbers bandwidth;
  Numbers latency;
  Numbers failed;
  Numbers busy;
  Numbers bytes;
  Numbers transfers;
  Numbers room;
  Places from(layout.low);
  Places control_1(layout.low);
  Places control_2(layout.low);
  Places to(layout.low);
  src.reserve(network.num_links());
  for (std::uint32_t id = 0; id < network.num_links(); ++id) {
    const Link& link = network.link(LinkId(id));
    src.push_back(link.src.value());
    dst.push_back(link.dst.value());
    bandwidth.push_back(static_cast<std::uint64_t>(link.bandwidth.bytes_per_second));
    latency.push_back(static_cast<std::uint64_t>(link.latency.ps));
    failed.push_back(network.failed(LinkId(id)) ? 1 : 0);
    const exporting::LinkUse& use = traffic.uses[id];
    busy.push_back(static_cast<std::uint64_t>(use.busy.ps));
    bytes.push_back(use.bytes);
    transfers.push_back(use.transfers);
    room.push_back(static_cast<std::uint64_t>(std::lround(layout.runs[id].room * kPlaces)));
    const draw::Curve curve = curve_of(layout, link, layout.runs[id]);
    from.add(curve.from);
    control_1.add(curve.control_1);
    control_2.add(curve.control_2);
    to.add(curve.to);
  }
  return {{"src", column(src)},
          {"dst", column(dst)},
          {"bandwidth", column(bandwidth)},
          {"latency", column(latency)},
          {"failed", column(failed)},
          {"busy", column(busy)},
          {"bytes", column(bytes)},
          {"transfers", column(transfers)},
          {"room", column(room)},
          {"from", from.to_json()},
          {"control_1", control_1.to_json()},
          {"control_2", control_2.to_json()},
          {"to", to.to_json()}};
}

template <class Id>
Json ids_json(const std::vector<Id>& ids) {
  Numbers numbers;
  numbers.reserve(ids.size());
  for (const Id id : ids) {
    numbers.push_back(id.value());
  }
  return column(numbers);
}

/// Of a node in what is shown; whose chunks are followed is shown.
std::uint64_t shown_number(NodeId node, const Traffic& traffic) {
  if (!traffic.piece) {
    return node.value();
  }
  const std::vector<NodeId>& nodes = traffic.piece->nodes;
  return static_cast<std::uint64_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
}

}  // namespace

Json network_json(const Bundle& bundle, const Traffic& traffic) {
  const Topology& network = traffic.piece ? traffic.piece->network : bundle.topology;
  const draw::Layout layout = draw::lay_out(network);
  Places nodes(layout.low);
  for (const draw::Place place : layout.nodes) {
    nodes.add(place);
  }
  Json json{{"name", bundle.topology.name()},
            {"npus", bundle.topology.num_npus()},
            {"switches", bundle.topology.num_switches()},
            {"working_links", bundle.topology.num_working_links()},
            {"shown_npus", network.num_npus()},
            {"width", layout.high.x - layout.low.x},
            {"height", layout.high.y - layout.low.y},
            {"unit", kPlaces},
            {"npu_radius", draw::kNpuRadius},
            {"switch_radius", draw::kSwitchRadius},
            {"nodes", nodes.to_json()},
            {"frames", frames_json(layout)},
            {"links", links_json(network, layout, traffic)}};
  if (!network.node_names().empty()) {
    json["names"] =
        std::vector<std::string>(network.node_names().begin(), network.node_names().end());
  }
  if (traffic.piece) {
    json["node_ids"] = ids_json(traffic.piece->nodes);
    json["link_ids"] = ids_json(traffic.piece->links);
  }
  return json;
}

Json chunks_json(const Bundle& bundle, const Traffic& traffic) {
  const Collective& collective = bundle.collective;
  Json json{{"count", collective.num_chunks()}};
  std::vector<ChunkId> all;
  if (traffic.held) {
    json["held"] = ids_json(*traffic.held);
  } else {
    all.reserve(collective.num_chunks());
    for (std::uint32_t chunk = 0; chunk < collective.num_chunks(); ++chunk) {
      all.emplace_back(chunk);
    }
  }
  Numbers bytes;
  Numbers num_sources;
  Numbers sources;
  const Holder before = traits(collective.chunk_kind()).before;
  for (const ChunkId chunk : traffic.held ? *traffic.held : all) {
    bytes.push_back(static_cast<std::uint64_t>(collective.chunks().bytes(chunk).count));
    const std::size_t first = sources.size();
    switch (before) {
      case Holder::kOwner:
        sources.push_back(
            shown_number(collective.participants()[collective.owner(chunk)], traffic));
        break;
      case Holder::kRoot:
        sources.push_back(collective.root().value());
        break;
      case Holder::kListed:
        for (const std::uint32_t participant : collective.sources(chunk)) {
          sources.push_back(collective.participants()[participant].value());
        }
        break;
      case Holder::kEveryone:
      case Holder::kDestination:
        break;
    }
    num_sources.push_back(sources.size() - first);
  }
  json["bytes"] = column(bytes);
  json["everyone"] = before == Holder::kEveryone;
  json["num_sources"] = column(num_sources);
  json["sources"] = column(sources);
  if (collective.num_participants() != bundle.topology.num_npus()) {
    json["participants"] = ids_json(
        std::vector<NodeId>(collective.participants().begin(), collective.participants().end()));
  }
  return json;
}

}  // namespace tacos::viewing
