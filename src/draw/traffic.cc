// SPDX-License-Identifier: MIT
#include "draw/traffic.h"

#include <numeric>
#include <variant>

#include "schedule/source.h"

namespace tacos::draw {
namespace {

/// A second or two of reading.
constexpr std::uint64_t kMostRead = 100'000'000;

const Pattern* pattern_of(const Schedule& schedule) {
  return std::visit(
      Overloaded{[](const Listed& /*form*/) -> const Pattern* { return nullptr; },
                 [](const Pattern* pattern) { return pattern; },
                 [](const OrbitPattern* /*form*/) -> const Pattern* { return nullptr; },
                 [](const Timetable* /*form*/) -> const Pattern* { return nullptr; }},
      source_of(schedule).form());
}

}  // namespace

Traffic::Traffic(const Bundle& bundle)
    : bundle_(bundle),
      pattern_(bundle.schedule.num_transfers() > kMostRead ? pattern_of(bundle.schedule)
                                                           : nullptr) {
  const std::vector<std::uint32_t> leader = leaders();
  for (std::uint32_t id = 0; id < leader.size(); ++id) {
    if (!bundle.topology.failed(LinkId(id)) && leader[id] == id) {
      links_.emplace_back(id);
    }
  }
}

std::vector<std::uint32_t> Traffic::leaders() const {
  const Topology& topology = bundle_.topology;
  std::vector<std::uint32_t> leader(topology.num_links());
  std::iota(leader.begin(), leader.end(), 0U);
  if (pattern_ == nullptr) {
    return leader;
  }
  const std::uint32_t npus = topology.num_npus();
  const std::uint32_t out = npus * pattern_->links_per_npu;
  for (std::uint32_t id = 0; id < out; ++id) {
    leader[id] = id % pattern_->links_per_npu;
  }
  for (const PatternPort& port : pattern_->ports) {
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      std::uint32_t id = port.first;
      std::uint32_t rest = npu;
      for (std::size_t i = 0; i < pattern_->lengths.size(); ++i) {
        id += rest % pattern_->lengths[i] * port.strides[i];
        rest /= pattern_->lengths[i];
      }
      leader[id] = port.first;
    }
  }
  return leader;
}

Result<std::vector<double>> Traffic::busy_shares() const {
  std::vector<double> busy(bundle_.topology.num_links(), 0);
  const Status read = each([&](const exporting::Passage& passage, Op /*op*/) {
    busy[passage.link.index()] += static_cast<double>(passage.busy.ps);
  });
  if (!read) {
    return read.error();
  }
  const auto all = static_cast<double>(bundle_.schedule.collective_time().ps);
  const std::vector<std::uint32_t> leader = leaders();
  std::vector<double> shares(busy.size(), 0);
  for (std::size_t id = 0; id < busy.size() && all > 0; ++id) {
    shares[id] = busy[leader[id]] / all;
  }
  return shares;
}

}  // namespace tacos::draw
