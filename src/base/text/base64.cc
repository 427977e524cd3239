// SPDX-License-Identifier: MIT
// RFC 4648, section 4: three bytes become four letters.
#include "base/text/base64.h"

#include <cstdint>
#include <string_view>

namespace tacos {

std::string to_base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::uint32_t kSixBits = 63;
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  const auto byte = [&](std::size_t at) {
    return at < bytes.size() ? std::to_integer<std::uint32_t>(bytes[at]) : 0U;
  };
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::uint32_t three = byte(at) << 16U | byte(at + 1) << 8U | byte(at + 2);
    text += kLetters[three >> 18U & kSixBits];
    text += kLetters[three >> 12U & kSixBits];
    text += at + 1 < bytes.size() ? kLetters[three >> 6U & kSixBits] : '=';
    text += at + 2 < bytes.size() ? kLetters[three & kSixBits] : '=';
  }
  return text;
}

}  // namespace tacos
