// SPDX-License-Identifier: MIT
#include "synthesis/matching/direct/rarest_choice.h"

#include <algorithm>
#include <bit>

namespace tacos::matching {
namespace {

constexpr std::uint32_t kFree = ~std::uint32_t{0};

}  // namespace

RarestChoice::RarestChoice(std::uint32_t num_chunks, const GatherNetwork& network)
    : network_(network),
      num_chunks_(num_chunks),
      holders_(num_chunks, network.num_npus()),
      arrival_(std::size_t{num_chunks} * network.num_npus(), 0),
      choice_(network.num_links(), kNoChunk),
      run_of_link_(network.max_in_degree()),
      visited_(network.max_in_degree()) {}

void RarestChoice::start_at(std::uint32_t npu, std::uint32_t chunk) {
  deliver(npu, chunk, 0);
}

void RarestChoice::deliver(std::uint32_t npu, std::uint32_t chunk, GridTime time) {
  holders_.add(chunk);
  arrival_[std::size_t{npu} * num_chunks_ + chunk] = time;
}

/// The `group size` best chunks that one link could bring, into best_, sorted.
void RarestChoice::collect(const ArrivalLog& log,
                           std::uint32_t npu,
                           const InLink& link,
                           GridTime start,
                           std::uint64_t salt) {
  const std::size_t wanted = visited_.size();
  best_.clear();
  const auto have = log.held(link.src);
  const auto mine = log.held(npu);
  const GridTime* arrival = arrival_.data() + std::size_t{link.src} * num_chunks_;
  std::uint64_t worst = ~std::uint64_t{0};
  offered_.resize(have.size());
  for (std::size_t word = 0; word < have.size(); ++word) {
    offered_[word] = have[word] & ~mine[word];
  }
  const auto weigh = [&](std::uint32_t chunk) {
    const std::uint64_t key = holders_.rarity(chunk, salt);
    if (key >= worst || arrival[chunk] > start) {
      return;
    }
    const Option option{.key = key, .chunk = chunk};
    if (best_.size() == wanted) {
      best_.pop_back();
    }
    best_.insert(std::upper_bound(best_.begin(),
                                  best_.end(),
                                  option,
                                  [](const Option& a, const Option& b) { return a.key < b.key; }),
                 option);
    worst = best_.size() == wanted ? best_.back().key : worst;
  };
  holders_.each_rare(offered_, weigh, [&] { return best_.size() == wanted; });
}

void RarestChoice::match(const ArrivalLog& log,
                         std::uint32_t npu,
                         GridTime now,
                         std::span<const std::uint32_t> group,
                         std::uint64_t salt) {
  const auto links = static_cast<std::uint32_t>(group.size());
  visited_.assign(links, 0);
  visit_ = 0;
  run_of_link_.assign(links, kFree);
  options_.clear();
  for (std::uint32_t i = 0; i < links; ++i) {
    const InLink& link = network_.in_links()[group[i]];
    collect(log, npu, link, now - link.delay, salt);
    for (Option option : best_) {
      option.link = i;
      options_.push_back(option);
    }
  }
  std::sort(options_.begin(), options_.end(), [](const Option& a, const Option& b) {
    return a.key != b.key       ? a.key < b.key
           : a.chunk != b.chunk ? a.chunk < b.chunk
                                : a.link < b.link;
  });
  std::uint32_t matched = 0;
  for (std::uint32_t run = 0; run < options_.size() && matched < links;) {
    ++visit_;
    matched += augment(run) ? 1 : 0;
    const std::uint32_t chunk = options_[run].chunk;
    while (run < options_.size() && options_[run].chunk == chunk) {
      ++run;
    }
  }
  for (std::uint32_t i = 0; i < links; ++i) {
    choice_[group[i]] = run_of_link_[i] == kFree ? kNoChunk : options_[run_of_link_[i]].chunk;
  }
}

/// Gives the chunk whose run of options begins at `run` a link, moving others aside (Kuhn 1955).
bool RarestChoice::augment(std::uint32_t run) {
  const std::uint32_t chunk = options_[run].chunk;
  for (std::uint32_t at = run; at < options_.size() && options_[at].chunk == chunk; ++at) {
    const std::uint32_t link = options_[at].link;
    if (visited_[link] == visit_) {
      continue;
    }
    visited_[link] = visit_;
    if (run_of_link_[link] == kFree || augment(run_of_link_[link])) {
      run_of_link_[link] = run;
      return true;
    }
  }
  return false;
}

}  // namespace tacos::matching
