// SPDX-License-Identifier: MIT
// MultiTree: Huang et al., "Communication algorithm-architecture co-design for distributed deep
// learning", ISCA 2021. A tree from every participant, all grown together: in every step of time
// each link joins a new participant to one tree at most, and trees take turns.
//
// O(participants^2 x neighbours) to grow, and a byte for each pair.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/csr.h"
#include "synthesis/baselines/baseline.h"

namespace tacos::baselines {
namespace {

class GrowingTrees {
 public:
  explicit GrowingTrees(const Setup& setup)
      : setup_(setup),
        size_(setup.size()),
        reached_(std::size_t{size_} * size_, 0),
        taken_(setup.topology().num_links(), 0) {
    for (std::uint32_t from = 0; from < size_; ++from) {
      for (std::uint32_t to = 0; to < size_; ++to) {
        if (from != to && setup.are_neighbours(from, to)) {
          neighbours_.push_back(to);
        }
      }
      neighbours_.end_row();
    }
    keep_routes();
  }

  /// Nothing when some participant cannot be reached past no NPU.
  std::optional<Messages> grow() {
    for (std::uint32_t root = 0; root < size_; ++root) {
      reached_[std::size_t{root} * size_ + root] = 1;
    }
    std::size_t missing = std::size_t{size_} * (size_ - 1);
    for (std::uint32_t step = 1; missing > 0; ++step) {
      const std::size_t before = missing;
      for (bool grew = true; grew;) {
        grew = false;
        for (std::uint32_t root = 0; root < size_; ++root) {
          if (add_one(root, step)) {
            --missing;
            grew = true;
          }
        }
      }
      if (missing == before) {
        return std::nullopt;
      }
    }
    return std::move(messages_);
  }

 private:
  /// Where nobody has a choice of routes, all of them: most are asked for many times, in vain.
  void keep_routes() {
    Csr<LinkId> routes;
    for (std::uint32_t from = 0; from < size_; ++from) {
      for (const std::uint32_t to : neighbours_[from]) {
        const auto links = setup_.near_routes().only_route(setup_.npu(from), setup_.npu(to));
        if (links.empty()) {
          return;
        }
        for (const LinkId link : links) {
          routes.push_back(link);
        }
        routes.end_row();
      }
    }
    routes_ = std::move(routes);
  }

  /// From one that the tree reached in an earlier step, over links that are free in this one.
  bool add_one(std::uint32_t root, std::uint32_t step) {
    std::uint32_t* const reached = &reached_[std::size_t{root} * size_];
    for (std::uint32_t from = 0; from < size_; ++from) {
      if (reached[from] == 0 || reached[from] > step) {
        continue;
      }
      const auto neighbours = neighbours_[from];
      for (std::size_t i = 0; i < neighbours.size(); ++i) {
        const std::uint32_t to = neighbours[i];
        if (reached[to] == 0 && take_route(from, i, step)) {
          reached[to] = step + 1;
          messages_.send(from, to, root);
          return true;
        }
      }
    }
    return false;
  }
  /// To a neighbour, by its place among them.
  bool take_route(std::uint32_t from, std::size_t neighbour, std::uint32_t step) {
    // Most are asked for in vain.
    const auto all_taken = [&](std::span<const LinkId> ports) {
      return std::all_of(
          ports.begin(), ports.end(), [&](LinkId link) { return taken_[link.index()] == step; });
    };
    const Topology& topology = setup_.topology();
    if (all_taken(topology.out_links(setup_.npu(from))) ||
        all_taken(topology.in_links(setup_.npu(neighbours_[from][neighbour])))) {
      return false;
    }
    const auto links =
        routes_.num_owners() > 0
            ? routes_[neighbours_.first(from) + neighbour]
            : setup_.near_routes().route(
                  setup_.npu(from), setup_.npu(neighbours_[from][neighbour]), {.count = 1});
    const bool free = std::all_of(
        links.begin(), links.end(), [&](LinkId link) { return taken_[link.index()] != step; });
    if (free) {
      for (const LinkId link : links) {
        taken_[link.index()] = step;
      }
    }
    return free;
  }

  const Setup& setup_;
  std::uint32_t size_;
  Csr<std::uint32_t> neighbours_;
  /// By neighbour, if they are kept.
  Csr<LinkId> routes_;
  /// By tree and participant: 1 + the step in which it was reached; 0: not yet.
  std::vector<std::uint32_t> reached_;
  /// By link: the last step in which it was taken.
  std::vector<std::uint32_t> taken_;
  Messages messages_;
};

}  // namespace

Result<std::vector<Algorithm>> multitree(const Setup& setup) {
  constexpr std::uint32_t kMost = 256;
  if (setup.size() > kMost) {
    return input_error(fmt::format("grows a tree for each participant, of up to {}", kMost));
  }
  const std::optional<Messages> trees = GrowingTrees(setup).grow();
  if (!trees) {
    return input_error(
        "grows trees from neighbour to neighbour, which do not reach everybody here");
  }
  return std::vector<Algorithm>{{.gather = [trees = *trees](std::uint32_t) { return trees; }}};
}

}  // namespace tacos::baselines
