// SPDX-License-Identifier: MIT
#include "schedule/logs/window_log.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/assert.h"

namespace tacos {
namespace {

struct ActiveLink {
  std::uint32_t position = 0;
  std::uint32_t count = 0;
};

/// `bits` is a power of two, so that no number lies across two words.
using Word = std::uint32_t;
constexpr std::size_t kWordBits = 32;

void pack(std::span<const std::uint32_t> counts, std::uint32_t bits, std::vector<std::byte>& data) {
  const std::size_t in_word = kWordBits / bits;
  data.resize((counts.size() + in_word - 1) / in_word * sizeof(Word));
  std::byte* to = data.data();
  for (std::size_t first = 0; first < counts.size(); first += in_word) {
    Word word = 0;
    const std::size_t end = std::min(counts.size(), first + in_word);
    for (std::size_t i = end; i-- > first;) {
      // In two steps: a shift by all 32 bits is none at all.
      word = (word << (bits - 1)) << 1U | counts[i];
    }
    std::memcpy(to, &word, sizeof word);
    to += sizeof word;
  }
}

void pack_active(std::span<const std::uint32_t> counts, std::vector<std::byte>& data) {
  for (std::uint32_t position = 0; position < counts.size(); ++position) {
    if (counts[position] != 0) {
      const ActiveLink link{.position = position, .count = counts[position]};
      const auto bytes = std::as_bytes(std::span(&link, 1));
      data.insert(data.end(), bytes.begin(), bytes.end());
    }
  }
}

/// The numbers from `first` on.
void unpack(std::span<const std::byte> data,
            std::uint32_t bits,
            std::size_t first,
            std::span<std::uint32_t> counts) {
  const std::size_t in_word = kWordBits / bits;
  const Word mask = ~Word{0} >> (kWordBits - bits);
  std::size_t skip = first % in_word;
  const std::byte* from = data.data() + first / in_word * sizeof(Word);
  for (std::size_t done = 0; done < counts.size(); skip = 0) {
    Word word = 0;
    std::memcpy(&word, from, sizeof word);
    from += sizeof word;
    const std::size_t end = std::min(counts.size(), done + in_word - skip);
    // Less than all bits: something is left of the word.
    word >>= skip * bits;
    for (; done < end; ++done) {
      counts[done] = word & mask;
      word = (word >> (bits - 1)) >> 1U;
    }
  }
}

void unpack_active(std::span<const std::byte> data,
                   std::size_t first,
                   std::span<std::uint32_t> counts) {
  std::fill(counts.begin(), counts.end(), 0U);
  const auto link_at = [&](std::size_t index) {
    ActiveLink link;
    std::memcpy(&link, data.data() + index * sizeof link, sizeof link);
    return link;
  };
  // They are in order of position.
  const std::size_t active = data.size() / sizeof(ActiveLink);
  std::size_t low = 0;
  for (std::size_t high = active; low < high;) {
    const std::size_t middle = (low + high) / 2;
    if (link_at(middle).position < first) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < active && link_at(low).position < first + counts.size(); ++low) {
    counts[link_at(low).position - first] = link_at(low).count;
  }
}

}  // namespace

std::vector<std::uint32_t> in_order_of_id(const InLinks& in_links) {
  constexpr std::uint32_t kFailed = ~std::uint32_t{0};
  std::vector<std::uint32_t> positions(in_links.num_ids, kFailed);
  for (std::uint32_t position = 0; position < in_links.num_links(); ++position) {
    TACOS_ASSERT(in_links.links[position].index() < positions.size(), "every link has an id");
    positions[in_links.links[position].index()] = position;
  }
  std::erase(positions, kFailed);
  return positions;
}

NpuRange share_of(std::uint32_t npus, int member, int size) {
  const auto before = [&](int members) {
    return static_cast<std::uint32_t>(std::uint64_t{npus} * static_cast<std::uint32_t>(members) /
                                      static_cast<std::uint32_t>(size));
  };
  return {.first = before(member), .end = before(member + 1)};
}

WindowLog::WindowLog(InLinks in_links,
                     std::uint32_t num_chunks,
                     Team* team,
                     const std::string& directory)
    : in_links_(std::move(in_links)),
      num_chunks_(num_chunks),
      team_(team),
      label_(team == nullptr ? 0 : team->new_label()),
      npus_(team == nullptr ? share_of(in_links_.num_npus(), 0, 1)
                            : share_of(in_links_.num_npus(), team->member(), team->size())),
      entries_(std::size_t{npus_.size()} * num_chunks *
                   (narrow(num_chunks) ? sizeof(std::uint16_t) : sizeof(std::uint32_t)),
               directory),
      begun_with_(in_links_.num_npus(), 0) {}

WindowLog::Totals& WindowLog::Totals::operator+=(const Totals& other) {
  last = std::max(last, other.last);
  deliveries += other.deliveries;
  return *this;
}

void WindowLog::add_window(LogTime begin,
                           std::span<const std::uint32_t> counts,
                           std::span<const Pause> pauses,
                           const Totals& totals) {
  TACOS_ASSERT(counts.size() == num_links(npus_), "one number for each in-link");
  Window window{
      .begin = begin, .totals = totals, .counts = Counts(counts), .pauses = pack_pauses(pauses)};
  num_deliveries_ += totals.deliveries;
  windows_.push_back(std::move(window));
}

WindowLog::Counts::Counts(std::span<const std::uint32_t> counts) {
  std::uint32_t active = 0;
  std::uint32_t all = 1;
  for (const std::uint32_t count : counts) {
    active += std::min(count, 1U);
    all |= count;
  }
  bits = std::bit_ceil(static_cast<std::uint32_t>(std::bit_width(all)));
  if (active * sizeof(ActiveLink) * 8 < counts.size() * bits) {
    bits = 0;
    data.reserve(active * sizeof(ActiveLink));
    pack_active(counts, data);
  } else {
    pack(counts, bits, data);
  }
}

void WindowLog::Counts::read(std::uint32_t first, std::span<std::uint32_t> counts) const {
  if (bits == 0) {
    unpack_active(data, first, counts);
  } else {
    unpack(data, bits, first, counts);
  }
}

std::size_t WindowLog::memory_bytes() const {
  std::size_t bytes = entries_.memory_bytes();
  for (const Window& window : windows_) {
    bytes += window.counts.data.capacity() + window.pauses.capacity() + sizeof window;
  }
  return bytes;
}

}  // namespace tacos
