// SPDX-License-Identifier: MIT
// The transfers that a page holds one by one, as columns.
//
// Transfers over the same links with as many bytes take equal times; what they have in common is
// their *course*. A page so has exact times without calculating costs: of a course, how long it is
// until the data is there, and for each link when after the start it gets busy, and for how long.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tacos/bundle.h"
#include "tacos/schedule.h"

#include "view/column.h"

namespace tacos::viewing {

class Recorder {
 public:
  /// Neither may go away. The links of transfers are those of the network, which may be a piece of
  /// the bundle's.
  Recorder(const Bundle& bundle, const Topology& network) : bundle_(bundle), network_(network) {}

  /// In start order.
  void add(const Transfer& transfer);
  /// {"transfers": {...}, "courses": {...}}.
  void write(Json& json) const;
  [[nodiscard]] std::size_t num_transfers() const { return start_.size(); }

 private:
  using Course = std::pair<std::vector<LinkId>, std::int64_t>;
  std::uint64_t course_of(const Transfer& transfer);

  const Bundle& bundle_;
  const Topology& network_;
  Numbers start_;
  Numbers course_;
  Numbers reduces_;
  Numbers num_chunks_;
  Numbers chunks_;

  std::map<Course, std::uint64_t> courses_;
  Numbers bytes_;
  Numbers arrival_;
  Numbers num_links_;
  Numbers links_;
  Numbers offset_;
  Numbers busy_;
};

}  // namespace tacos::viewing
