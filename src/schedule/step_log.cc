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

template <class Number>
void pack(std::span<const std::uint32_t> counts, std::vector<std::byte>& data) {
  data.resize(counts.size() * sizeof(Number));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto number = static_cast<Number>(counts[i]);
    std::memcpy(data.data() + i * sizeof number, &number, sizeof number);
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

template <class Number>
void unpack(std::span<const std::byte> data, std::span<std::uint32_t> counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Number number{};
    std::memcpy(&number, data.data() + i * sizeof number, sizeof number);
    counts[i] = number;
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
  const auto bits = std::bit_width(most);
  window.width = bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
  if (active * sizeof(ActiveLink) < counts.size() * window.width) {
    window.width = 0;
    window.data.reserve(active * sizeof(ActiveLink));
    pack_active(counts, window.data);
  } else if (window.width == 1) {
    pack<std::uint8_t>(counts, window.data);
  } else if (window.width == 2) {
    pack<std::uint16_t>(counts, window.data);
  } else {
    pack<std::uint32_t>(counts, window.data);
  }
  num_steps_ += steps;
  num_deliveries_ += window.deliveries;
  windows_.push_back(std::move(window));
}

void StepLog::read_counts(const Window& window, std::span<std::uint32_t> counts) const {
  TACOS_ASSERT(counts.size() == in_links_.links.size(), "one number for each in-link");
  if (window.width == 0) {
    unpack_active(window.data, counts);
  } else if (window.width == 1) {
    unpack<std::uint8_t>(window.data, counts);
  } else if (window.width == 2) {
    unpack<std::uint16_t>(window.data, counts);
  } else {
    unpack<std::uint32_t>(window.data, counts);
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
