// SPDX-License-Identifier: MIT
// Lists of NPUs as people write them: 0-3,8,9.
#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "tacos/collective.h"

namespace tacos {
namespace {

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                    : std::nullopt;
}

/// Appends `8` or `0-3`.
Status append_range(std::string_view text, std::uint32_t num_npus, std::vector<NodeId>& npus) {
  const std::size_t dash = text.find('-');
  const std::optional<std::uint64_t> first = parse_number(text.substr(0, dash));
  const std::optional<std::uint64_t> last =
      dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1));
  if (!first || !last) {
    return input_error(
        fmt::format("'{}' is neither an NPU nor a range; write for example 0-3,8,9", text));
  }
  if (*last < *first) {
    return input_error(fmt::format("range {} is backwards; write {}-{}", text, *last, *first));
  }
  if (*last >= num_npus) {
    return input_error(fmt::format("NPU {} does not exist; NPUs are 0 to {}", *last, num_npus - 1));
  }
  for (std::uint64_t npu = *first; npu <= *last; ++npu) {
    npus.emplace_back(static_cast<std::uint32_t>(npu));
  }
  return ok();
}

}  // namespace

Result<std::vector<NodeId>> parse_group(std::string_view text, std::uint32_t num_npus) {
  const std::string where = fmt::format("--group {}", text);
  if (text.empty()) {
    return input_error("the group is empty; write for example 0-3,8,9", "--group");
  }
  std::vector<NodeId> npus;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    if (Status appended = append_range(text.substr(at, comma - at), num_npus, npus); !appended) {
      return input_error(appended.error().message, where);
    }
    if (npus.size() > num_npus) {
      break;
    }
    at = comma + 1;
  }
  std::sort(npus.begin(), npus.end());
  const auto twice = std::adjacent_find(npus.begin(), npus.end());
  if (twice != npus.end()) {
    return input_error(fmt::format("NPU {} is listed twice", twice->value()), where);
  }
  return npus;
}

}  // namespace tacos
