// SPDX-License-Identifier: MIT
#include "synthesis/trees/packing/forest.h"

#include <utility>

namespace tacos::trees {

Side::Side(const Fabric& fabric, bool out) : first(1, 0), out_tree(out) {
  for (std::uint32_t v = 0; v < fabric.num_nodes(); ++v) {
    for (const std::uint32_t hop : out_tree ? fabric.into(v) : fabric.out_of(v)) {
      choices.push_back({out_tree ? fabric.source(hop) : fabric.target(hop), hop});
    }
    first.push_back(static_cast<std::uint32_t>(choices.size()));
  }
  kids = {fabric.num_nodes(), [&](const auto& add) {
            for (std::uint32_t v = 0; v < fabric.num_nodes(); ++v) {
              for (std::uint32_t choice = first[v]; choice < first[v + 1]; ++choice) {
                add(choices[choice].parent, Kid{v, choice});
              }
            }
          }};
}

Forest::Forest(const PackingTask& task)
    : fabric_(task.fabric),
      costs_(task.costs),
      job_(task.job),
      nodes_(task.fabric.num_nodes()),
      paired_(task.fabric.symmetric() && task.job.flow == Flow::kUpAndDown),
      roots_(task.roots),
      partners_(task.partners) {
  if (job_.goes_down()) {
    sides_.emplace_back(fabric_, true);
  }
  if (job_.goes_up() && !paired_) {
    sides_.emplace_back(fabric_, false);
  }
  const std::size_t trees = task.roots.size() * sides_.size();
  choice_.assign(trees * nodes_, kNone);
  depth_.assign(trees * nodes_, kOutside);
  limit_.assign(sides_.size(), 0);
  load_.assign(fabric_.num_links(), 0);
  for (std::uint32_t hop = 0; hop < fabric_.num_hops(); ++hop) {
    for (const LinkId id : fabric_.links(hop)) {
      const std::uint32_t link = id.value();
      resource_at_.push_back(paired_ ? std::min(link, fabric_.twin_link(link)) : link);
    }
  }
}

std::int64_t Forest::longest_time() const {
  std::int64_t longest = 0;
  for (std::uint32_t r = 0; r < load_.size(); ++r) {
    longest = std::max(longest, time_of(r));
  }
  return longest;
}

bool Forest::has_above(std::uint32_t tree, std::uint32_t node, std::uint32_t above) const {
  const Side& side = sides_[side_of(tree)];
  const auto choice = choices(tree);
  const auto depth = depths(tree);
  while (depth[node] > depth[above]) {
    node = side.choices[choice[node]].parent;
  }
  return node == above;
}

void Forest::prune(std::uint32_t tree) {
  const Side& side = sides_[side_of(tree)];
  const auto choice = choices(tree);
  std::vector<std::uint32_t> kids(nodes_, 0);
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    if (choice[node] != kNone) {
      ++kids[side.choices[choice[node]].parent];
    }
  }
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    for (std::uint32_t at = node; choice[at] != kNone && kids[at] == 0 && !job_.takes_part[at];) {
      const auto [parent, hop] = side.choices[std::exchange(choice[at], kNone)];
      depths(tree)[at] = kOutside;
      add_load(hop, -1);
      --kids[parent];
      at = parent;
    }
  }
}

std::int64_t Forest::current_depth() const {
  std::int64_t total = 0;
  std::vector<std::int64_t> deepest(sides_.size(), 0);
  for (std::size_t at = 0; at < depth_.size(); ++at) {
    std::int64_t& side = deepest[side_of(static_cast<std::uint32_t>(at % num_trees()))];
    side = std::max(side, depth_[at] == kOutside ? 0 : depth_[at]);
  }
  for (const std::int64_t side : deepest) {
    total += side;
  }
  return paired_ ? 2 * total : total;
}

Packing Forest::snapshot(std::int64_t period, std::int64_t depth) const {
  Packing packing{.num_nodes = nodes_,
                  .roots = {roots_.begin(), roots_.end()},
                  .up = {},
                  .down = {},
                  .partners = {partners_.begin(), partners_.end()},
                  .period = period,
                  .depth = depth};
  const std::size_t half = roots_.size() * nodes_;
  for (std::uint32_t s = 0; s < sides_.size(); ++s) {
    std::vector<std::uint32_t>& hops = sides_[s].out_tree ? packing.down : packing.up;
    hops.assign(half, kNone);
    for (std::uint32_t root = 0; root < num_roots(); ++root) {
      const auto choice = choices(root + s * num_roots());
      for (std::uint32_t node = 0; node < nodes_; ++node) {
        if (choice[node] != kNone) {
          hops[std::size_t{root} * nodes_ + node] = sides_[s].choices[choice[node]].hop;
        }
      }
    }
  }
  if (paired_) {
    packing.up.assign(half, kNone);
    for (std::size_t at = 0; at < half; ++at) {
      packing.up[at] = packing.down[at] == kNone ? kNone : fabric_.twin(packing.down[at]);
    }
  }
  return packing;
}

}  // namespace tacos::trees
