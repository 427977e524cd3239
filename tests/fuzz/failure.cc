// SPDX-License-Identifier: MIT
// What --fail takes, one failure a line, on a network with parallel links, one-way links and a
// switch.
#include <algorithm>
#include <string>
#include <vector>

#include "tacos/topology.h"

#include "fuzz/target.h"

namespace {

using namespace tacos;  // NOLINT(google-build-using-namespace)

const Topology& network() {
  static const Topology kMade = [] {
    constexpr std::uint32_t kNpus = 5;
    TopologyBuilder builder("fuzz", kNpus, 1);
    const auto add = [&](std::uint32_t src, std::uint32_t dst, std::int64_t speed) {
      builder.add_link(
          {.src = NodeId(src), .dst = NodeId(dst), .bandwidth = {speed}, .latency = {500}});
    };
    for (std::uint32_t npu = 0; npu < kNpus; ++npu) {
      add(npu, kNpus, kMaxBytesPerSecond);
      add(kNpus, npu, 1);
      add(npu, (npu + 1) % kNpus, 50'000'000'000 + npu);
    }
    add(0, 1, 3);
    add(1, 0, 7);
    return std::move(builder).build().value();
  }();
  return kMade;
}

std::vector<std::string> lines_of(std::string_view text) {
  // More lines find nothing that fewer do not.
  constexpr std::size_t kMostLines = 16;
  std::vector<std::string> lines;
  while (lines.size() < kMostLines) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      break;
    }
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> failures = lines_of(fuzz::text_of(data, size));
  const Result<DegradedTopology> left = apply_failures(network(), failures);
  std::reverse(failures.begin(), failures.end());
  const Result<DegradedTopology> turned = apply_failures(network(), failures);
  fuzz::require(left.has_value() == turned.has_value(), "the order of failures does not matter");
  if (!left) {
    fuzz::require_input_error(left.error());
    return 0;
  }
  fuzz::require(left->topology == turned->topology && left->failed_npus == turned->failed_npus,
                "the order of failures does not matter");
  fuzz::require(left->topology.num_nodes() == network().num_nodes(), "nodes keep their ids");
  for (const NodeId npu : left->failed_npus) {
    fuzz::require(left->topology.out_links(npu).empty() && left->topology.in_links(npu).empty(),
                  "a failed NPU has no links");
  }
  for (const Link& link : left->topology.links()) {
    fuzz::require(link.bandwidth.bytes_per_second > 0, "a slow link still carries something");
  }
  return 0;
}
