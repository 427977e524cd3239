// SPDX-License-Identifier: MIT
// What a page holds of a schedule's transfers: all of them, or sums with the transfers of some
// chunks, or what the chunks of one NPU do near it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tacos/bundle.h"
#include "tacos/result.h"
#include "tacos/view.h"

#include "export/pictures/passages.h"
#include "view/column.h"
#include "view/piece.h"

namespace tacos::viewing {

enum class Detail {
  kWhole,    ///< every transfer
  kSums,     ///< how busy each link is, window by window, and all transfers of some chunks
  kPattern,  ///< the chunks of NPU 0 on the links around it; how busy the links of all are
};
[[nodiscard]] std::string_view to_string(Detail detail);

struct Traffic {
  Detail detail = Detail::kWhole;
  /// Nothing: the whole network is shown.
  std::optional<Piece> piece;
  /// Columns "transfers", "courses", "strip", and "cells" of sums.
  Json columns;
  /// By link of what is shown.
  std::vector<exporting::LinkUse> uses;
  /// Mean over the links that work, of the whole network.
  double utilization = 0;
  /// Chunks whose transfers are there; nothing when all are.
  std::optional<std::vector<ChunkId>> held;
};

/// One pass over the transfers, or of a large pattern over its entries.
[[nodiscard]] Result<Traffic> traffic_of(const Bundle& bundle,
                                         const ViewOptions& options,
                                         const std::function<void(double)>& progress);

}  // namespace tacos::viewing
