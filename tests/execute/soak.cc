// SPDX-License-Identifier: MIT
// Makes up programs and data and runs them in one process, over lanes that do whatever transports
// may; says what went wrong, if anything did.
//
//   execute_soak [CASES [SEED]]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/numbers/rng.h"
#include "support/execute_case.h"

int main(int argc, char** argv) {
  const std::uint64_t cases = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::uint64_t wrong = 0;
  std::map<std::string, int> kinds;
  for (std::uint64_t i = 0; i < cases; ++i) {
    // One in forty is large.
    const bool large = i % 40 == 39;
    const tacos::test::ExecuteCase given = tacos::test::any_execute_case(
        tacos::mix64(seed, i), {.most_npus = large ? 64U : 16U, .fixed = large});
    const std::string failure = tacos::test::run_case(given);
    ++kinds[std::string(to_string(given.collective().kind()))];
    if (!failure.empty()) {
      ++wrong;
      fmt::print("case {} of seed {}: {}: {}\n", i, seed, given.description, failure);
    }
    (void)std::fflush(stdout);
  }
  fmt::print("{} cases, {} wrong:", cases, wrong);
  for (const auto& [kind, count] : kinds) {
    fmt::print(" {} {}", kind, count);
  }
  fmt::print("\n");
  return wrong == 0 ? 0 : 1;
}
