// SPDX-License-Identifier: MIT
// Schedules in every form, on their own network and on one that they do not fit: on any number of
// threads the same is said about them.
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tacos/bundle.h"

#include "schedule/patterns/orbits.h"
#include "schedule/source.h"
#include "support/forms.h"
#include "support/patterns.h"
#include "support/problems.h"
#include "verify/cuttings.h"

namespace tacos {
namespace {

using test::expect_same_on_threads;
using test::expect_same_verdict;
using testing::network;
using testing::problem;
using testing::synthesize_verified;

using testing::kMiB;

/// `spec` without latencies.
struct Example {
  std::string spec;
  CollectiveKind kind = CollectiveKind::kAllGather;
  std::string engine = "auto";
  std::optional<std::int64_t> chunks = std::nullopt;
};

Synthesis make(const Topology& topology, const Example& example) {
  return synthesize_verified(topology,
                             problem(topology, example.kind, 512 * kMiB + 7, example.chunks),
                             {.engine = example.engine});
}

void expect_same(const Example& example) {
  const Topology topology = network(example.spec);
  const Synthesis made = make(topology, example);
  // A little slower than what the schedule counts on.
  const Topology slower = network(example.spec + ",lat=501ns");
  for (const Topology& given : {topology, slower}) {
    expect_same_verdict(given, *made.collective, *made.schedule, {});
    expect_same_on_threads(given, *made.collective, *made.schedule);
  }
  EXPECT_FALSE(verify(slower, *made.collective, *made.schedule)->valid());
}

// More than the default needs to be cut.
TEST(VerifyForms, LogsForwardsBackwardsAndBoth) {
  for (const CollectiveKind kind :
       {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce}) {
    const Example example{.spec = "mesh:23x24",
                          .kind = kind,
                          .engine = "matching",
                          .chunks = kind == CollectiveKind::kAllReduce ? 600 : 1};
    const Topology topology = network(example.spec);
    const Synthesis made = make(topology, example);
    for (const std::string& spec : {example.spec, example.spec + ",lat=501ns"}) {
      const Topology given = network(spec);
      // In one pass, and in several where there are sums.
      for (const std::size_t memory : {std::size_t{1} << 30U, std::size_t{4} << 20U}) {
        VerifyOptions options{.memory_bytes = memory, .threads = 1};
        const VerifyReport expected = *verify(given, *made.collective, *made.schedule, options);
        EXPECT_EQ(expected.valid(), spec == example.spec);
        for (const int threads : {2, 3, 8}) {
          options.threads = threads;
          const Result<VerifyReport> report =
              verify(given, *made.collective, *made.schedule, options);
          ASSERT_TRUE(report);
          test::expect_same_report(*report, expected);
        }
      }
    }
  }
}

TEST(VerifyForms, LogsLinkByLink) {
  for (const char* spec : {"ring:600", "mesh:20x20,bw=50GBps/100GBps"}) {
    const Example example{.spec = spec, .engine = "matching", .chunks = 1};
    const Synthesis made = make(network(example.spec), example);
    ThreadPool pool(1);
    ASSERT_NE(source_of(*made.schedule).link_lists(pool), nullptr);
    expect_same(example);
  }
}

TEST(VerifyForms, BlocksOverUnequalLinksAndThroughSwitches) {
  expect_same({.spec = "mesh:6x7,bw=50GBps/100GBps"});
  expect_same({.spec = "switch:4*switch:3,bw=300GBps/25GBps"});
  expect_same({.spec = "switch:4*switch:3,bw=300GBps/25GBps", .kind = CollectiveKind::kAllToAll});
  expect_same({.spec = "mesh:5x5", .kind = CollectiveKind::kAllReduce, .engine = "trees"});
  expect_same({.spec = "mesh:4x4", .kind = CollectiveKind::kScatter});
}

TEST(VerifyForms, Orbits) {
  const Example example{.spec = "dragonfly:4x5", .engine = "symmetric"};
  const Topology topology = network(example.spec);
  ASSERT_NE(testing::form_of<OrbitPattern>(*make(topology, example).schedule), nullptr);
  expect_same(example);
}

TEST(VerifyForms, PatternsOneByOne) {
  const Topology topology = network("torus:5x5");
  const Synthesis made = make(topology, {.spec = {}, .engine = "symmetric"});
  ASSERT_NE(testing::form_of<Pattern>(*made.schedule), nullptr);
  const Schedule schedule = testing::expanded(*made.schedule);
  expect_same_verdict(topology, *made.collective, schedule, {});
  expect_same_on_threads(topology, *made.collective, schedule);
}

/// Changes a byte of the file.
void damage(const std::string& path, std::uintmax_t at) {
  std::FILE* const file = std::fopen(path.c_str(), "r+b");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(std::fseek(file, static_cast<long>(at), SEEK_SET), 0);
  const int byte = std::fgetc(file);
  ASSERT_EQ(std::fseek(file, static_cast<long>(at), SEEK_SET), 0);
  ASSERT_NE(std::fputc(byte ^ 1, file), EOF);
  ASSERT_EQ(std::fclose(file), 0);
}

TEST(VerifyForms, FilesAlsoWhenTheyAreDamaged) {
  const Topology topology = network("mesh:23x24");
  const Synthesis made = make(topology, {.spec = {}, .engine = "matching", .chunks = 1});
  const std::string path =
      std::filesystem::temp_directory_path() / fmt::format("tacos-forms-{}.tacos", ::getpid());
  ASSERT_TRUE(write_bundle({.topology = topology,
                            .collective = *made.collective,
                            .link_model = LinkModel::kHold,
                            .schedule = *made.schedule,
                            .engine = made.engine,
                            .seed = 1},
                           path));
  const Result<Bundle> bundle = read_bundle(path);
  ASSERT_TRUE(bundle);
  expect_same_verdict(topology, bundle->collective, bundle->schedule, {});
  expect_same_on_threads(topology, bundle->collective, bundle->schedule);
  damage(path, std::filesystem::file_size(path) / 2);
  expect_same_on_threads(topology, bundle->collective, bundle->schedule);
  EXPECT_FALSE(verify(topology, bundle->collective, bundle->schedule, {.threads = 2}));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tacos
