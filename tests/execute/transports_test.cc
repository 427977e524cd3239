// SPDX-License-Identifier: MIT
// Processes of their own, which find each other by an address alone and run the same program.
#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "execute/transports/shared_memory.h"
#include "execute/transports/split.h"
#include "execute/transports/tcp.h"
#include "execute/transports/tcp_team.h"
#include "support/execute_case.h"

namespace tacos {
namespace {

using execution::SharedMemoryTransport;
using execution::SplitTransport;
using execution::TcpTeam;
using execution::TcpTransport;
using test::CaseBuffers;
using test::ExecuteCase;

enum class Kind { kSharedMemory, kTcp, kSplit };

/// A port that nobody has; somebody may take it before it is used, but who would.
std::string free_address() {
  const Result<execution::Socket> socket = execution::listen_on(0);
  return "127.0.0.1:" + std::to_string(execution::port_of(*socket));
}

/// What a process does; 0 when all was right. One that dies does so before its last run.
int run_member(
    const ExecuteCase& given, const std::string& address, int member, Kind kind, int dies) {
  const auto members = static_cast<int>(given.program.npus.size());
  const auto team = TcpTeam::join(address, member, members);
  if (!team) {
    return 2;
  }
  SharedMemoryTransport shared(**team);
  TcpTransport tcp(**team);
  std::vector<std::uint32_t> choice;
  for (int peer = 0; peer < members; ++peer) {
    choice.push_back(static_cast<std::uint32_t>(peer + member) % 2);
  }
  SplitTransport split({&shared, &tcp}, choice);
  Transport* const transports[] = {&shared, &tcp, &split};
  const NodeId npu(static_cast<std::uint32_t>(member));
  Result<Executor> executor = Executor::load(
      given.program,
      npu,
      *transports[static_cast<std::size_t>(kind)],
      {.processes = {}, .positions = given.positions, .limit = std::chrono::seconds(5)});
  if (!executor || !executor->bind(given.count, given.type, given.op)) {
    return 3;
  }
  for (int run = 0; run < 3; ++run) {
    if (run == 2 && member == dies) {
      (void)::raise(SIGKILL);
    }
    CaseBuffers buffers = make_buffers(given, npu, *executor);
    if (!executor->run(buffers.input.data(), buffers.output.data())) {
      return 4;
    }
    if (wrong_elements(given, npu, buffers) != 0) {
      return 5;
    }
  }
  return 0;
}

/// How every process ended.
std::vector<int> run_all(const ExecuteCase& given, Kind kind, int dies = -1) {
  const std::string address = free_address();
  std::vector<pid_t> children;
  for (int member = 0; member < static_cast<int>(given.program.npus.size()); ++member) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::_exit(run_member(given, address, member, kind, dies));
    }
    children.push_back(child);
  }
  std::vector<int> ends;
  for (const pid_t child : children) {
    int status = 0;
    (void)::waitpid(child, &status, 0);
    ends.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  return ends;
}

class Transports : public ::testing::TestWithParam<Kind> {};

TEST_P(Transports, BringEverythingToItsPlace) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U}) {
    // Long enough for several turns of a ring.
    const ExecuteCase given = test::any_execute_case(
        seed, {.most_npus = 6, .most_count = seed % 4 == 0 ? 400'000U : 5'000U});
    EXPECT_EQ(run_all(given, GetParam()), std::vector<int>(given.program.npus.size(), 0))
        << given.description;
  }
}

TEST_P(Transports, EndWhenSomebodyDies) {
  ExecuteCase given = test::any_execute_case(1, {.most_npus = 4, .fixed = true});
  for (std::uint64_t seed = 2; given.collective().kind() != CollectiveKind::kAllReduce; ++seed) {
    given = test::any_execute_case(seed, {.most_npus = 4, .fixed = true});
  }
  given.count = 10'000;
  const std::vector<int> ends = run_all(given, GetParam(), 2);
  EXPECT_EQ(ends[2], 128 + SIGKILL);
  for (const int member : {0, 1, 3}) {
    EXPECT_EQ(ends[static_cast<std::size_t>(member)], 4) << member;
  }
}

std::string name_of(const ::testing::TestParamInfo<Kind>& kind) {
  const std::vector<std::string> names = {"SharedMemory", "Tcp", "Split"};
  return names[static_cast<std::size_t>(kind.param)];
}
INSTANTIATE_TEST_SUITE_P(All,
                         Transports,
                         ::testing::Values(Kind::kSharedMemory, Kind::kTcp, Kind::kSplit),
                         name_of);

TEST(TcpTeam, SaysWhatIsWrongWithAnAddress) {
  EXPECT_NE(TcpTeam::join("nowhere", 0, 1).error().message.find("no address"), std::string::npos);
  EXPECT_NE(TcpTeam::join("127.0.0.1:0", 0, 1).error().message.find("no address"),
            std::string::npos);
}

}  // namespace
}  // namespace tacos
