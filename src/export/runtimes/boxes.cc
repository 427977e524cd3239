// SPDX-License-Identifier: MIT
// O(NPUs log boxes).
#include "export/runtimes/boxes.h"

#include <algorithm>
#include <string_view>

#include "topology/generators.h"

namespace tacos::exporting {
namespace {

/// What comes before the slash; empty when there is none.
std::string_view box_name(std::string_view npu) {
  const std::size_t slash = npu.find('/');
  return slash == std::string_view::npos ? std::string_view() : npu.substr(0, slash);
}

std::vector<std::uint32_t> named_boxes(const Topology& topology) {
  std::vector<std::string_view> names;
  names.reserve(topology.num_npus());
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    names.push_back(box_name(topology.node_name(NodeId(npu))));
    if (names.back().empty()) {
      return {};
    }
  }
  std::vector<std::string_view> known = names;
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  std::vector<std::uint32_t> boxes;
  boxes.reserve(names.size());
  for (const std::string_view name : names) {
    const auto found = std::lower_bound(known.begin(), known.end(), name);
    boxes.push_back(static_cast<std::uint32_t>(found - known.begin()));
  }
  return boxes;
}

}  // namespace

std::vector<std::uint32_t> boxes_of(const Topology& topology) {
  if (std::vector<std::uint32_t> named = named_boxes(topology); !named.empty()) {
    return named;
  }
  const std::string_view name = topology.name();
  const std::uint32_t size = npus_per_box(name.substr(0, name.find_first_of(":, ")));
  std::vector<std::uint32_t> boxes(topology.num_npus(), 0);
  if (size > 0 && topology.num_npus() % size == 0) {
    for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
      boxes[npu] = npu / size;
    }
  }
  return boxes;
}

}  // namespace tacos::exporting
