// SPDX-License-Identifier: MIT
// O(log courses) for each transfer.
#include "view/recorder.h"

namespace tacos::viewing {
namespace {

std::uint64_t number(Ticks time) {
  return static_cast<std::uint64_t>(time.ps);
}

}  // namespace

std::uint64_t Recorder::course_of(const Transfer& transfer) {
  const Bytes bytes = bundle_.collective.chunks().bytes(transfer.chunks);
  const auto [found, is_new] = courses_.try_emplace(
      Course{{transfer.links.begin(), transfer.links.end()}, bytes.count}, courses_.size());
  if (is_new) {
    bytes_.push_back(static_cast<std::uint64_t>(bytes.count));
    arrival_.push_back(number(route_time(network_, transfer.links, bytes)));
    num_links_.push_back(transfer.links.size());
    Ticks head;
    for (const LinkId id : transfer.links) {
      const Link& link = network_.link(id);
      links_.push_back(id.value());
      offset_.push_back(number(head));
      busy_.push_back(number(link_cost(link, bytes, bundle_.link_model).busy));
      head += link.latency;
    }
  }
  return found->second;
}

void Recorder::add(const Transfer& transfer) {
  start_.push_back(number(transfer.start));
  course_.push_back(course_of(transfer));
  reduces_.push_back(transfer.op == Op::kReduce ? 1 : 0);
  num_chunks_.push_back(transfer.chunks.size());
  for (const ChunkId chunk : transfer.chunks) {
    chunks_.push_back(chunk.value());
  }
}

void Recorder::write(Json& json) const {
  json["transfers"] = {{"start", column(start_)},
                       {"course", column(course_)},
                       {"reduces", column(reduces_)},
                       {"num_chunks", column(num_chunks_)},
                       {"chunks", column(chunks_)}};
  json["courses"] = {{"bytes", column(bytes_)},
                     {"arrival", column(arrival_)},
                     {"num_links", column(num_links_)},
                     {"links", column(links_)},
                     {"offset", column(offset_)},
                     {"busy", column(busy_)}};
}

}  // namespace tacos::viewing
