// SPDX-License-Identifier: MIT
// What a schedule does on links. Of a pattern with more transfers than can be read, what it does on
// the links of one NPU: all others do the same at the same time.
#pragma once

#include <cstdint>
#include <vector>

#include "tacos/bundle.h"
#include "tacos/result.h"

#include "export/pictures/passages.h"
#include "schedule/patterns/pattern.h"

namespace tacos::draw {

class Traffic {
 public:
  explicit Traffic(const Bundle& bundle);

  /// Links that work, or those that stand for them; increasing.
  [[nodiscard]] const std::vector<LinkId>& links() const { return links_; }
  /// How many links each of them stands for, itself included.
  [[nodiscard]] std::uint32_t stands_for() const {
    return pattern_ == nullptr ? 1 : bundle_.topology.num_npus();
  }

  /// Calls visit(passage, op) for all that links() do.
  template <class Visit>
  [[nodiscard]] Status each(const Visit& visit) const {
    if (pattern_ != nullptr) {
      visit_pattern(visit);
      return ok();
    }
    return exporting::each_transfer(bundle_, [&](const Transfer& transfer, Ticks /*end*/) {
      exporting::each_passage(bundle_, transfer, [&](const exporting::Passage& passage) {
        visit(passage, transfer.op);
      });
    });
  }

  /// By link, for all of them: the part of the collective time in which it is busy.
  [[nodiscard]] Result<std::vector<double>> busy_shares() const;

 private:
  /// Every entry is a transfer out of NPU 0, and one into it.
  template <class Visit>
  void visit_pattern(const Visit& visit) const {
    for (const PatternEntry& entry : pattern_->entries) {
      const PatternMove& move = pattern_->moves[entry.move];
      const ChunkId chunk(entry.chunk);
      const Bytes bytes = bundle_.collective.chunks().bytes(chunk);
      Ticks head = entry.start;
      const auto pass = [&](LinkId id) {
        const Link& link = bundle_.topology.link(id);
        const Ticks busy =
            serialization_time(bytes, link.bandwidth) + overhead(link, bundle_.link_model);
        visit(exporting::Passage{.link = id, .start = head, .busy = busy}, entry.op);
        head += link.latency;
      };
      pass(LinkId(move.slot));
      if (move.port != PatternMove::kNoPort) {
        pass(LinkId(pattern_->ports[move.port].first));
      }
    }
  }
  /// By link: the one that stands for it.
  [[nodiscard]] std::vector<std::uint32_t> leaders() const;

  const Bundle& bundle_;
  /// Null when all transfers are read.
  const Pattern* pattern_ = nullptr;
  std::vector<LinkId> links_;
};

}  // namespace tacos::draw
