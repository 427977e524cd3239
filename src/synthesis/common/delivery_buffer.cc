// SPDX-License-Identifier: MIT
#include "synthesis/common/delivery_buffer.h"

#include "synthesis/common/settling.h"

namespace tacos {

ArrivalClock::ArrivalClock(const Topology& topology, const ChunkTable& chunks, LinkModel model)
    : chunks_(chunks), settling_(settling_time(topology, model)) {
  arrival_.reserve(2 * std::size_t{topology.num_links()});
  const Bytes large = chunks.max_bytes();
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    const Link& link = topology.link(LinkId(id));
    arrival_.push_back(link_cost(link, large, model).arrival);
    arrival_.push_back(link_cost(link, Bytes{large.count - 1}, model).arrival);
    if (!topology.failed(LinkId(id))) {
      const Ticks planned = arrival_[arrival_.size() - 2];
      max_duration_ = std::max(max_duration_, planned);
      max_saving_ = std::max(max_saving_, planned - arrival_.back());
    }
  }
  if (large.count * chunks.count() == chunks.size().count) {
    max_saving_ = {};
  }
}

void DeliveryBuffer::flush_before(Ticks time) {
  const auto later =
      std::partition(pending_.begin(), pending_.end(), [time](const Delivery& delivery) {
        return delivery.start < time;
      });
  std::sort(pending_.begin(), later);
  for (auto delivery = pending_.begin(); delivery != later; ++delivery) {
    append(*delivery);
  }
  pending_.erase(pending_.begin(), later);
}

}  // namespace tacos
