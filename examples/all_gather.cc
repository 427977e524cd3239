// SPDX-License-Identifier: MIT
// Synthesizes an All-Gather for a torus, verifies it and prints how long it takes.
#include <cstdio>

#include "tacos/synthesize.h"
#include "tacos/verify.h"

int main() {
  const tacos::Result<tacos::Topology> torus = tacos::parse_topology_spec("torus:4x4,bw=100GBps");
  tacos::Problem problem{.kind = tacos::CollectiveKind::kAllGather, .size = {1 << 26}};
  for (std::uint32_t npu = 0; npu < torus->num_npus(); ++npu) {
    problem.participants.emplace_back(npu);
  }
  const tacos::Result<tacos::Synthesis> made = tacos::synthesize(*torus, problem);
  const auto report = tacos::verify(*torus, *made->collective, *made->schedule);
  std::printf("%s in %.3f us\n",
              report->valid() ? "correct" : "wrong",
              tacos::to_us(made->schedule->collective_time()));
}
