// SPDX-License-Identifier: MIT
// Memory that is taken before it is written: pages that the system has to find and clear first cost
// more than what is done with them, most of all in a virtual machine that has to ask for them.
#pragma once

#include <cstddef>

namespace tacos {

/// Takes the pages that lie wholly inside, and changes nothing in them; others may write there at
/// the same time. Does nothing where the system cannot do it.
void populate(void* memory, std::size_t bytes) noexcept;

}  // namespace tacos
