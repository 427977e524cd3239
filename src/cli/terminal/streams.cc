// SPDX-License-Identifier: MIT
#include "cli/terminal/streams.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace tacos::cli {
namespace {

/// How many bytes the character at the front takes; 0 when it is not UTF-8, or a control character.
std::size_t character_length(std::string_view text) {
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0x20, 0xa0, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc0 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                                           : 4;
  if (length == 0 || length > text.size() || lead == 0x7f) {
    return 0;
  }
  std::uint32_t code = length == 1 ? lead : lead & (0x7fU >> length);
  for (const char next : text.substr(1, length - 1)) {
    const auto byte = static_cast<unsigned char>(next);
    if ((byte & 0xc0U) != 0x80U) {
      return 0;
    }
    code = code << 6U | (byte & 0x3fU);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < kLeast.at(length) || surrogate || code > 0x10ffff ? 0 : length;
}

/// The beginning and the end, when it is longer than `most`.
std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) {
    return std::string(text);
  }
  const std::size_t end = most / 3;
  return fmt::format("{}...{}", text.substr(0, most - end), text.substr(text.size() - end));
}

}  // namespace

void claim_standard_streams() {
  constexpr std::array<int, 3> kWrongWay{O_WRONLY, O_RDONLY, O_RDWR};
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0) {
      // The lowest that is free: this one.
      (void)::open("/dev/null", kWrongWay.at(static_cast<std::size_t>(descriptor)));
    }
  }
}

bool flush_output() {
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) {
    return true;
  }
  complain(fmt::format("standard output: cannot be written{}{}",
                       flushed ? " to its end" : ": ",
                       flushed ? "" : std::strerror(errno)));
  return false;
}

std::string printable(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length > 0) {
      line += text.substr(0, length);
    } else if (text[0] == '\n') {
      line += "\\n";
    } else {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return line;
}

std::string one_line(std::string_view sentence) {
  // Names of files may be long, but nobody reads to the end of these.
  constexpr std::size_t kLongestWord = 200;
  constexpr std::size_t kLongestSentence = 1'000;
  std::string line;
  for (std::size_t at = 0; at < sentence.size();) {
    const std::size_t end = std::min(sentence.find(' ', at), sentence.size());
    line += shortened(sentence.substr(at, end - at), kLongestWord);
    line += sentence.substr(end, 1);
    at = end + 1;
  }
  return printable(shortened(line, kLongestSentence));
}

void complain(std::string_view sentence) {
  emit(stderr, "tacos: {}\n", one_line(sentence));
}

}  // namespace tacos::cli
