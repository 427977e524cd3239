// SPDX-License-Identifier: MIT
#include "synthesis/matching/ports/offers.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

namespace tacos::matching {

Offers::Offers(const Market& market, Duplicates duplicates)
    : task_(market.task),
      network_(market.network),
      levels_(market.levels),
      relays_(market.relays),
      stock_(market.stock),
      claims_(market.claims),
      duplicates_(duplicates),
      deduplicate_(duplicates != Duplicates::kAllow),
      num_npus_(market.task.wanted.rows()),
      brought_(market.levels.num_levels() * num_npus_) {
  std::size_t looked = 0;
  for (const PortLink& link : market.network.links()) {
    first_looked_.push_back(looked);
    if (link.dst < num_npus_) {
      looked += link.src < num_npus_ ? 1 : num_npus_;
    }
  }
  looked_.resize(looked);
  find_slots();
}

void Offers::find_slots() {
  const auto links = network_.links();
  // By source, as they lie side by side.
  std::vector<std::size_t> first_slot(network_.num_nodes() + 1, 0);
  for (const PortLink& link : links) {
    ++first_slot[link.src + 1];
  }
  std::partial_sum(first_slot.begin(), first_slot.end(), first_slot.begin());
  std::vector<std::size_t> next(first_slot.begin(), first_slot.end() - 1);
  for (const PortLink& link : links) {
    slot_.push_back(next[link.src]++);
  }
  nothing_new_.resize(links.size());
  nothing_.resize(links.size());
  places_ = {num_npus_, [&](const auto& add) {
               for (std::uint32_t node = 0; node < network_.num_nodes(); ++node) {
                 const auto into = network_.in_links(node);
                 if (!network_.is_even(node) || into.size() > BitMatrix::kWordBits) {
                   continue;
                 }
                 for (std::size_t i = 0; i < into.size(); ++i) {
                   add(links[into[i]].src,
                       Place{.first_slot = first_slot[node],
                             .end_slot = first_slot[node + 1],
                             .bit = Word{1} << i});
                 }
               }
             }};
}

void Offers::arrived(std::uint32_t npu) {
  for (const Place& place : places_[npu]) {
    for (std::size_t slot = place.first_slot; slot < place.end_slot; ++slot) {
      nothing_new_[slot] &= ~place.bit;
      nothing_[slot] &= ~place.bit;
    }
  }
}

bool Offers::let_duplicates_through() {
  nothing_new_ = nothing_;
  return std::exchange(deduplicate_, false);
}

bool Offers::look(std::uint32_t link, std::span<Source> sources) {
  bool any = false;
  for (Source& source : sources) {
    source.useful = has_something(link, source);
    any = any || source.useful;
  }
  return any;
}

bool Offers::look_for_duplicates(std::uint32_t link, std::span<Source> sources) {
  const std::uint32_t npu = network_.links()[link].dst;
  const Source* last = nullptr;
  bool any = false;
  for (Source& source : sources) {
    // Most are alike.
    const bool same =
        last != nullptr && last->level == source.level && last->slowest == source.slowest;
    source.duplicates = same ? last->duplicates : excuses(npu, source);
    source.useful = source.duplicates && has_something(link, source);
    any = any || source.useful;
    last = &source;
  }
  return any;
}

bool Offers::has_something(std::uint32_t link, const Source& source) {
  const std::uint32_t npu = network_.links()[link].dst;
  const bool direct = network_.links()[link].src == source.npu;
  Looked& looked = looked_[first_looked_[link] + (direct ? 0 : source.npu)];
  const auto log = stock_.log(source.npu);
  if (!only_new(source)) {
    std::uint32_t& at = looked.for_npu;
    while (at < log.size() && (claims_.by_npu(npu, log[at]) || !welcome(npu, log[at]))) {
      ++at;
    }
    const bool vain = at == log.size();
    nothing_[slot_[link]] |= vain ? source.bit : 0;
    nothing_new_[slot_[link]] |= vain ? source.bit : 0;
    return !vain;
  }
  if (looked.level != source.level) {
    looked.level = source.level;
    looked.for_neighbourhood = 0;
  }
  std::uint32_t& at = looked.for_neighbourhood;
  at = std::max(at, looked.for_npu);
  while (at < log.size() &&
         (claims_.by_neighbourhood(source.level, npu, log[at]) || !welcome(npu, log[at]))) {
    ++at;
  }
  const bool vain = at == log.size();
  nothing_new_[slot_[link]] |= vain ? source.bit : 0;
  return !vain;
}

void Offers::add_all(std::uint32_t npu, const Source& source, std::span<Word> words) const {
  const Word* const has = stock_.row(source.npu).data();
  const Word* const not_for = only_new(source)
                                  ? claims_.row_of_neighbourhood(source.level, npu).data()
                                  : claims_.row_of_npu(npu).data();
  for (std::size_t word = 0; word < words.size(); ++word) {
    words[word] |= has[word] & ~not_for[word];
  }
  if (task_.everyone) {
    return;
  }
  for (std::size_t word = 0; word < words.size(); ++word) {
    for (Word bits = words[word]; bits != 0; bits &= bits - 1) {
      const auto chunk = static_cast<std::uint32_t>(
          word * BitMatrix::kWordBits + static_cast<std::size_t>(std::countr_zero(bits)));
      words[word] &= welcome(npu, chunk) ? ~Word{0} : ~(bits & (~bits + 1));
    }
  }
}

/// Whether the neighbourhood owes the NPU more than its faster links bring in 1.5 transfers.
bool Offers::backlogged(std::uint32_t npu, const Source& source) {
  constexpr Int128 kScale = 1024;
  Brought& brought = brought_[source.level * num_npus_ + npu];
  if (brought.slowest != source.slowest) {
    Int128 scaled = 0;
    for (const std::uint32_t link : network_.in_links(npu)) {
      if (levels_.level(link) < source.level) {
        scaled += source.slowest * kScale / network_.links()[link].pace;
      }
    }
    constexpr Int128 kMost = std::numeric_limits<std::uint32_t>::max();
    brought = {.slowest = source.slowest,
               .chunks = static_cast<std::uint32_t>(std::min(3 * scaled / (2 * kScale), kMost))};
  }
  return claims_.owed(source.level, npu) > brought.chunks;
}

}  // namespace tacos::matching
