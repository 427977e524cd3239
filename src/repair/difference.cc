// SPDX-License-Identifier: MIT
#include "repair/difference.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/json_reader.h"

namespace tacos::repairing {
namespace {

constexpr std::string_view kDifferenceFormat = "tacos-difference";
constexpr std::uint64_t kDifferenceVersion = 1;
constexpr std::string_view kInOrder = "in-order";
constexpr std::string_view kListed = "listed";

using Ordered = nlohmann::ordered_json;

bool same(const Transfer& a, const Transfer& b) {
  return std::ranges::equal(a.links, b.links) && std::ranges::equal(a.chunks, b.chunks);
}

template <class Id>
Result<std::vector<Id>> read_ids(const Json& list,
                                 const std::string& where,
                                 const std::string& path,
                                 std::uint64_t count) {
  if (!list.is_array()) {
    return json_error(where, path, "must be a list of numbers");
  }
  std::vector<Id> ids;
  ids.reserve(list.size());
  for (const Json& item : list) {
    const Result<std::uint64_t> id = whole_number(item, where, path, count == 0 ? 0 : count - 1);
    if (!id) {
      return id.error();
    }
    ids.emplace_back(static_cast<std::uint32_t>(*id));
  }
  return ids;
}

/// Whether links follow one another from an NPU to an NPU.
bool is_route(const Topology& topology, std::span<const LinkId> links) {
  for (std::size_t i = 0; i + 1 < links.size(); ++i) {
    if (topology.link(links[i]).dst != topology.link(links[i + 1]).src) {
      return false;
    }
  }
  return !links.empty() && topology.is_npu(topology.link(links.front()).src) &&
         topology.is_npu(topology.link(links.back()).dst);
}

Result<Difference::Added> read_added(const Json& item,
                                     const std::string& where,
                                     const std::string& path,
                                     const Topology& topology,
                                     std::uint64_t num_chunks) {
  if (!item.is_array() || item.size() != 3) {
    return json_error(where, path, "must be a position, links and chunks");
  }
  const Result<std::uint64_t> position =
      whole_number(item[0], where, path, std::numeric_limits<std::uint32_t>::max());
  Result<std::vector<LinkId>> links = read_ids<LinkId>(item[1], where, path, topology.num_links());
  Result<std::vector<ChunkId>> chunks = read_ids<ChunkId>(item[2], where, path, num_chunks);
  if (!position || !links || !chunks) {
    return !position ? position.error() : !links ? links.error() : chunks.error();
  }
  if (!is_route(topology, *links) || chunks->empty()) {
    return json_error(where, path, "must be chunks over the links of a route");
  }
  return Difference::Added{.position = static_cast<std::uint32_t>(*position),
                           .links = *std::move(links),
                           .chunks = *std::move(chunks)};
}

Result<Difference> read_difference(const Json& json,
                                   const std::string& where,
                                   const Topology& topology,
                                   const Copies& before) {
  if (!json.is_object() || !json.contains("dropped") || !json.contains("added") ||
      !json["added"].is_array()) {
    return json_error(where, "", "must be a JSON object with 'dropped' and 'added'");
  }
  ObjectReader reader(json, where, "");
  const std::string format = reader.text("format");
  const std::uint64_t version = reader.word("version");
  const std::string times = reader.text("times");
  Difference difference{.dropped = {},
                        .added = {},
                        .timing = times == kListed ? Timing::kListed : Timing::kInOrder,
                        .schedule_hash = reader.word("schedule_hash"),
                        .kept_transfers = reader.word("kept_transfers"),
                        .new_transfers = reader.word("new_transfers")};
  if (reader.failure()) {
    return *reader.failure();
  }
  if (format != kDifferenceFormat || version != kDifferenceVersion ||
      (times != kListed && times != kInOrder)) {
    return json_error(
        where, "", fmt::format("is no {} of version {}", kDifferenceFormat, kDifferenceVersion));
  }
  Result<std::vector<std::uint32_t>> dropped =
      read_ids<std::uint32_t>(json["dropped"], where, "dropped", before.transfers.size());
  if (!dropped) {
    return dropped.error();
  }
  difference.dropped = *std::move(dropped);
  if (std::adjacent_find(difference.dropped.begin(),
                         difference.dropped.end(),
                         std::greater_equal<>()) != difference.dropped.end()) {
    return json_error(where, "dropped", "must increase");
  }
  const std::uint64_t total =
      before.transfers.size() - difference.dropped.size() + json["added"].size();
  std::uint64_t least = 0;
  for (const Json& item : json["added"]) {
    Result<Difference::Added> added = read_added(item,
                                                 where,
                                                 fmt::format("added[{}]", difference.added.size()),
                                                 topology,
                                                 before.of_chunk.num_owners());
    if (!added) {
      return added.error();
    }
    if (added->position < least || added->position >= total) {
      return json_error(where, "added", "positions must increase and be those of transfers");
    }
    least = added->position + std::uint64_t{1};
    difference.added.push_back(*std::move(added));
  }
  return difference;
}

}  // namespace

Difference difference_of(const Copies& before, const Rerouted& after) {
  Difference difference;
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < after.transfers.size(); ++i) {
    const std::uint32_t from = after.from[i];
    const Transfer transfer = after.transfers[i];
    for (; from != kAddedTransfer && next < from; ++next) {
      difference.dropped.push_back(next);
    }
    if (from != kAddedTransfer && same(transfer, before.transfers[from])) {
      next = from + 1;
      continue;
    }
    difference.added.push_back({.position = i,
                                .links = {transfer.links.begin(), transfer.links.end()},
                                .chunks = {transfer.chunks.begin(), transfer.chunks.end()}});
  }
  for (; next < before.transfers.size(); ++next) {
    difference.dropped.push_back(next);
  }
  return difference;
}

TransferBatch applied(const Copies& before, const Difference& difference) {
  TransferBatch transfers;
  auto dropped = difference.dropped.begin();
  auto added = difference.added.begin();
  const auto add = [&] {
    for (; added != difference.added.end() && added->position == transfers.size(); ++added) {
      transfers.append(
          {.start = {}, .op = Op::kCopy, .links = added->links, .chunks = added->chunks});
    }
  };
  for (std::uint32_t i = 0; i < before.transfers.size(); ++i) {
    if (dropped != difference.dropped.end() && *dropped == i) {
      ++dropped;
      continue;
    }
    add();
    Transfer transfer = before.transfers[i];
    transfer.op = Op::kCopy;
    transfers.append(transfer);
  }
  add();
  return transfers;
}

std::string to_text(const Difference& difference) {
  Ordered json{{"format", kDifferenceFormat},
               {"version", kDifferenceVersion},
               {"schedule_hash", difference.schedule_hash},
               {"kept_transfers", difference.kept_transfers},
               {"new_transfers", difference.new_transfers},
               {"times", difference.timing == Timing::kListed ? kListed : kInOrder},
               {"dropped", difference.dropped}};
  json["added"] = Ordered::array();
  for (const Difference::Added& added : difference.added) {
    std::vector<std::uint32_t> links;
    std::vector<std::uint32_t> chunks;
    std::ranges::transform(
        added.links, std::back_inserter(links), [](LinkId link) { return link.value(); });
    std::ranges::transform(
        added.chunks, std::back_inserter(chunks), [](ChunkId chunk) { return chunk.value(); });
    json["added"].push_back(Ordered::array({added.position, links, chunks}));
  }
  return json.dump() + "\n";
}

Result<Difference> parse_difference(std::string_view text,
                                    const std::string& where,
                                    const Topology& topology,
                                    const Copies& before) {
  const Topology read = before.reading == Reading::kBackwards ? topology.reversed() : topology;
  return read_json<Difference>(
      text, where, [&](const Json& json) { return read_difference(json, where, read, before); });
}

}  // namespace tacos::repairing
