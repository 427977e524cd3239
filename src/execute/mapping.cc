// SPDX-License-Identifier: MIT
#include "execute/mapping.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>

#include "base/files/file.h"

namespace tacos::execution {
namespace {

std::vector<NodeId> by_machines(Team& team, std::span<const NodeId> npus) {
  const std::vector<int> machines = all_gather(team, team.machine());
  std::vector<std::size_t> members(machines.size());
  std::iota(members.begin(), members.end(), 0);
  std::stable_sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
    return machines[a] < machines[b];
  });
  std::vector<NodeId> order(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    order[members[i]] = npus[i];
  }
  return order;
}

Result<std::vector<NodeId>> read_map(const std::string& path, std::size_t members) {
  const Result<std::string> text = read_text_file(path);
  if (!text) {
    return text.error();
  }
  std::vector<NodeId> order;
  const char* at = text->data();
  const char* const end = at + text->size();
  const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; };
  for (at = std::find_if_not(at, end, is_space); at != end;
       at = std::find_if_not(at, end, is_space)) {
    std::uint32_t npu = 0;
    const auto [stop, failure] = std::from_chars(at, end, npu);
    if (failure != std::errc()) {
      return input_error("a map has the number of an NPU for every rank, and nothing else", path);
    }
    order.emplace_back(npu);
    at = stop;
  }
  if (order.size() != members) {
    return input_error(fmt::format("has {} NPUs for {} ranks", order.size(), members), path);
  }
  return order;
}

}  // namespace

Result<std::vector<NodeId>> map_members(Team& team,
                                        std::span<const NodeId> npus,
                                        const std::string& map) {
  const auto members = static_cast<std::size_t>(team.size());
  if (!map.empty() && map != "hosts") {
    return read_map(map, members);
  }
  // Of another number somebody else will complain, who knows what for.
  if (map.empty() || npus.size() != members) {
    return std::vector<NodeId>(npus.begin(), npus.end());
  }
  return by_machines(team, npus);
}

}  // namespace tacos::execution
