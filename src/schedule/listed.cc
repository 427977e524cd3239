// SPDX-License-Identifier: MIT
#include "schedule/listed.h"

#include <limits>
#include <memory>

#include <fmt/format.h>

#include "base/memory/room.h"
#include "base/numbers/hash.h"
#include "base/text/quantity.h"
#include "schedule/blocks/block_reader.h"
#include "schedule/builder.h"
#include "schedule/source.h"

namespace tacos {

Result<Schedule> listed(const Schedule& schedule, std::uint32_t num_links) {
  // Measured: 4 to 6 with routes of two links.
  constexpr std::uint64_t kBytesPerTransfer = 8;
  const std::uint64_t needed = schedule.num_transfers() * kBytesPerTransfer;
  const std::uint64_t free = available_memory().value_or(std::numeric_limits<std::uint64_t>::max());
  if (needed > free) {
    return input_error(
        fmt::format("the schedule needs {}, {} free; use fewer chunks, a smaller "
                    "network or more memory",
                    format_binary(needed),
                    format_binary(free)));
  }
  auto source = std::make_shared<BlockSource>(num_links);
  StreamHash hash;
  BlockReader blocks(schedule, num_links, 1);
  for (;;) {
    if (Status read = blocks.next(); !read) {
      return read.error();
    }
    if (blocks.size() == 0) {
      break;
    }
    hash.add(blocks.bytes());
    source->append({blocks.bytes().begin(), blocks.bytes().end()});
  }
  Schedule::Totals totals = schedule.totals();
  totals.hash = hash.value();
  return make_schedule(std::move(source), totals);
}

}  // namespace tacos
