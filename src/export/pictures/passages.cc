// SPDX-License-Identifier: MIT
#include "export/pictures/passages.h"

namespace tacos::exporting {

Result<std::vector<LinkUse>> uses_of(const Bundle& bundle) {
  std::vector<LinkUse> uses(bundle.topology.num_links());
  const Status read = each_transfer(bundle, [&](const Transfer& transfer, Ticks /*end*/) {
    const Bytes bytes = bundle.collective.chunks().bytes(transfer.chunks);
    each_passage(bundle, transfer, [&](const Passage& passage) {
      LinkUse& use = uses[passage.link.index()];
      ++use.transfers;
      use.bytes += static_cast<std::uint64_t>(bytes.count);
      use.busy += passage.busy;
    });
  });
  return read ? Result(std::move(uses)) : read.error();
}

double utilization(const Bundle& bundle, const LinkUse& use) {
  const auto all = static_cast<double>(bundle.schedule.collective_time().ps);
  return all > 0 ? static_cast<double>(use.busy.ps) / all : 0;
}

}  // namespace tacos::exporting
