// SPDX-License-Identifier: MIT
#include "schedule/step_log.h"

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

void unpack(std::span<const std::byte> data, std::uint32_t bits, std::span<std::uint32_t> counts) {
  const std::size_t in_word = kWordBits / bits;
  const Word mask = ~Word{0} >> (kWordBits - bits);
  const std::byte* from = data.data();
  for (std::size_t first = 0; first < counts.size(); first += in_word) {
    Word word = 0;
    std::memcpy(&word, from, sizeof word);
    from += sizeof word;
    const std::size_t end = std::min(counts.size(), first + in_word);
    for (std::size_t i = first; i < end; ++i) {
      counts[i] = word & mask;
      word = (word >> (bits - 1)) >> 1U;
    }
  }
}

void unpack_active(std::span<const std::byte> data, std::span<std::uint32_t> counts) {
  std::fill(counts.begin(), counts.end(), 0U);
  for (std::size_t at = 0; at < data.size(); at += sizeof(ActiveLink)) {
    ActiveLink link;
    std::memcpy(&link, data.data() + at, sizeof link);
    counts[link.position] = link.count;
  }
}

}  // namespace

StepLog::StepLog(InLinks in_links, std::uint32_t num_chunks)
    : in_links_(std::move(in_links)),
      num_chunks_(num_chunks),
      narrow_(narrow(num_chunks) ? std::size_t{in_links_.num_npus()} * num_chunks : 0),
      wide_(narrow(num_chunks) ? 0 : std::size_t{in_links_.num_npus()} * num_chunks),
      begun_with_(in_links_.num_npus(), 0) {}

void StepLog::add_window(std::uint32_t steps, std::span<const std::uint32_t> counts) {
  TACOS_ASSERT(counts.size() == in_links_.links.size(), "one number for each in-link");
  Window window{.first_step = num_steps_, .steps = steps, .data = {}};
  std::size_t active = 0;
  std::uint32_t most = 0;
  for (const std::uint32_t count : counts) {
    active += count != 0 ? 1 : 0;
    window.deliveries += count;
    most = std::max(most, count);
  }
  window.busy_steps = most;
  window.bits = std::bit_ceil(static_cast<std::uint32_t>(std::bit_width(std::max(1U, most))));
  if (active * sizeof(ActiveLink) * 8 < counts.size() * window.bits) {
    window.bits = 0;
    window.data.reserve(active * sizeof(ActiveLink));
    pack_active(counts, window.data);
  } else {
    pack(counts, window.bits, window.data);
  }
  num_steps_ += steps;
  num_deliveries_ += window.deliveries;
  windows_.push_back(std::move(window));
}

void StepLog::read_counts(const Window& window, std::span<std::uint32_t> counts) const {
  TACOS_ASSERT(counts.size() == in_links_.links.size(), "one number for each in-link");
  if (window.bits == 0) {
    unpack_active(window.data, counts);
  } else {
    unpack(window.data, window.bits, counts);
  }
}

std::size_t StepLog::memory_bytes() const {
  std::size_t bytes = narrow_.size() * sizeof(std::uint16_t) + wide_.size() * sizeof(std::uint32_t);
  for (const Window& window : windows_) {
    bytes += window.data.capacity() + sizeof window;
  }
  return bytes;
}

}  // namespace tacos
