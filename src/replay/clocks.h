// SPDX-License-Identifier: MIT
// The one place where an order becomes times: when each link is free and each chunk is there, as
// transfers are made one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tacos/topology.h"

#include "base/memory/huge_vector.h"

namespace tacos::replay {

/// What a transfer had to wait for last.
enum class Cause : std::uint8_t {
  kNothing,
  kData,  ///< that `before` arrived
  kLink,  ///< that `before` left a link
};

/// A transfer and its times.
struct Made {
  std::uint64_t number = 0;
  Ticks start = {};
  Ticks end = {};
  Cause cause = Cause::kNothing;
  /// Number of the transfer that it waited for.
  std::uint64_t before = 0;

  /// Starts no sooner than this.
  void wait(Ticks until, Cause why, std::uint64_t who) {
    if (until > start) {
      start = until;
      cause = why;
      before = who;
    }
  }
};

/// 8 bytes for each (NPU, chunk), twice as many where causes are kept.
class Clocks {
 public:
  Clocks(const Topology& topology, std::uint32_t num_chunks, LinkModel model, bool with_causes)
      : topology_(topology),
        model_(model),
        num_chunks_(num_chunks),
        stride_(with_causes ? 2 : 1),
        ready_(std::size_t{topology.num_npus()} * num_chunks * stride_),
        links_(topology.num_links()) {}

  /// An NPU's copy of a chunk.
  [[nodiscard]] std::size_t place(NodeId npu, ChunkId chunk) const {
    return npu.index() * num_chunks_ + chunk.index();
  }
  void wait_for_data(std::size_t place, Made& made) const {
    const std::int64_t* const ready = &ready_[place * stride_];
    made.wait({*ready}, Cause::kData, static_cast<std::uint64_t>(ready[stride_ - 1]));
  }
  /// `head` is how long after its start a transfer gets to the link.
  void wait_for_link(LinkId link, Ticks head, Made& made) const {
    made.wait(links_[link.index()].free - head, Cause::kLink, links_[link.index()].by);
  }
  void wait_for_links(std::span<const LinkId> links, Made& made) const {
    Ticks head;
    for (const LinkId link : links) {
      wait_for_link(link, head, made);
      head += topology_.link(link).latency;
    }
  }

  /// What it sends is there, or added, from its end on.
  void arrive(std::size_t place, Ticks end, std::uint64_t number) {
    std::int64_t* const ready = &ready_[place * stride_];
    if (end.ps >= *ready) {
      ready[stride_ - 1] = static_cast<std::int64_t>(number);
      *ready = end.ps;
    }
  }
  /// That the place will be looked at soon.
  void prefetch(std::size_t place) const { __builtin_prefetch(&ready_[place * stride_]); }
  void occupy_link(LinkId link, Ticks from, Ticks busy, std::uint64_t number) {
    LinkClock& clock = links_[link.index()];
    clock.busy += busy;
    if (from + busy >= clock.free) {
      clock.free = from + busy;
      clock.by = number;
    }
  }
  /// From the start of `made` on; it may take longer than its links do.
  void occupy_links(std::span<const LinkId> links, Bytes bytes, Ticks longer, const Made& made) {
    Ticks head = made.start;
    for (const LinkId id : links) {
      const Link& link = topology_.link(id);
      occupy_link(id, head, link_cost(link, bytes, model_).busy + longer, made.number);
      head += link.latency;
    }
  }

  /// How long the link has been busy so far.
  [[nodiscard]] Ticks busy(LinkId link) const { return links_[link.index()].busy; }

 private:
  struct LinkClock {
    Ticks free;
    Ticks busy;
    std::uint64_t by = 0;
  };

  const Topology& topology_;
  LinkModel model_;
  std::size_t num_chunks_;
  /// Numbers for each place: since when it is there, and who brought it if that is kept.
  std::size_t stride_;
  HugeVector<std::int64_t> ready_;
  std::vector<LinkClock> links_;
};

}  // namespace tacos::replay
