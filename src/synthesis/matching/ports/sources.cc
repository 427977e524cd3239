// SPDX-License-Identifier: MIT
#include "synthesis/matching/ports/sources.h"

#include <algorithm>
#include <bit>

#include "base/numbers/rng.h"

namespace tacos::matching {

Sources::Sources(const PortNetwork& network,
                 const SpeedLevels& levels,
                 std::uint32_t num_npus,
                 std::uint64_t seed)
    : network_(network),
      levels_(levels),
      num_npus_(num_npus),
      seed_(seed),
      bit_(network.links().size(), 0),
      seen_(network.num_nodes(), 0) {
  for (std::uint32_t node = 0; node < network.num_nodes(); ++node) {
    const auto into = network.in_links(node);
    first_word_.push_back(idle_.size());
    idle_.resize(idle_.size() + (into.size() + BitMatrix::kWordBits - 1) / BitMatrix::kWordBits);
    for (std::uint32_t i = 0; i < into.size(); ++i) {
      bit_[into[i]] = first_word_[node] * BitMatrix::kWordBits + i;
      if (network.links()[into[i]].src < num_npus) {
        set_idle(into[i], true);
      } else {
        from_switches_.push_back(i);
      }
    }
    from_switches_.end_row();
  }
  behind_.resize(network.links().size());
  for (std::uint32_t npu = 0; npu < num_npus; ++npu) {
    for (const std::uint32_t link : network.in_links(npu)) {
      see_behind(link);
    }
  }
}

void Sources::see_behind(std::uint32_t link) {
  const std::uint32_t src = network_.links()[link].src;
  const std::uint32_t dst = network_.links()[link].dst;
  const auto into = network_.in_links(src);
  const auto in_links = network_.in_links(dst);
  const auto parallel = std::count_if(in_links.begin(), in_links.end(), [&](std::uint32_t other) {
    return network_.links()[other].src == src;
  });
  if (src < num_npus_ || !network_.is_even(src) || into.size() > BitMatrix::kWordBits ||
      parallel > 1) {
    return;
  }
  Word others = 0;
  ++mark_;
  seen_[dst] = mark_;
  for (std::uint32_t i = 0; i < into.size(); ++i) {
    const std::uint32_t npu = network_.links()[into[i]].src;
    if (seen_[npu] != mark_) {
      others |= Word{1} << i;
      seen_[npu] = mark_;
    } else if (npu != dst) {
      return;  // Twice on the switch: which of its links is idle has to be looked at.
    }
  }
  Behind& behind = behind_[link];
  behind = {.word = first_word_[src], .others = others};
  for (Word bits = others; bits != 0; bits &= bits - 1) {
    const Source source = source_behind(link, bits);
    behind.any = bits == others ? source : behind.any;
    behind.alike =
        behind.alike && source.level == behind.any.level && source.slowest == behind.any.slowest;
  }
}

/// The source at the lowest of the bits.
Source Sources::source_behind(std::uint32_t link, Word bits) const {
  const PortLink& port = network_.links()[link];
  const std::uint32_t first =
      network_.in_links(port.src)[static_cast<std::size_t>(std::countr_zero(bits))];
  const PortLink& up = network_.links()[first];
  return {.npu = up.src,
          .level = std::max(levels_.level(first), levels_.level(link)),
          .first_link = static_cast<std::uint32_t>(links_.size()),
          .num_links = 2,
          .slowest = std::max(up.pace, port.pace),
          .bit = bits & (~bits + 1)};
}

void Sources::set_idle(std::uint32_t link, bool idle) {
  const Word bit = Word{1} << bit_[link] % BitMatrix::kWordBits;
  Word& word = idle_[bit_[link] / BitMatrix::kWordBits];
  word = idle ? word | bit : word & ~bit;
}

void Sources::clear() {
  list_.clear();
  links_.clear();
}

void Sources::find(std::uint32_t npu,
                   std::uint32_t link,
                   std::int64_t now,
                   std::span<const std::int64_t> free,
                   Word skipped) {
  const PortLink& port = network_.links()[link];
  if (port.src < num_npus_) {
    add(port.src, std::span(&link, 1), now, free);
    return;
  }
  // Equal ways take turns.
  const auto turn =
      static_cast<std::uint32_t>(mix64(seed_ + npu, static_cast<std::uint64_t>(now)) >> 33U);
  if (is_simple(link)) {
    find_behind(link, turn, skipped);
    return;
  }
  search_.assign(1, {link, kNone});
  ++mark_;
  seen_[npu] = mark_;
  seen_[port.src] = mark_;
  for (std::uint32_t at = 0; at < search_.size(); ++at) {
    const std::uint32_t node = network_.links()[search_[at].link].src;
    const auto into = network_.in_links(node);
    if (into.empty()) {
      // A switch that nobody sends to.
      continue;
    }
    const auto first = turn % static_cast<std::uint32_t>(into.size());
    add_npus(at, first, now, free);
    const auto switches = from_switches_[node];
    const std::size_t next_switch = static_cast<std::size_t>(
        std::lower_bound(switches.begin(), switches.end(), first) - switches.begin());
    for (std::size_t i = 0; i < switches.size(); ++i) {
      const std::size_t turned = next_switch + i;
      const std::uint32_t next =
          into[switches[turned < switches.size() ? turned : turned - switches.size()]];
      const std::uint32_t src = network_.links()[next].src;
      if (seen_[src] != mark_ && free[next] <= now + network_.max_route_latency()) {
        seen_[src] = mark_;
        search_.push_back({next, at});
      }
    }
  }
}

void Sources::find_behind(std::uint32_t link, std::uint32_t turn, Word skipped) {
  const auto into = network_.in_links(network_.links()[link].src);
  const Word idle = idle_behind(link) & ~skipped;
  const Word before = (Word{1} << turn % into.size()) - 1;
  for (Word bits : {idle & ~before, idle & before}) {
    for (; bits != 0; bits &= bits - 1) {
      list_.push_back(source_behind(link, bits));
      links_.push_back(into[static_cast<std::size_t>(std::countr_zero(bits))]);
      links_.push_back(link);
    }
  }
}

void Sources::add_npus(std::uint32_t step,
                       std::uint32_t first,
                       std::int64_t now,
                       std::span<const std::int64_t> free) {
  const std::uint32_t node = network_.links()[search_[step].link].src;
  const auto into = network_.in_links(node);
  const Word* const idle = idle_.data() + first_word_[node];
  const auto add_bits = [&](std::size_t word, Word bits) {
    for (; bits != 0; bits &= bits - 1) {
      const std::uint32_t link =
          into[word * BitMatrix::kWordBits + static_cast<std::size_t>(std::countr_zero(bits))];
      const std::uint32_t src = network_.links()[link].src;
      if (seen_[src] == mark_) {
        continue;
      }
      path_.assign(1, link);
      for (std::uint32_t back = step; back != kNone; back = search_[back].parent) {
        path_.push_back(search_[back].link);
      }
      if (add(src, path_, now, free)) {
        seen_[src] = mark_;
      }
    }
  };
  const std::size_t words = (into.size() + BitMatrix::kWordBits - 1) / BitMatrix::kWordBits;
  const std::size_t turn = first / BitMatrix::kWordBits;
  const Word before = (Word{1} << first % BitMatrix::kWordBits) - 1;
  add_bits(turn, idle[turn] & ~before);
  for (std::size_t i = 1; i < words; ++i) {
    const std::size_t word = turn + i < words ? turn + i : turn + i - words;
    add_bits(word, idle[word]);
  }
  add_bits(turn, idle[turn] & before);
}

/// Whether all links of the route are free when the head of a message sent now reaches them.
bool Sources::add(std::uint32_t npu,
                  std::span<const std::uint32_t> route,
                  std::int64_t now,
                  std::span<const std::int64_t> free) {
  Source source{.npu = npu,
                .level = 0,
                .first_link = static_cast<std::uint32_t>(links_.size()),
                .num_links = static_cast<std::uint32_t>(route.size())};
  std::int64_t head = now;
  for (const std::uint32_t link : route) {
    if (free[link] > head) {
      return false;
    }
    head += network_.links()[link].latency;
    source.level = std::max(source.level, levels_.level(link));
    source.slowest = std::max(source.slowest, network_.links()[link].pace);
  }
  links_.insert(links_.end(), route.begin(), route.end());
  list_.push_back(source);
  return true;
}

}  // namespace tacos::matching
