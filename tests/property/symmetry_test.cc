// SPDX-License-Identifier: MIT
// Networks that look the same from every NPU and do not say so, whatever their names and links.
#include "support/symmetry.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/patterns.h"
#include "support/problems.h"

namespace tacos {
namespace {

using testing::kPlainLink;
using testing::problem;
using testing::relabelled;
using testing::synthesize_verified;

CollectiveKind any_symmetric_kind() {
  return *rc::gen::element(
      CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce);
}

/// Makes a schedule with the engine symmetric; it is verified.
Synthesis symmetric(const Topology& topology, const Problem& asked) {
  return synthesize_verified(
      topology,
      asked,
      {.engine = "symmetric",
       .link_model = *rc::gen::element(LinkModel::kHold, LinkModel::kPipelined)});
}

/// A link or several of one kind from every NPU to the one `step` further, and perhaps back.
Topology random_circulant() {
  const auto npus = *rc::gen::inRange<std::uint32_t>(2, 16);
  const bool both_ways = *rc::gen::arbitrary<bool>();
  TopologyBuilder builder("circulant", npus);
  // A step of one makes sure that every NPU can be reached.
  for (auto steps = *rc::gen::inRange(1, 4); steps > 0; --steps) {
    const std::uint32_t step = steps == 1 ? 1 : *rc::gen::inRange<std::uint32_t>(1, npus);
    Link link = kPlainLink;
    link.bandwidth.bytes_per_second /= *rc::gen::element(1, 1, 2, 7);
    link.latency.ps += *rc::gen::element(0, 0, 1, 300'000);
    const bool back = both_ways && *rc::gen::inRange(0, 4) != 0;
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      link.src = NodeId(npu);
      link.dst = NodeId((npu + step) % npus);
      back ? builder.add_both(link) : builder.add_link(link);
    }
  }
  return std::move(builder).build().value();
}

RC_GTEST_PROP(Symmetry, IsFoundInCirculantsWhateverTheirNames, ()) {
  const Topology topology = relabelled(random_circulant(), *rc::gen::arbitrary<std::uint64_t>());
  const Problem asked = problem(topology,
                                any_symmetric_kind(),
                                *rc::gen::inRange<std::int64_t>(1'000, 10'000'000),
                                *rc::gen::inRange<std::int64_t>(1, 4));
  RC_ASSERT(symmetric(topology, asked).engine == "symmetric");
}

RC_GTEST_PROP(Symmetry, IsFoundInProductsWhateverTheirNames, ()) {
  const Topology product =
      testing::network(testing::random_product(*rc::gen::arbitrary<std::uint64_t>()));
  RC_PRE(product.num_npus() > 1);
  const Topology topology = relabelled(product, *rc::gen::arbitrary<std::uint64_t>());
  const Problem asked = problem(topology,
                                any_symmetric_kind(),
                                *rc::gen::inRange<std::int64_t>(1'000, 10'000'000),
                                *rc::gen::inRange<std::int64_t>(1, 4));
  RC_ASSERT(symmetric(topology, asked).engine == "symmetric");
}

}  // namespace
}  // namespace tacos
