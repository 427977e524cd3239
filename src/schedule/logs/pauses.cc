// SPDX-License-Identifier: MIT
#include "schedule/logs/pauses.h"

namespace tacos {
namespace {

constexpr unsigned kGroupBits = 7;
constexpr std::uint64_t kMore = std::uint64_t{1} << kGroupBits;

void put_number(std::uint64_t number, std::vector<std::byte>& packed) {
  for (; number >= kMore; number >>= kGroupBits) {
    packed.push_back(static_cast<std::byte>(number % kMore | kMore));
  }
  packed.push_back(static_cast<std::byte>(number));
}

std::uint64_t get_number(const std::byte*& at) {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += kGroupBits) {
    const auto group = std::to_integer<std::uint64_t>(*at++);
    number |= group % kMore << shift;
    if (group < kMore) {
      return number;
    }
  }
}

}  // namespace

std::vector<std::byte> pack_pauses(std::span<const Pause> pauses) {
  std::vector<std::byte> packed;
  std::uint32_t before = 0;
  for (const Pause& pause : pauses) {
    const bool within = pause.after != 0;
    put_number(std::uint64_t{pause.position - before} * 2 + (within ? 1 : 0), packed);
    if (within) {
      put_number(pause.after, packed);
    }
    put_number(pause.length, packed);
    before = pause.position;
  }
  packed.shrink_to_fit();
  return packed;
}

void unpack_pauses(std::span<const std::byte> packed,
                   std::uint32_t first,
                   std::vector<Pause>& pauses) {
  const std::byte* at = packed.data();
  const std::byte* const end = at + packed.size();
  std::uint32_t position = first;
  while (at != end) {
    const std::uint64_t head = get_number(at);
    position += static_cast<std::uint32_t>(head / 2);
    Pause pause{.position = position};
    if (head % 2 != 0) {
      pause.after = static_cast<std::uint32_t>(get_number(at));
    }
    pause.length = get_number(at);
    pauses.push_back(pause);
  }
}

}  // namespace tacos
