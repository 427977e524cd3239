// SPDX-License-Identifier: MIT
#include "schedule/logs/log_lists.h"

#include <algorithm>
#include <cstddef>

#include "schedule/logs/window_log.h"

namespace tacos {

std::unique_ptr<LinkLists> make_log_lists(std::span<const LogPart> parts, ThreadPool& pool) {
  const LogPart& part = parts.front();
  if (parts.size() > 1 || part.order == LogOrder::kBackwards || part.log->team() != nullptr) {
    return nullptr;
  }
  const InLinks& in = part.log->in_links();
  if (in.in_step()) {
    return make_step_lists(part, pool);
  }
  // A segment takes 8 bytes: as much as half of the log at the most.
  constexpr std::uint64_t kTransfersForOne = 8;
  return make_timed_lists(part, part.log->num_deliveries() / kTransfersForOne + in.num_links());
}

bool is_quick_by_link(const WindowLog& log) {
  constexpr std::uint64_t kMost = 4;
  // Unequal links are merged for each that is read.
  constexpr std::uint64_t kMostUnequal = 8;
  const InLinks& in = log.in_links();
  std::uint64_t work = 0;
  std::uint64_t highest = 0;
  for (std::uint32_t npu = 0; npu < in.num_npus(); ++npu) {
    const std::uint64_t degree = in.degree(npu);
    work += degree * degree;
    highest = std::max(highest, degree);
  }
  return in.in_step() ? work * log.windows().size() <= kMost * log.num_deliveries()
                      : highest <= kMostUnequal;
}

std::vector<LogPlace> places_of(const InLinks& in_links) {
  std::vector<LogPlace> places(in_links.num_ids);
  for (std::uint32_t npu = 0; npu < in_links.num_npus(); ++npu) {
    for (std::uint32_t at = in_links.first[npu]; at < in_links.first[npu + 1]; ++at) {
      places[in_links.links[at].index()] = {.npu = npu, .position = at};
    }
  }
  return places;
}

LinkLists::Clock clock_of(const LogPart& part) {
  return {.begin = part.begin, .unit = part.unit, .end = part.log->end()};
}

}  // namespace tacos
