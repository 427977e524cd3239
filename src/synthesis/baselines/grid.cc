// SPDX-License-Identifier: MIT
#include "synthesis/baselines/grid.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

namespace tacos::baselines {
namespace {

/// Who is joined to whom, in sets that only grow.
class Sets {
 public:
  explicit Sets(std::uint32_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  std::uint32_t find(std::uint32_t member) {
    while (parent_[member] != member) {
      member = parent_[member] = parent_[parent_[member]];
    }
    return member;
  }
  /// The smaller one stays in front.
  void join(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t first = find(a);
    const std::uint32_t second = find(b);
    parent_[std::max(first, second)] = std::min(first, second);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

/// Of the slowest link on the way from one neighbour to another; 0 where they are none.
std::vector<std::int64_t> speeds(const Setup& setup) {
  const std::uint32_t size = setup.size();
  std::vector<std::int64_t> all(std::size_t{size} * size, 0);
  for (std::uint32_t a = 0; a < size; ++a) {
    for (std::uint32_t b = 0; b < size; ++b) {
      const auto links = a == b
                             ? std::span<const LinkId>()
                             : setup.near_routes().route(setup.npu(a), setup.npu(b), {.count = 1});
      for (const LinkId link : links) {
        const std::int64_t speed = setup.topology().link(link).bandwidth.bytes_per_second;
        std::int64_t& slowest = all[a * size + b];
        slowest = slowest == 0 ? speed : std::min(slowest, speed);
      }
    }
  }
  return all;
}

/// Participants, box by box.
struct Boxes {
  std::vector<std::uint32_t> members;
  std::uint32_t size = 0;
};

/// The sets that links of at least this speed join, if they are equally large.
std::optional<Boxes> equal_sets(std::span<const std::int64_t> speed,
                                std::uint32_t size,
                                std::int64_t least) {
  Sets sets(size);
  for (std::uint32_t a = 0; a < size; ++a) {
    for (std::uint32_t b = 0; b < size; ++b) {
      if (speed[a * size + b] >= least && speed[b * size + a] >= least) {
        sets.join(a, b);
      }
    }
  }
  std::vector<std::uint32_t> members(size);
  std::iota(members.begin(), members.end(), 0U);
  std::stable_sort(members.begin(), members.end(), [&](std::uint32_t a, std::uint32_t b) {
    return sets.find(a) < sets.find(b);
  });
  const auto count = static_cast<std::uint32_t>(std::count_if(
      members.begin(), members.end(), [&](std::uint32_t i) { return sets.find(i) == i; }));
  for (std::uint32_t i = 0; i < size; ++i) {
    if (size % count != 0 || sets.find(members[i]) != sets.find(members[i - i % (size / count)])) {
      return std::nullopt;
    }
  }
  return Boxes{.members = std::move(members), .size = size / count};
}

}  // namespace

Grid::Grid(std::vector<Axis> axes, std::vector<std::uint32_t> participants)
    : axes_(std::move(axes)), participants_(std::move(participants)) {
  std::uint32_t stride = 1;
  for (const Axis& axis : axes_) {
    strides_.push_back(stride);
    stride *= axis.length;
  }
}

void Grid::send(const Telling& telling,
                std::uint32_t axis,
                std::uint32_t done,
                Messages& messages) const {
  const auto [place, to, first, count] = telling;
  std::vector<std::uint32_t> parts;
  for (std::uint32_t other = 0; other < participants_.size(); ++other) {
    bool known = coordinate(other, axis) >= first && coordinate(other, axis) < first + count;
    for (std::uint32_t i = 0; i < axes_.size() && known; ++i) {
      known = i == axis || (done >> i & 1U) != 0 || coordinate(other, i) == coordinate(place, i);
    }
    if (known) {
      parts.push_back(participants_[other]);
    }
  }
  messages.send(participants_[place], participants_[moved(place, axis, to)], parts);
}

void Grid::gather_along(
    std::uint32_t axis, std::uint32_t done, Style style, bool up, Messages& messages) const {
  const std::uint32_t length = axes_[axis].length;
  const bool doubles = style == Style::kDoubling && std::has_single_bit(length);
  for (std::uint32_t step = 1; step < length; step = doubles ? 2 * step : step + 1) {
    for (std::uint32_t place = 0; place < participants_.size(); ++place) {
      const std::uint32_t here = coordinate(place, axis);
      if (doubles) {
        send({place, here ^ step, here / step * step, step}, axis, done, messages);
      } else if (style == Style::kRing) {
        const std::uint32_t next = (here + (up ? 1 : length - 1)) % length;
        const std::uint32_t owner = (here + (up ? length - step + 1 : step - 1)) % length;
        send({place, next, owner, 1}, axis, done, messages);
      } else {
        send({place, (here + step) % length, here, 1}, axis, done, messages);
      }
    }
  }
}

Result<Grid> find_grid(const Setup& setup) {
  const Topology& topology = setup.topology();
  if (!setup.is_everybody() || !has_product_structure(topology)) {
    return find_boxes(setup);
  }
  std::vector<Axis> axes;
  for (const Dimension& dimension : topology.dimensions()) {
    if (dimension.length > 1) {
      axes.push_back({dimension.wiring, dimension.length, dimension.bandwidth});
    }
  }
  std::vector<std::uint32_t> participants(setup.size());
  std::iota(participants.begin(), participants.end(), 0U);
  return Grid(std::move(axes), std::move(participants));
}

Result<Grid> find_boxes(const Setup& setup) {
  const std::uint32_t size = setup.size();
  const std::vector<std::int64_t> speed = speeds(setup);
  std::vector<std::int64_t> levels = speed;
  std::sort(levels.begin(), levels.end(), std::greater<>());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  for (const std::int64_t level : levels) {
    if (level == 0) {
      break;
    }
    std::optional<Boxes> boxes = equal_sets(speed, size, level);
    if (boxes && boxes->size > 1 && boxes->size < size) {
      return Grid(
          {{Wiring::kSwitch, boxes->size, {level}}, {Wiring::kSwitch, size / boxes->size, {}}},
          std::move(boxes->members));
    }
  }
  return input_error(
      "is for products of rings, cliques and switches, or for equal boxes of NPUs joined by slower "
      "links, which are not to be seen here");
}

}  // namespace tacos::baselines
