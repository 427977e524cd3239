// SPDX-License-Identifier: MIT
// What a program that uses the library may rely on: its own process stays as it was.
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef TACOS_STD_THREADS
#include <oneapi/tbb/global_control.h>
#endif

#include "tacos/bound.h"
#include "tacos/synthesize.h"
#include "tacos/verify.h"

namespace tacos {
namespace {

constexpr int kMostSignals = 32;

std::array<decltype(sigaction::sa_handler), kMostSignals> handlers() {
  std::array<decltype(sigaction::sa_handler), kMostSignals> all{};
  for (int number = 1; number < kMostSignals; ++number) {
    struct sigaction action {};
    (void)sigaction(number, nullptr, &action);
    all.at(static_cast<std::size_t>(number)) = action.sa_handler;
  }
  return all;
}

std::size_t allowed_threads() {
#ifdef TACOS_STD_THREADS
  return 0;
#else
  using oneapi::tbb::global_control;
  return global_control::active_value(global_control::max_allowed_parallelism);
#endif
}

/// Everything the library does, on two threads; calls `now` in the midst of it.
void use_library(const std::function<void(double)>& now) {
  const Topology topology = parse_topology_spec("mesh:6x6").value();
  Problem problem{.kind = CollectiveKind::kAllReduce, .size = {1 << 20U}};
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    problem.participants.emplace_back(npu);
  }
  SynthesisOptions options{.threads = 2, .progress = now};
  const Result<Synthesis> made = synthesize(topology, problem, options);
  ASSERT_TRUE(made);
  EXPECT_TRUE(verify(topology, *made->collective, *made->schedule, {.threads = 2})->valid());
  EXPECT_TRUE(compute_bounds(topology, *made->collective));
  EXPECT_FALSE(parse_topology_spec("mesh:"));
}

TEST(Host, KeepsItsSignalHandlersAndThreads) {
  const auto before = handlers();
  const std::size_t threads = allowed_threads();
  int calls = 0;
  use_library([&](double) {
    ++calls;
    EXPECT_EQ(handlers(), before);
    EXPECT_EQ(allowed_threads(), threads);
  });
  EXPECT_GT(calls, 0);
  EXPECT_EQ(handlers(), before);
  EXPECT_EQ(allowed_threads(), threads);
}

TEST(Host, IsNotSpokenFor) {
  std::FILE* const words = std::tmpfile();
  ASSERT_NE(words, nullptr);
  std::array<int, 2> kept{};
  for (int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    (void)std::fflush(nullptr);
    kept.at(static_cast<std::size_t>(stream - 1)) = ::dup(stream);
    (void)::dup2(::fileno(words), stream);
  }
  use_library({});
  (void)std::fflush(nullptr);
  for (int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    (void)::dup2(kept.at(static_cast<std::size_t>(stream - 1)), stream);
    (void)::close(kept.at(static_cast<std::size_t>(stream - 1)));
  }
  struct stat state {};
  ASSERT_EQ(::fstat(::fileno(words), &state), 0);
  EXPECT_EQ(state.st_size, 0);
  (void)std::fclose(words);
}

TEST(Host, HearsOfProgressFromOneThreadAtATime) {
  std::atomic<int> inside = 0;
  double last = 0;
  use_library([&](double share) {
    EXPECT_EQ(inside.fetch_add(1), 0);
    EXPECT_GE(share, last);
    EXPECT_LE(share, 1);
    last = share;
    std::this_thread::yield();
    inside.fetch_sub(1);
  });
}

}  // namespace
}  // namespace tacos
