// SPDX-License-Identifier: MIT
#include "topology/failure_words.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text/suggest.h"

namespace tacos {

Result<FailureSpec> split_failure(std::string_view spec) {
  constexpr std::array<std::string_view, 3> kKinds{"link", "npu", "slow"};
  const std::size_t colon = spec.find(':');
  const std::string_view kind = spec.substr(0, colon);
  if (std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end()) {
    return input_error(unknown_name("failure", kind, kKinds));
  }
  return FailureSpec{
      .kind = kind,
      .what = colon == std::string_view::npos ? std::string_view() : spec.substr(colon + 1)};
}

std::optional<std::uint32_t> parse_node_number(std::string_view text) {
  std::uint32_t id = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), id);
  return failure == std::errc() && end == text.data() + text.size() ? std::optional(id)
                                                                    : std::nullopt;
}

std::optional<LinkEnds> parse_link_ends(std::string_view text) {
  const std::size_t separator = text.find_first_of("->");
  if (separator == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<std::uint32_t> a = parse_node_number(text.substr(0, separator));
  const std::optional<std::uint32_t> b = parse_node_number(text.substr(separator + 1));
  if (!a || !b) {
    return std::nullopt;
  }
  return LinkEnds{.a = a.value(), .b = b.value(), .both = text[separator] == '-'};
}

}  // namespace tacos
