// SPDX-License-Identifier: MIT
#include "base/text/suggest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tacos {
namespace {

/// Levenshtein distance, one row at a time: O(|a| |b|).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  constexpr std::size_t kLongestName = 64;
  if (name.size() > kLongestName) {
    return {};
  }
  std::string_view best;
  std::size_t best_distance = 4;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance && 2 * distance < std::max(name.size(), candidate.size()) + 1) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string unknown_name(std::string_view kind,
                         std::string_view name,
                         std::span<const std::string_view> candidates) {
  return unknown_name(kind, name, candidates, candidates);
}

std::string unknown_name(std::string_view kind,
                         std::string_view name,
                         std::span<const std::string_view> candidates,
                         std::span<const std::string_view> plausible) {
  std::string text = "unknown ";
  text.append(kind).append(" '").append(name).append("'; ");
  const std::string_view nearest = nearest_name(name, plausible);
  if (!nearest.empty()) {
    return text.append("did you mean '").append(nearest).append("'?");
  }
  text += "known are ";
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    text.append(i == 0 ? "" : ", ").append(candidates[i]);
  }
  return text;
}

}  // namespace tacos
