// SPDX-License-Identifier: MIT
#include "cli/sizes.h"

#include <optional>

#include <fmt/format.h>

#include "base/text/quantity.h"

namespace tacos::cli {

Result<std::vector<Bytes>> parse_sizes(const std::string& text) {
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
  std::vector<Bytes> sizes;
  for (Bytes size = *first; size <= *last; size.count *= 4) {
    sizes.push_back(size);
    if (size.count > kMaxSizeBytes / 4) {
      break;
    }
  }
  return sizes;
}

Result<Collective> resized(const Collective& collective, Bytes size, const std::string& option) {
  if (collective.kind() == CollectiveKind::kCustom) {
    return input_error("has chunks of its own sizes; leave out " + option,
                       std::string(collective.name()));
  }
  const auto participants = collective.participants();
  return Collective::make(
      collective.kind(),
      size,
      collective.chunk_argument(),
      {participants.begin(), participants.end()},
      is_rooted(collective.kind()) ? std::optional(collective.root()) : std::nullopt,
      collective.form());
}

}  // namespace tacos::cli
