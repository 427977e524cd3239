// SPDX-License-Identifier: MIT
#include "synthesis/symmetric/free_action.h"

#include <algorithm>
#include <vector>

namespace tacos::symmetric {
namespace {

/// Tries one map after the other that commutes with the group if it is free.
///
/// Let w be an NPU. If only the identity leaves 0 in place, then "g(0) goes to g(w), for all g" is
/// a map; it is one exactly if whatever leaves 0 in place leaves w in place. If that is so for
/// every w, then only the identity leaves 0 in place. Inside the orbit of 0 these maps form a
/// group, so that it is enough to try those that generate it: each one doubles the known part, at
/// least. Any other orbit takes one map, which must also be one to one.
class FreedomTest {
 public:
  FreedomTest(std::span<const Permutation> generators, std::uint32_t npus)
      : generators_(generators), image_(npus), known_(npus, false), in_orbit_(npus, false) {}

  bool run() {
    walk();
    know(0);
    for (std::uint32_t npu = 0; npu < known_.size(); ++npu) {
      if (known_[npu]) {
        continue;
      }
      if (!is_map(npu) || !(in_orbit_[npu] ? close() : is_one_to_one())) {
        return false;
      }
    }
    return true;
  }

 private:
  struct Arrival {
    std::uint32_t npu = 0;
    std::uint32_t from = 0;
    std::uint32_t generator = 0;
  };

  /// How the generators take 0 to every other in its orbit.
  void walk() {
    arrivals_.push_back({});
    in_orbit_[0] = true;
    for (std::size_t next = 0; next < arrivals_.size(); ++next) {
      for (std::uint32_t g = 0; g < generators_.size(); ++g) {
        const std::uint32_t from = arrivals_[next].npu;
        const std::uint32_t to = generators_[g][from];
        if (!in_orbit_[to]) {
          in_orbit_[to] = true;
          arrivals_.push_back({.npu = to, .from = from, .generator = g});
        }
      }
    }
  }

  /// Makes image_ the map that takes 0 to `target`; whether it is one.
  bool is_map(std::uint32_t target) {
    for (const Arrival& arrival : arrivals_) {
      image_[arrival.npu] =
          arrival.npu == 0 ? target : generators_[arrival.generator][image_[arrival.from]];
    }
    return std::all_of(arrivals_.begin(), arrivals_.end(), [&](const Arrival& arrival) {
      return std::all_of(generators_.begin(), generators_.end(), [&](const Permutation& generator) {
        return image_[generator[arrival.npu]] == generator[image_[arrival.npu]];
      });
    });
  }

  bool is_one_to_one() {
    return std::all_of(arrivals_.begin(), arrivals_.end(), [&](const Arrival& arrival) {
      return know(image_[arrival.npu]);
    });
  }

  /// Adds image_ to the maps of the orbit, and what they now take 0 to.
  bool close() {
    maps_.push_back(image_);
    std::vector<std::uint32_t> reached;
    for (const Arrival& arrival : arrivals_) {
      if (known_[arrival.npu]) {
        reached.push_back(arrival.npu);
      }
    }
    for (std::size_t next = 0; next < reached.size(); ++next) {
      for (const Permutation& map : maps_) {
        if (know(map[reached[next]])) {
          reached.push_back(map[reached[next]]);
        }
      }
    }
    return true;
  }

  /// Whether it was not known before.
  bool know(std::uint32_t npu) {
    const bool news = !known_[npu];
    known_[npu] = true;
    return news;
  }

  std::span<const Permutation> generators_;
  std::vector<Arrival> arrivals_;
  Permutation image_;
  std::vector<bool> known_;
  std::vector<bool> in_orbit_;
  std::vector<Permutation> maps_;
};

}  // namespace

bool acts_freely(std::span<const Permutation> generators, std::uint32_t npus) {
  return FreedomTest(generators, npus).run();
}

}  // namespace tacos::symmetric
