// SPDX-License-Identifier: MIT
#include "cli/sizes.h"

#include <fmt/format.h>

#include "tacos/collective.h"

#include "base/text/quantity.h"

namespace tacos::cli {

Result<SizeRange> parse_size_range(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) {
    return input_error(fmt::format("'{}' is no range of sizes; write for example 1KiB..1GiB", text),
                       "--sizes");
  }
  const Result<Bytes> first = parse_size(text.substr(0, dots));
  const Result<Bytes> last = parse_size(text.substr(dots + 2));
  if (!first || !last) {
    return first ? last.error() : first.error();
  }
  if (*first > *last) {
    return input_error(fmt::format("{} is more than {}", format_size(*first), format_size(*last)),
                       "--sizes");
  }
  return SizeRange{.first = *first, .last = *last};
}

Result<std::vector<Bytes>> parse_sizes(const std::string& text) {
  const Result<SizeRange> range = parse_size_range(text);
  if (!range) {
    return range.error();
  }
  std::vector<Bytes> sizes;
  for (Bytes size = range->first; size <= range->last; size.count *= 4) {
    sizes.push_back(size);
    if (size.count > kMaxSizeBytes / 4) {
      break;
    }
  }
  return sizes;
}

}  // namespace tacos::cli
