// SPDX-License-Identifier: MIT
#include "collective/resize.h"

#include <optional>

namespace tacos {

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

}  // namespace tacos
