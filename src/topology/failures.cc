// SPDX-License-Identifier: MIT
// Networks with something broken: what --fail says, read and applied. All failures are about the
// network as it was, so their order does not matter.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "tacos/topology.h"

#include "base/numbers/wide.h"
#include "topology/failure_words.h"
#include "topology/restore.h"

namespace tacos {
namespace {

/// What part of its bandwidth a link keeps, exactly: numerator / denominator.
struct Fraction {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;

  [[nodiscard]] Bandwidth of(Bandwidth bandwidth) const {
    const Int128 kept = Int128{bandwidth.bytes_per_second} * numerator / denominator;
    return {std::max<std::int64_t>(1, static_cast<std::int64_t>(kept))};
  }
};

/// A decimal number without exponent, above 0 and at most 1.
std::optional<Fraction> parse_fraction(std::string_view text) {
  constexpr std::size_t kMostDigits = 17;
  Fraction fraction;
  bool after_point = false;
  std::size_t digits = 0;
  for (const char c : text) {
    if (c == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (c < '0' || c > '9' || ++digits > kMostDigits) {
      return std::nullopt;
    }
    fraction.numerator = fraction.numerator * 10 + (c - '0');
    fraction.denominator *= after_point ? 10 : 1;
  }
  const bool fits = fraction.numerator > 0 && fraction.numerator <= fraction.denominator;
  return fits ? std::optional(fraction) : std::nullopt;
}

std::vector<std::string> names_of(const Topology& topology) {
  return {topology.node_names().begin(), topology.node_names().end()};
}

/// Collects what has failed, then makes the network that is left.
class Damage {
 public:
  explicit Damage(const Topology& topology) : topology_(topology) {}

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
    if (kind == "link") {
      return add_links(what, std::nullopt);
    }
    const std::size_t equals = what.find('=');
    const std::string_view number =
        equals == std::string_view::npos ? std::string_view() : what.substr(equals + 1);
    const std::optional<Fraction> fraction = parse_fraction(number);
    if (!fraction) {
      return input_error(fmt::format(
          "'{}' is not a share of the bandwidth above 0 and at most 1; write slow:0-1=0.5",
          number));
    }
    return add_links(what.substr(0, equals), fraction);
  }

  Result<DegradedTopology> apply(std::string name) const {
    if (failed_npus_.size() == topology_.num_npus()) {
      return input_error("every NPU has failed");
    }
    TopologyBuilder builder(std::move(name), topology_.num_npus(), topology_.num_switches());
    builder.set_node_names(names_of(topology_));
    builder.set_npus_forward(topology_.npus_forward());
    builder.reserve_links(topology_.num_links());
    for (std::uint32_t id = 0; id < topology_.num_links(); ++id) {
      Link link = topology_.link(LinkId(id));
      const auto touched = links_.find({link.src, link.dst});
      if (topology_.failed(LinkId(id)) || failed_npus_.contains(link.src) ||
          failed_npus_.contains(link.dst) || (touched != links_.end() && !touched->second)) {
        builder.add_failed_link(link);
        continue;
      }
      if (touched != links_.end()) {
        link.bandwidth = touched->second->of(link.bandwidth);
      }
      builder.add_link(link);
    }
    Result<Topology> left = std::move(builder).build();
    if (!left) {
      return left.error();
    }
    return DegradedTopology{.topology = *std::move(left),
                            .failed_npus = {failed_npus_.begin(), failed_npus_.end()}};
  }

 private:
  Status add_npu(std::string_view text) {
    const std::optional<std::uint32_t> id = parse_node_number(text);
    if (!id) {
      return input_error(
          fmt::format("'{}' is not the number of an NPU; write for example npu:0", text));
    }
    if (*id >= topology_.num_npus() && *id < topology_.num_nodes()) {
      return input_error(
          fmt::format("node {} is a switch, not an NPU; fail the links to it instead", *id));
    }
    if (*id >= topology_.num_npus()) {
      return input_error(
          fmt::format("NPU {} does not exist; NPUs are 0 to {}", *id, topology_.num_npus() - 1));
    }
    if (has_failed(topology_, NodeId(*id))) {
      return input_error(fmt::format("NPU {} has failed already", *id));
    }
    if (!failed_npus_.insert(NodeId(*id)).second) {
      return input_error(fmt::format("NPU {} fails twice", *id));
    }
    return ok();
  }

  /// `A-B` or `A>B`; without a fraction they are gone.
  Status add_links(std::string_view text, std::optional<Fraction> fraction) {
    const std::optional<LinkEnds> ends = parse_link_ends(text);
    if (!ends) {
      return input_error(fmt::format(
          "'{}' does not name a link; write 0-1 for both directions or 0>1 for one", text));
    }
    const auto [a, b, both] = *ends;
    const bool there = exists(a, b);
    const bool back = both && exists(b, a);
    if (!there && !back && failed_before(*ends)) {
      return input_error(fmt::format("link {} has failed already", text));
    }
    if (!there && !back) {
      return input_error(fmt::format("there is no link {} node {} {} node {}",
                                     both ? "between" : "from",
                                     a,
                                     both ? "and" : "to",
                                     b));
    }
    const bool fresh =
        (!there || links_.emplace(std::pair(NodeId(a), NodeId(b)), fraction).second) &&
        (!back || links_.emplace(std::pair(NodeId(b), NodeId(a)), fraction).second);
    return fresh ? ok() : Status(input_error(fmt::format("link {} fails twice", text)));
  }

  [[nodiscard]] bool exists(std::uint32_t src, std::uint32_t dst) const {
    if (src >= topology_.num_nodes()) {
      return false;
    }
    const auto links = topology_.out_links(NodeId(src));
    return std::any_of(links.begin(), links.end(), [&](LinkId link) {
      return topology_.link(link).dst == NodeId(dst);
    });
  }

  [[nodiscard]] bool failed_before(const LinkEnds& ends) const {
    const auto links = topology_.all_links();
    // None of them works.
    return std::any_of(links.begin(), links.end(), [&](const Link& link) {
      return ends.name(link.src, link.dst);
    });
  }

  const Topology& topology_;
  std::set<NodeId> failed_npus_;
  /// Of (src, dst), for all parallel links: what is left, or nothing.
  std::map<std::pair<NodeId, NodeId>, std::optional<Fraction>> links_;
};

}  // namespace

Result<DegradedTopology> apply_failures(Topology topology, std::span<const std::string> failures) {
  if (failures.empty()) {
    return DegradedTopology{.topology = std::move(topology), .failed_npus = {}};
  }
  Damage damage(topology);
  std::string name = topology.name();
  for (const std::string& failure : failures) {
    if (const Status added = damage.add(failure); !added) {
      return input_error(added.error().message, "--fail " + failure);
    }
    name += " --fail " + failure;
  }
  return damage.apply(std::move(name));
}

Topology without_relays(const Topology& topology, std::span<const NodeId> npus) {
  std::vector<bool> keeps(topology.num_nodes(), false);
  std::fill(keeps.begin() + topology.num_npus(), keeps.end(), true);
  for (const NodeId npu : npus) {
    keeps[npu.index()] = true;
  }
  TopologyBuilder builder(
      topology.name() + " --no-relay", topology.num_npus(), topology.num_switches());
  builder.set_node_names(names_of(topology));
  builder.set_npus_forward(topology.npus_forward());
  builder.reserve_links(topology.num_links());
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    const Link& link = topology.link(LinkId(id));
    const bool works =
        !topology.failed(LinkId(id)) && keeps[link.src.index()] && keeps[link.dst.index()];
    works ? builder.add_link(link) : builder.add_failed_link(link);
  }
  // Links of a network that was built already are in order.
  return std::move(builder).build().value();
}

}  // namespace tacos
