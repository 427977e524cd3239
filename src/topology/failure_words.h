// SPDX-License-Identifier: MIT
// How failures are named in what --fail and --restore say.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tacos/ids.h"
#include "tacos/result.h"

namespace tacos {

/// The ends of links as written: `3-4` or `3>4`.
struct LinkEnds {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  bool both = false;

  /// Whether a link from `src` to `dst` is meant.
  [[nodiscard]] bool name(NodeId src, NodeId dst) const {
    return (src.value() == a && dst.value() == b) || (both && src.value() == b && dst.value() == a);
  }
};

/// `link:3-4`, taken apart: link, npu or slow, and what has failed.
struct FailureSpec {
  std::string_view kind;
  std::string_view what;
};
[[nodiscard]] Result<FailureSpec> split_failure(std::string_view spec);

[[nodiscard]] std::optional<std::uint32_t> parse_node_number(std::string_view text);
[[nodiscard]] std::optional<LinkEnds> parse_link_ends(std::string_view text);

}  // namespace tacos
