// SPDX-License-Identifier: MIT
// "Did you mean": the nearest of the names that would have been right.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tacos {

/// The candidate within edit distance 3 (and less than half the word) of `name`, or nothing.
[[nodiscard]] std::string_view nearest_name(std::string_view name,
                                            std::span<const std::string_view> candidates);

/// "unknown KIND 'NAME'; did you mean 'X'?", or else the list of what is known.
[[nodiscard]] std::string unknown_name(std::string_view kind,
                                       std::string_view name,
                                       std::span<const std::string_view> candidates);
/// The same where not every candidate may have been meant.
[[nodiscard]] std::string unknown_name(std::string_view kind,
                                       std::string_view name,
                                       std::span<const std::string_view> candidates,
                                       std::span<const std::string_view> plausible);

}  // namespace tacos
