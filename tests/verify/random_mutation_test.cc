// SPDX-License-Identifier: MIT
// Random schedules with one random mistake: the referee and the reference must say the same.
#include <cstdint>

#include <gtest/gtest.h>

#include "base/numbers/rng.h"
#include "support/reference_verify.h"
#include "verify/random_cases.h"

namespace tacos::test {
namespace {

/// Sets `valid` to what the reference says; false and a failed test when the referee disagrees.
bool same_verdict(const Case& given, bool& valid) {
  valid =
      reference_valid(given.topology, given.collective, given.transfers, given.options.link_model);
  const VerifyReport report = given.report();
  EXPECT_EQ(report.valid(), valid) << (valid ? report.violations[0] : "");
  return report.valid() == valid;
}

void expect_agreement(CollectiveKind kind, std::uint64_t seed) {
  int accepted = 0;
  int rejected = 0;
  for (std::uint64_t round = 0; round < 3000; ++round) {
    Rng rng(mix64(seed, round));
    Case given = random_valid(rng, kind);
    bool valid = false;
    ASSERT_TRUE(same_verdict(given, valid) && valid) << "unbroken, round " << round;
    mutate(given, rng);
    ASSERT_TRUE(same_verdict(given, valid)) << "round " << round;
    ++(valid ? accepted : rejected);
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(rejected, 1000);
}

TEST(Verify, AgreesWithTheReferenceOnMutatedAllGather) {
  expect_agreement(CollectiveKind::kAllGather, 1);
}

TEST(Verify, AgreesWithTheReferenceOnMutatedReduceScatter) {
  expect_agreement(CollectiveKind::kReduceScatter, 2);
}

TEST(Verify, AgreesWithTheReferenceOnMutatedAllReduce) {
  expect_agreement(CollectiveKind::kAllReduce, 3);
}

}  // namespace
}  // namespace tacos::test
