// SPDX-License-Identifier: MIT
// What is wrong with a schedule, in sentences for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tacos/ids.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

namespace tacos {

/// Keeps the first few sentences and counts the rest.
class Violations {
 public:
  Violations(const Topology& topology, std::size_t max) : topology_(topology), max_(max) {}

  /// `sentence` is called only when its text will be kept.
  template <class Sentence>
  void add(const Sentence& sentence) {
    if (count_++ < max_) {
      sentences_.emplace_back() = sentence();
    }
  }
  /// The same, about one transfer: "transfer 17 (start ...): " and the sentence.
  template <class Sentence>
  void add(const Transfer& transfer, std::uint64_t index, const Sentence& sentence) {
    add([&] { return describe(transfer, index) + ": " + sentence(); });
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::vector<std::string> take_sentences() { return std::move(sentences_); }

  /// "NPU 3" or "switch 12".
  [[nodiscard]] std::string name(NodeId node) const;
  /// "link 3: NPU 0 > NPU 1".
  [[nodiscard]] std::string name(LinkId link) const;
  /// "transfer 17 (start 800 ps, link 3: NPU 0 > NPU 1, chunk 5)"; ids that do not exist are fine.
  [[nodiscard]] std::string describe(const Transfer& transfer, std::uint64_t index) const;

 private:
  [[nodiscard]] std::string name(std::span<const LinkId> route) const;

  const Topology& topology_;
  std::size_t max_;
  std::uint64_t count_ = 0;
  std::vector<std::string> sentences_;
};

}  // namespace tacos
