// SPDX-License-Identifier: MIT
// A network keeps the links that failed, marked, and its name lists the failures as they were
// given. What was slowed down is not kept: the spec that the name begins with has to know it.
#include "topology/restore.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "topology/failure_words.h"
#include "topology/generators.h"

namespace tacos {
namespace {

constexpr std::string_view kFail = " --fail ";

/// A word of a name after `--fail`, and where it is, the option included.
struct NamedFailure {
  std::string_view spec;
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::vector<NamedFailure> failures_in(std::string_view name) {
  std::vector<NamedFailure> all;
  for (std::size_t at = name.find(kFail); at != std::string_view::npos; at = name.find(kFail, at)) {
    const std::size_t first = at + kFail.size();
    const std::size_t end = std::min(name.find(' ', first), name.size());
    all.push_back({.spec = name.substr(first, end - first), .begin = at, .end = end});
    at = end;
  }
  return all;
}

/// `slow:3-4` of `slow:3-4=0.5`; other specs as they are.
std::string_view without_share(std::string_view spec) {
  return spec.substr(0, spec.find('='));
}

/// The name without the failure; as it is where it does not tell of it.
std::string name_after(std::string name, std::string_view spec) {
  for (;;) {
    const std::vector<NamedFailure> all = failures_in(name);
    const auto found = std::find_if(all.begin(), all.end(), [&](const NamedFailure& one) {
      return without_share(one.spec) == spec;
    });
    if (found == all.end()) {
      return name;
    }
    name.erase(found->begin, found->end - found->begin);
  }
}

/// Collects what works again, then makes the network.
class Recovery {
 public:
  explicit Recovery(const Topology& topology)
      : topology_(topology), links_(topology.all_links().begin(), topology.all_links().end()) {
    failed_.reserve(links_.size());
    for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
      failed_.push_back(topology.failed(LinkId(id)));
    }
  }

  Status add(std::string_view spec) {
    const Result<FailureSpec> failure = split_failure(spec);
    if (!failure) {
      return failure.error();
    }
    const std::string_view kind = failure->kind;
    const std::string_view what = failure->what;
    if (kind == "npu") {
      return add_npu(what);
    }
    const std::optional<LinkEnds> ends = parse_link_ends(without_share(what));
    if (!ends) {
      return input_error(fmt::format(
          "'{}' does not name a link; write 0-1 for both directions or 0>1 for one", what));
    }
    return kind == "link" ? add_links(*ends, what) : speed_up(*ends, without_share(what));
  }

  /// NPUs get their links at last, when it is known which others work.
  Result<RestoredTopology> apply(const std::string& name) {
    for (const NamedFailure& one : failures_in(name)) {
      if (one.spec.starts_with("link:")) {
        if (const auto ends = parse_link_ends(one.spec.substr(one.spec.find(':') + 1))) {
          by_themselves_.push_back(*ends);
        }
      }
    }
    for (std::size_t id = 0; id < links_.size(); ++id) {
      const Link& link = links_[id];
      if (failed_[id] && (npus_.contains(link.src) || npus_.contains(link.dst)) &&
          works(link.src) && works(link.dst) && !failed_by_itself(link)) {
        failed_[id] = false;
      }
    }
    TopologyBuilder builder(name, topology_.num_npus(), topology_.num_switches());
    builder.set_node_names({topology_.node_names().begin(), topology_.node_names().end()});
    builder.set_npus_forward(topology_.npus_forward());
    builder.set_dimensions(product_dimensions(name));
    builder.reserve_links(links_.size());
    for (std::size_t id = 0; id < links_.size(); ++id) {
      failed_[id] ? builder.add_failed_link(links_[id]) : builder.add_link(links_[id]);
    }
    Result<Topology> made = std::move(builder).build();
    if (!made) {
      return made.error();
    }
    return RestoredTopology{.topology = *std::move(made),
                            .restored_npus = {npus_.begin(), npus_.end()}};
  }

 private:
  Status add_npu(std::string_view text) {
    const std::optional<std::uint32_t> id = parse_node_number(text);
    if (!id || *id >= topology_.num_npus()) {
      return input_error(fmt::format(
          "'{}' is not the number of an NPU; NPUs are 0 to {}", text, topology_.num_npus() - 1));
    }
    if (!has_failed(topology_, NodeId(*id))) {
      return input_error(fmt::format("NPU {} has not failed", *id));
    }
    return npus_.insert(NodeId(*id)).second
               ? ok()
               : Status(input_error(fmt::format("NPU {} is restored twice", *id)));
  }

  Status add_links(const LinkEnds& ends, std::string_view text) {
    for (const std::uint32_t end : {ends.a, ends.b}) {
      const std::string failure = fmt::format("npu:{}", end);
      const std::vector<NamedFailure> all = failures_in(topology_.name());
      if (std::any_of(all.begin(), all.end(), [&](const NamedFailure& one) {
            return one.spec == failure;
          })) {
        return input_error(fmt::format("NPU {} has failed with its links; restore it", end));
      }
    }
    bool found = false;
    bool back = false;
    for (std::size_t id = 0; id < links_.size(); ++id) {
      if (ends.name(links_[id].src, links_[id].dst)) {
        found = true;
        back = back || failed_[id];
        failed_[id] = false;
      }
    }
    if (!found) {
      return no_link(ends);
    }
    return back ? ok() : Status(input_error(fmt::format("link {} has not failed", text)));
  }

  Status speed_up(const LinkEnds& ends, std::string_view text) {
    const std::optional<Topology> whole = as_made();
    bool found = false;
    bool faster = false;
    for (std::size_t id = 0; id < links_.size(); ++id) {
      if (!ends.name(links_[id].src, links_[id].dst)) {
        continue;
      }
      found = true;
      if (whole) {
        const Bandwidth full = whole->link(LinkId(static_cast<std::uint32_t>(id))).bandwidth;
        faster = faster || full > links_[id].bandwidth;
        links_[id].bandwidth = full;
      }
    }
    if (!found) {
      return no_link(ends);
    }
    if (!whole) {
      return input_error(
          fmt::format("nothing says how fast link {} was; synthesize for the whole network", text));
    }
    return faster ? ok() : Status(input_error(fmt::format("link {} is not slow", text)));
  }

  static Status no_link(const LinkEnds& ends) {
    return input_error(fmt::format("there is no link {} node {} {} node {}",
                                   ends.both ? "between" : "from",
                                   ends.a,
                                   ends.both ? "and" : "to",
                                   ends.b));
  }

  /// The network that the name's first word is the spec of, if but for what the name says was
  /// slowed down its links are these.
  [[nodiscard]] std::optional<Topology> as_made() const {
    const std::string& name = topology_.name();
    Result<Topology> made = parse_topology_spec(std::string_view(name).substr(0, name.find(' ')));
    if (!made || made->num_links() != topology_.num_links()) {
      return std::nullopt;
    }
    std::vector<LinkEnds> slow;
    for (const NamedFailure& one : failures_in(name)) {
      if (one.spec.starts_with("slow:")) {
        const std::string_view what = without_share(one.spec);
        if (const auto ends = parse_link_ends(what.substr(what.find(':') + 1))) {
          slow.push_back(*ends);
        }
      }
    }
    for (std::uint32_t id = 0; id < topology_.num_links(); ++id) {
      Link link = topology_.link(LinkId(id));
      const Link& full = made->link(LinkId(id));
      if (std::any_of(slow.begin(), slow.end(), [&](const LinkEnds& ends) {
            return ends.name(link.src, link.dst);
          })) {
        link.bandwidth = full.bandwidth;
      }
      if (link != full) {
        return std::nullopt;
      }
    }
    return *std::move(made);
  }

  [[nodiscard]] bool works(NodeId node) const {
    return !topology_.is_npu(node) || npus_.contains(node) || !has_failed(topology_, node);
  }
  [[nodiscard]] bool failed_by_itself(const Link& link) const {
    return std::any_of(by_themselves_.begin(), by_themselves_.end(), [&](const LinkEnds& ends) {
      return ends.name(link.src, link.dst);
    });
  }

  const Topology& topology_;
  std::vector<Link> links_;
  std::vector<bool> failed_;
  std::set<NodeId> npus_;
  std::vector<LinkEnds> by_themselves_;
};

}  // namespace

bool has_failed(const Topology& topology, NodeId node) {
  if (!topology.out_links(node).empty() || !topology.in_links(node).empty()) {
    return false;
  }
  const auto links = topology.all_links();
  return std::any_of(links.begin(), links.end(), [&](const Link& link) {
    return link.src == node || link.dst == node;
  });
}

Result<RestoredTopology> take_back(Topology topology, std::span<const std::string> failures) {
  if (failures.empty()) {
    return RestoredTopology{.topology = std::move(topology), .restored_npus = {}};
  }
  Recovery recovery(topology);
  std::string name = topology.name();
  for (const std::string& failure : failures) {
    if (const Status added = recovery.add(failure); !added) {
      return input_error(added.error().message, "--restore " + failure);
    }
    const std::string_view spec = without_share(failure);
    std::string left = name_after(name, spec);
    name = left == name ? fmt::format("{} --restore {}", name, spec) : std::move(left);
  }
  return recovery.apply(name);
}

}  // namespace tacos
