// SPDX-License-Identifier: MIT
// Logs read link by link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel/threads.h"
#include "schedule/link_lists.h"
#include "schedule/logs/log_part.h"

namespace tacos {

/// Null where the parts are not one log forwards and whole, or where lists would take much memory.
/// The parts must live as long.
[[nodiscard]] std::unique_ptr<LinkLists> make_log_lists(std::span<const LogPart> parts,
                                                        ThreadPool& pool);
/// Whether finding the links' entries is little work beside reading them.
[[nodiscard]] bool is_quick_by_link(const WindowLog& log);

/// Of a log in step.
[[nodiscard]] std::unique_ptr<LinkLists> make_step_lists(const LogPart& part, ThreadPool& pool);
/// Of one of unequal links; null where these send back to back in more segments than that.
[[nodiscard]] std::unique_ptr<LinkLists> make_timed_lists(const LogPart& part,
                                                          std::size_t most_segments);

/// Which NPU a link leads to, and where it is among the in-links; or no such link.
struct LogPlace {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t npu = 0;
  std::uint32_t position = kNone;

  explicit operator bool() const { return position != kNone; }
};
/// Per link id.
[[nodiscard]] std::vector<LogPlace> places_of(const InLinks& in_links);

[[nodiscard]] LinkLists::Clock clock_of(const LogPart& part);

/// Calls visit<Id, Degree>(): `Id` is what the log's entries are, `Degree` how many links lead to
/// an NPU where compilers should know, as on meshes and tori, and 0 elsewhere.
template <class Id, class Visit>
void with_degree(std::uint32_t degree, const Visit& visit) {
  switch (degree) {
    case 2:
      return visit.template operator()<Id, 2>();
    case 3:
      return visit.template operator()<Id, 3>();
    case 4:
      return visit.template operator()<Id, 4>();
    case 6:
      return visit.template operator()<Id, 6>();
    default:
      return visit.template operator()<Id, 0>();
  }
}
template <class Visit>
void with_types(const WindowLog& log, std::uint32_t degree, const Visit& visit) {
  log.narrow() ? with_degree<std::uint16_t>(degree, visit)
               : with_degree<std::uint32_t>(degree, visit);
}

}  // namespace tacos
