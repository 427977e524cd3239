// SPDX-License-Identifier: MIT
// When the latest entries of each NPU's log came, for those who may send them on.
//
// A link begins a transfer and binds it to a chunk only when it ends, so it must be known whether
// the source had the chunk by the beginning: for as long as its slowest link takes. Marks tell by
// which time a log had which length: one for each entry of an exact window, one for each other
// window. They are kept in a ring, half of which is read in a window while the other half may be
// written. Of what is older than the marks of a half it is only known that it came before those
// end, which is late but safe.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "synthesis/matching/direct/gather_network.h"

namespace tacos::matching {

class ArrivalTimes {
 public:
  /// For NPUs of which `sees` is true.
  template <class Sees>
  ArrivalTimes(const GatherNetwork& network,
               GridTime exact_window,
               std::uint32_t num_chunks,
               const Sees& sees) {
    std::vector<GridTime> slowest(network.num_npus(), exact_window);
    for (const InLink& link : network.in_links()) {
      slowest[link.src] = std::max(slowest[link.src], link.delay);
    }
    rings_.resize(network.num_npus());
    std::size_t size = 0;
    for (std::uint32_t npu = 0; npu < network.num_npus(); ++npu) {
      if (!sees(npu)) {
        continue;
      }
      // What comes in an exact window, or while a transfer of the slowest link is under way.
      std::uint64_t entries = 2;
      for (std::uint32_t at = network.first_in(npu); at < network.end_in(npu); ++at) {
        entries += slowest[npu] / network.in_links()[at].period + 1;
      }
      Ring& ring = rings_[npu];
      ring.half = static_cast<std::uint32_t>(std::min<std::uint64_t>(entries, num_chunks + 2));
      ring.first = size;
      ring.mask = std::bit_ceil(2 * ring.half) - 1;
      size += std::size_t{ring.mask} + 1;
    }
    marks_.resize(size);
  }

  /// The log of an NPU had this length by that time. For who decides for the NPU.
  void add(std::uint32_t npu, std::uint32_t length, GridTime time) {
    Ring& ring = rings_[npu];
    marks_[ring.first + (ring.written++ & ring.mask)] = {.time = time, .length = length};
  }
  /// The time of the latest mark that was added, or of one before it.
  [[nodiscard]] GridTime latest(std::uint32_t npu, std::uint32_t before) const {
    const Ring& ring = rings_[npu];
    return marks_[ring.first + ((ring.written - 1 - before) & ring.mask)].time;
  }
  /// Between windows: all logs that have grown had these lengths by that time.
  void add_all(std::span<const std::uint32_t> lengths, GridTime time) {
    for (std::uint32_t npu = 0; npu < rings_.size(); ++npu) {
      const Ring& ring = rings_[npu];
      if (ring.half != 0 &&
          (ring.written == 0 ||
           marks_[ring.first + ((ring.written - 1) & ring.mask)].length != lengths[npu])) {
        add(npu, lengths[npu], time);
      }
    }
    publish();
  }
  /// Between windows: lets others see what has been added.
  void publish() {
    for (Ring& ring : rings_) {
      ring.visible = ring.written;
    }
  }

  struct Came {
    /// How many entries had come by the time that was asked for, at least.
    std::uint32_t by_then = 0;
    /// When the entry that was asked for had come, at the latest.
    GridTime time = 0;
  };
  /// From any thread, of entries that could be seen when the window began.
  [[nodiscard]] Came came(std::uint32_t npu, std::uint32_t entry, GridTime by) const {
    const Ring& ring = rings_[npu];
    const std::uint32_t oldest = ring.visible > ring.half ? ring.visible - ring.half : 0;
    Came found;
    for (std::uint32_t at = ring.visible; at-- > oldest;) {
      const Mark& mark = marks_[ring.first + (at & ring.mask)];
      if (mark.length > entry) {
        found.time = mark.time;
      }
      if (mark.time <= by) {
        found.by_then = mark.length;
        break;
      }
    }
    return found;
  }

 private:
  struct Mark {
    GridTime time = 0;
    std::uint32_t length = 0;
  };
  struct Ring {
    std::size_t first = 0;
    std::uint32_t mask = 0;
    std::uint32_t half = 0;
    /// Marks so far, and those that others see.
    std::uint32_t written = 0;
    std::uint32_t visible = 0;
  };

  std::vector<Ring> rings_;
  std::vector<Mark> marks_;
};

}  // namespace tacos::matching
