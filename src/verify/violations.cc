// SPDX-License-Identifier: MIT
#include "verify/violations.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

namespace tacos {
namespace {

/// Enough to recognize a transfer by; a hostile one may list millions.
constexpr std::size_t kMaxListed = 8;

template <class Id>
std::string list(std::span<const Id> ids) {
  std::string text;
  for (const Id id : ids.first(std::min(ids.size(), kMaxListed))) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", id.value());
  }
  if (ids.size() > kMaxListed) {
    text += fmt::format(" and {} more", ids.size() - kMaxListed);
  }
  return text;
}

}  // namespace

std::string Violations::name(NodeId node) const {
  const std::string_view name = topology_.node_name(node);
  return fmt::format("{} {}{}",
                     topology_.is_npu(node) ? "NPU" : "switch",
                     node.value(),
                     name.empty() ? "" : fmt::format(" ({})", name));
}

std::string Violations::name(LinkId link) const {
  return name(std::span(&link, 1));
}

std::string Violations::name(std::span<const LinkId> route) const {
  if (route.empty()) {
    return "no link";
  }
  std::string text = fmt::format("{} {}", route.size() == 1 ? "link" : "links", list(route));
  const auto exists = [this](LinkId link) { return link.index() < topology_.num_links(); };
  if (route.size() > kMaxListed || !std::all_of(route.begin(), route.end(), exists)) {
    return text;
  }
  // Every link's own ends when they do not meet, so that the gap can be seen.
  text += ": " + name(topology_.link(route.front()).src);
  NodeId at = topology_.link(route.front()).src;
  for (const LinkId id : route) {
    const Link& link = topology_.link(id);
    text += link.src == at ? "" : " | " + name(link.src);
    text += " > " + name(link.dst);
    at = link.dst;
  }
  return text;
}

std::string Violations::describe(const Transfer& transfer, std::uint64_t index) const {
  return fmt::format(
      "transfer {} (start {} ps, {}, {})",
      index,
      transfer.start.ps,
      name(transfer.links),
      transfer.chunks.empty()
          ? "no chunk"
          : fmt::format(
                "{} {}", transfer.chunks.size() == 1 ? "chunk" : "chunks", list(transfer.chunks)));
}

}  // namespace tacos
