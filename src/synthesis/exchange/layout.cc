// SPDX-License-Identifier: MIT
#include "synthesis/exchange/layout.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tacos::exchange {
namespace {

/// More levels than this no network has; those of random latencies would make many.
constexpr std::size_t kMostLevels = 16;

/// Who is joined to whom, in sets that only grow; the smallest member stands for its set.
class Boxes {
 public:
  explicit Boxes(std::uint32_t size) : first_(size) { std::iota(first_.begin(), first_.end(), 0U); }
  void join(std::uint32_t a, std::uint32_t b) {
    const auto [into, gone] = std::minmax(first_[a], first_[b]);
    if (into != gone) {
      std::replace(first_.begin(), first_.end(), std::uint32_t{gone}, std::uint32_t{into});
    }
  }
  [[nodiscard]] std::uint32_t of(std::uint32_t member) const { return first_[member]; }
  /// How many are in most of them.
  [[nodiscard]] std::uint32_t usual_size() const {
    const std::vector<std::uint32_t> count = sizes();
    // By size: how many participants are in boxes of it.
    std::vector<std::uint32_t> members(first_.size() + 1, 0);
    for (const std::uint32_t size : count) {
      members[size] += size;
    }
    return static_cast<std::uint32_t>(std::max_element(members.begin(), members.end()) -
                                      members.begin());
  }
  [[nodiscard]] bool are_equal() const {
    const std::vector<std::uint32_t> count = sizes();
    return std::all_of(count.begin(), count.end(), [&](std::uint32_t size) {
      return size == 0 || size == count[0];
    });
  }

 private:
  /// By first member.
  [[nodiscard]] std::vector<std::uint32_t> sizes() const {
    std::vector<std::uint32_t> count(first_.size(), 0);
    for (const std::uint32_t first : first_) {
      ++count[first];
    }
    return count;
  }
  std::vector<std::uint32_t> first_;
};

/// By levels of time: who reach each other within one are in a box. `broken_box` becomes how large
/// most boxes are where some are not.
Layout nested_boxes(const Hops& hops, std::uint32_t& broken_box) {
  const std::uint32_t size = hops.size();
  std::vector<Ticks> levels;
  for (std::uint32_t a = 0; a < size; ++a) {
    for (std::uint32_t b = 0; b < size; ++b) {
      levels.push_back(hops.time(a, b));
    }
  }
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  levels.resize(std::min(levels.size(), kMostLevels));
  std::vector<std::uint32_t> lengths;
  std::vector<std::uint32_t> members(size);
  std::iota(members.begin(), members.end(), 0U);
  Boxes boxes(size);
  std::uint32_t inner = 1;
  for (const Ticks level : levels) {
    if (level >= kMaxTime) {
      break;
    }
    for (std::uint32_t a = 0; a < size; ++a) {
      for (std::uint32_t b = 0; b < size; ++b) {
        if (std::max(hops.time(a, b), hops.time(b, a)) <= level) {
          boxes.join(a, b);
        }
      }
    }
    const std::uint32_t box = boxes.usual_size();
    if (!boxes.are_equal()) {
      // Where a link has failed, say, boxes are not what they were.
      broken_box = lengths.empty() && box > broken_box && box < size ? box : broken_box;
    } else if (box > inner) {
      lengths.push_back(box / inner);
      inner = box;
      // Boxes keep their insides: those were sorted before.
      std::stable_sort(members.begin(), members.end(), [&](std::uint32_t a, std::uint32_t b) {
        return boxes.of(a) < boxes.of(b);
      });
    }
  }
  if (inner < size) {
    lengths.push_back(size / inner);
  }
  return {.group = MixedRadix(lengths), .roles = 1, .participant = std::move(members)};
}

Layout by_dimensions(const Topology& topology) {
  std::vector<std::uint32_t> lengths;
  for (const Dimension& dimension : topology.dimensions()) {
    if (dimension.length > 1) {
      lengths.push_back(dimension.length);
    }
  }
  Layout layout{.group = MixedRadix(lengths), .roles = 1, .participant = {}};
  layout.participant.resize(layout.group.size());
  std::iota(layout.participant.begin(), layout.participant.end(), 0U);
  return layout;
}

/// Boxes of so many, by their numbers.
Layout in_boxes(std::uint32_t size, std::uint32_t box) {
  std::vector<std::uint32_t> lengths{box};
  if (box < size) {
    lengths.push_back(size / box);
  }
  Layout layout{.group = MixedRadix(lengths), .roles = 1, .participant = {}};
  layout.participant.resize(size);
  std::iota(layout.participant.begin(), layout.participant.end(), 0U);
  return layout;
}

bool are_equal(const Layout& a, const Layout& b) {
  return a.participant == b.participant && std::equal(a.group.lengths().begin(),
                                                      a.group.lengths().end(),
                                                      b.group.lengths().begin(),
                                                      b.group.lengths().end());
}

}  // namespace

std::vector<Layout> find_layouts(const Topology& topology, const Hops& hops) {
  const std::uint32_t size = hops.size();
  std::vector<Layout> layouts;
  const auto add = [&](Layout layout) {
    const bool known = std::any_of(layouts.begin(), layouts.end(), [&](const Layout& other) {
      return are_equal(layout, other);
    });
    if (!known) {
      layouts.push_back(std::move(layout));
    }
  };
  if (!topology.dimensions().empty() && size == topology.num_npus()) {
    add(by_dimensions(topology));
  }
  std::uint32_t broken_box = 0;
  Layout boxes = nested_boxes(hops, broken_box);
  Layout flat = in_boxes(size, size);
  flat.participant = boxes.participant;
  if (boxes.group.num_digits() == 1 && broken_box > 1 && size % broken_box == 0) {
    add(in_boxes(size, broken_box));
  }
  add(std::move(boxes));
  add(std::move(flat));
  return layouts;
}

Layout with_roles(const Layout& layout, std::uint32_t roles) {
  std::vector<std::uint32_t> lengths(layout.group.lengths().begin(), layout.group.lengths().end());
  lengths.front() /= roles;
  Layout split{.group = MixedRadix(lengths), .roles = roles, .participant = {}};
  for (std::uint32_t role = 0; role < roles; ++role) {
    for (std::uint32_t element = 0; element < split.group.size(); ++element) {
      split.participant.push_back(layout.participant[element * roles + role]);
    }
  }
  return split;
}

}  // namespace tacos::exchange
