// SPDX-License-Identifier: MIT
#include "cli/terminal/streams.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace tacos::cli {
namespace {

/// The beginning and the end, when it is longer than `most` bytes.
std::string shortened_bytes(std::string_view text, std::size_t most) {
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

std::string one_line(std::string_view sentence) {
  // Names of files may be long, but nobody reads to the end of these.
  constexpr std::size_t kLongestWord = 200;
  constexpr std::size_t kLongestSentence = 1'000;
  std::string line;
  for (std::size_t at = 0; at < sentence.size();) {
    const std::size_t end = std::min(sentence.find(' ', at), sentence.size());
    line += shortened_bytes(sentence.substr(at, end - at), kLongestWord);
    line += sentence.substr(end, 1);
    at = end + 1;
  }
  return printable(shortened_bytes(line, kLongestSentence));
}

void complain(std::string_view sentence) {
  emit(stderr, "tacos: {}\n", one_line(sentence));
}

}  // namespace tacos::cli
