// SPDX-License-Identifier: MIT
// Files of other programs. What is read is a network, which our own file can say as well.
#include "tacos/import.h"

#include "fuzz/round_trip.h"
#include "fuzz/target.h"

namespace {

/// Whether a number in the text is larger than that of any network worth a second.
bool says_large_number(std::string_view text, std::uint64_t most) {
  for (std::size_t at = text.find_first_of("123456789"); at != std::string_view::npos;
       at = text.find_first_of("123456789", at)) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    std::uint64_t number = 0;
    const auto read = std::from_chars(text.data() + at, text.data() + end, number);
    if (read.ec != std::errc() || number > most) {
      return true;
    }
    at = end;
  }
  return false;
}

/// Whether the NPUs of dimensions, each a number behind "npus", are so many that all of them,
/// joined to each other, take seconds with sanitizers.
bool says_large_product(std::string_view text, std::uint64_t most) {
  std::uint64_t product = 1;
  for (std::size_t at = text.find("npus"); at != std::string_view::npos;
       at = text.find("npus", at)) {
    at = std::min(text.find(':', at), text.size());
    const std::size_t end =
        std::min(text.find_first_not_of(" \t\r\n\"[]{}:,-+0123456789", at), text.size());
    while ((at = text.find_first_of("0123456789", at)) < end) {
      std::uint64_t number = 0;
      const auto read = std::from_chars(text.data() + at, text.data() + end, number);
      if (read.ec != std::errc() || number > most ||
          (product *= std::max<std::uint64_t>(1, number)) > most) {
        return true;
      }
      at = static_cast<std::size_t>(read.ptr - text.data());
    }
    at = end;
  }
  return false;
}

/// With numbers of nodes and links, in lists of links.
std::string_view first_line(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n\v\f"), text.size()));
  return text.substr(0, text.find('\n'));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = tacos::fuzz::text_of(data, size);
  constexpr std::uint64_t kMostNodes = 5'000;
  constexpr std::uint64_t kMostInDimension = 2'000;
  constexpr std::uint64_t kMostInProduct = 300;
  const bool product = text.find("npus") != std::string_view::npos;
  if (tacos::fuzz::says_large_network(text) || says_large_number(first_line(text), kMostNodes) ||
      (product && says_large_number(text, kMostInDimension)) ||
      says_large_product(text, kMostInProduct)) {
    return -1;
  }
  const tacos::Result<tacos::ImportedTopology> made = tacos::import_topology(text, "fuzz");
  if (made) {
    tacos::fuzz::require_round_trip(made->topology);
  } else {
    tacos::fuzz::require_input_error(made.error());
  }
  return 0;
}
