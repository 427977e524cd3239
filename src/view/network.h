// SPDX-License-Identifier: MIT
// The network as a page draws it: where nodes are, how links run and what they carried.
#pragma once

#include "tacos/bundle.h"

#include "view/column.h"
#include "view/traffic.h"

namespace tacos::viewing {

/// Places are whole numbers of 1/256 of a unit of the layout, from its upper left corner.
inline constexpr double kPlaces = 256;

[[nodiscard]] Json network_json(const Bundle& bundle, const Traffic& traffic);

/// Who has each chunk that can be followed when it all begins, and how long it is.
[[nodiscard]] Json chunks_json(const Bundle& bundle, const Traffic& traffic);

}  // namespace tacos::viewing
