// SPDX-License-Identifier: MIT
// 128-bit integers, for products of two 64-bit ones.
#pragma once

namespace tacos {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

}  // namespace tacos
