// SPDX-License-Identifier: MIT
#include "export/trace.h"

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tacos/synthesize.h"

namespace tacos {
namespace {

struct Case {
  const char* network;
  CollectiveKind kind;
  std::int64_t size;
};

Bundle synthesized(const Case& asked) {
  const Topology topology = *parse_topology_spec(asked.network);
  Problem problem{.kind = asked.kind, .size = {asked.size}};
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    problem.participants.emplace_back(npu);
  }
  Result<Synthesis> made = synthesize(topology, problem, {.trials = 1});
  EXPECT_TRUE(made) << asked.network;
  return {.topology = topology,
          .collective = *made->collective,
          .schedule = *made->schedule,
          .engine = made->engine};
}

TEST(Trace, NeedsWhatItTakesAndLittleMore) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("tacos-trace-{}", ::getpid());
  for (const Case& one : {Case{"mesh:8x8", CollectiveKind::kAllGather, 1LL << 30U},
                          Case{"mesh:4x4", CollectiveKind::kAllReduce, 1LL << 20U},
                          Case{"mesh:11x11", CollectiveKind::kAllGather, 1000},
                          Case{"torus:5x5x5", CollectiveKind::kReduceScatter, 1LL << 30U},
                          Case{"fc:33", CollectiveKind::kAllGather, 1LL << 20U},
                          Case{"ring:101", CollectiveKind::kAllReduce, 1LL << 30U},
                          Case{"switch:40", CollectiveKind::kAllToAll, 1LL << 20U},
                          Case{"ring:2*fc:4*switch:8", CollectiveKind::kAllGather, 1LL << 30U},
                          Case{"fat-tree:4", CollectiveKind::kAllGather, 1LL << 20U},
                          Case{"leaf-spine:4x4x4", CollectiveKind::kAllToAll, 1LL << 20U},
                          Case{"dgx1", CollectiveKind::kAllReduce, 1LL << 20U}}) {
    const Bundle bundle = synthesized(one);
    ASSERT_TRUE(write_trace(bundle, path.string()));
    const auto truth = static_cast<double>(std::filesystem::file_size(path));
    const Result<std::uint64_t> estimate = trace_bytes(bundle, 1);
    ASSERT_TRUE(estimate);
    const double ratio = static_cast<double>(*estimate) / truth;
    EXPECT_GE(ratio, 1) << one.network;
    EXPECT_LE(ratio, 1.3) << one.network;
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tacos
