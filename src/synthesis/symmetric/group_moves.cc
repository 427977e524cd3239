// SPDX-License-Identifier: MIT
// A link out of NPU 0 has one translate out of every NPU, so it is a way of its own: two transfers
// along translates of different links never meet, and those of one transfer all use different
// links. The same holds for a link into a switch together with one back from there to NPU 0: it
// leads to all NPUs whose translate of the link back comes from the same switch, and their
// translate of the link there leads to that switch too, since a translation takes both ends along.
#include "synthesis/symmetric/group_moves.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "topology/automorphisms.h"

namespace tacos::symmetric {
namespace {

/// A link way in the order of NPU 0's links, before those that belong together are paired.
struct LinkWay {
  Way way;
  std::vector<std::uint32_t> links;
};

Way backwards(const Way& way) {
  Way back = way;
  back.to = inverted(way.to);
  return back;
}

bool costs_the_same(const Link& a, const Link& b) {
  return a.bandwidth == b.bandwidth && a.latency == b.latency && a.gap == b.gap;
}

/// Of each way the one that leads back and costs the same; fewer when one has none.
std::vector<std::uint32_t> find_mates(std::span<const LinkWay> ways) {
  std::vector<std::uint32_t> mates(ways.size(), 0);
  std::vector<bool> taken(ways.size(), false);
  for (std::uint32_t w = 0; w < ways.size(); ++w) {
    if (taken[w]) {
      continue;
    }
    const Way& way = ways[w].way;
    const auto back =
        static_cast<std::uint32_t>(std::find(way.to.begin(), way.to.end(), 0U) - way.to.begin());
    std::uint32_t mate = w;
    while (mate < ways.size() && (taken[mate] || ways[mate].way.to[0] != back ||
                                  !costs_the_same(ways[mate].way.link, way.link))) {
      ++mate;
    }
    if (mate == ways.size()) {
      return {};
    }
    taken[w] = true;
    taken[mate] = true;
    mates[w] = mate;
    mates[mate] = w;
  }
  return mates;
}

}  // namespace

GroupMoves::GroupMoves(const Topology& topology, std::span<const Permutation> generators) {
  moves_.npus = topology.num_npus();
  for (const Permutation& generator : generators) {
    frame_.generators.push_back(link_permutation(topology, generator));
  }
  find_translations(generators);
  add_links(topology);
  add_ports(topology);
}

void GroupMoves::find_translations(std::span<const Permutation> generators) {
  std::vector<bool> known(moves_.npus, false);
  known[0] = true;
  frame_.translations.push_back({});
  for (std::uint32_t next = 0; next < frame_.translations.size(); ++next) {
    for (std::uint32_t g = 0; g < generators.size(); ++g) {
      const std::uint32_t owner = generators[g][frame_.translations[next].owner];
      if (!known[owner]) {
        known[owner] = true;
        frame_.translations.push_back({.owner = owner, .before = next, .generator = g});
      }
    }
  }
}

std::vector<std::uint32_t> GroupMoves::translated(LinkId link) const {
  std::vector<std::uint32_t> images(moves_.npus, link.value());
  for (std::size_t t = 1; t < frame_.translations.size(); ++t) {
    const Translation& one = frame_.translations[t];
    images[one.owner] =
        frame_.generators[one.generator][images[frame_.translations[one.before].owner]];
  }
  return images;
}

void GroupMoves::add_links(const Topology& topology) {
  std::vector<LinkWay> found;
  for (const LinkId id : topology.out_links(NodeId(0))) {
    const Link& link = topology.link(id);
    if (!topology.is_npu(link.dst)) {
      continue;
    }
    LinkWay one{.way = {.axis = 0, .to = {}, .lines = {}, .members = {}, .link = link, .down = {}},
                .links = translated(id)};
    for (const std::uint32_t image : one.links) {
      one.way.to.push_back(topology.link(LinkId(image)).dst.value());
    }
    found.push_back(std::move(one));
  }
  const std::vector<std::uint32_t> mates = find_mates(found);
  const auto add = [&](LinkWay& one, std::uint32_t axis) {
    one.way.axis = axis;
    links_.insert(links_.end(), one.links.begin(), one.links.end());
    downs_.resize(links_.size());
    moves_.ways.push_back(std::move(one.way));
  };
  for (std::uint32_t w = 0; w < found.size(); ++w) {
    const auto index = static_cast<std::uint32_t>(moves_.ways.size());
    if (mates.empty()) {
      moves_.ways_back.push_back(backwards(found[w].way));
      moves_.mates.push_back(index);
      add(found[w], index);
    } else if (mates[w] == w) {
      moves_.mates.push_back(index);
      add(found[w], index);
    } else if (mates[w] > w) {
      moves_.mates.insert(moves_.mates.end(), {index + 1, index});
      add(found[w], index);
      add(found[mates[w]], index);
    }
  }
}

void GroupMoves::add_ports(const Topology& topology) {
  const std::span<const LinkId> in = topology.in_links(NodeId(0));
  std::vector<bool> taken(in.size(), false);
  for (const LinkId up : topology.out_links(NodeId(0))) {
    for (std::size_t i = 0; i < in.size() && !topology.is_npu(topology.link(up).dst); ++i) {
      if (!taken[i] && topology.link(in[i]).src == topology.link(up).dst) {
        taken[i] = true;
        add_port(topology, up, in[i]);
        break;
      }
    }
  }
}

void GroupMoves::add_port(const Topology& topology, LinkId up, LinkId down) {
  const std::vector<std::uint32_t> ups = translated(up);
  const std::vector<std::uint32_t> downs = translated(down);
  const auto index = static_cast<std::uint32_t>(moves_.ways.size());
  Way way{.axis = index,
          .to = std::vector<std::uint32_t>(moves_.npus),
          .lines = {},
          .members = identity_permutation(moves_.npus),
          .link = topology.link(up),
          .down = topology.link(down)};
  const auto switch_of = [&](std::uint32_t npu) {
    return topology.link(LinkId(downs[npu])).src.value();
  };
  std::stable_sort(way.members.begin(), way.members.end(), [&](std::uint32_t a, std::uint32_t b) {
    return switch_of(a) < switch_of(b);
  });
  for (std::uint32_t i = 0; i < moves_.npus; ++i) {
    if (i == 0 || switch_of(way.members[i]) != switch_of(way.members[i - 1])) {
      way.lines.push_back(i);
    }
    way.to[way.members[i]] = static_cast<std::uint32_t>(way.lines.size() - 1);
  }
  way.lines.push_back(moves_.npus);
  if (way.lines.size() > moves_.npus) {
    return;  // nobody else is there
  }
  links_.insert(links_.end(), ups.begin(), ups.end());
  downs_.insert(downs_.end(), downs.begin(), downs.end());
  if (!moves_.ways_back.empty()) {
    moves_.ways_back.push_back(way);
  }
  moves_.ways.push_back(std::move(way));
  moves_.mates.push_back(index);
}

Schedule GroupMoves::schedule(const Motif& motif) const {
  std::vector<const Step*> steps;
  for (const Step& step : motif.steps) {
    steps.push_back(&step);
  }
  std::stable_sort(steps.begin(), steps.end(), [](const Step* a, const Step* b) {
    return std::tuple(a->start, a->way) < std::tuple(b->start, b->way);
  });
  OrbitPattern pattern = frame_;
  pattern.chunks_per_npu = motif.chunks_per_npu;
  for (const Step* step : steps) {
    const std::size_t first = std::size_t{step->way} * moves_.npus;
    const bool port = moves_.ways[step->way].is_port();
    pattern.entries.push_back(
        {.start = step->start, .op = step->op, .chunk = step->chunk, .num_links = port ? 2U : 1U});
    pattern.links.push_back(links_[first + step->from]);
    if (port) {
      pattern.links.push_back(downs_[first + step->to]);
    }
  }
  return make_orbit_schedule(std::move(pattern), motif.end);
}

}  // namespace tacos::symmetric
