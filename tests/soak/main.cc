// SPDX-License-Identifier: MIT
// Makes up problems and looks whether what is promised holds, until the time is over or a promise
// is broken; then it says which, and the commands that show it.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/numbers/rng.h"
#include "base/stopwatch.h"
#include "soak/judge.h"

namespace {

using namespace tacos;  // NOLINT(google-build-using-namespace)

/// Of processor time; a case that takes longer hangs. The slowest seen, a dozen searches with three
/// trials each, took 70 on a quick core and more than 120 on a slow one that it shared.
constexpr int kMostSeconds = 300;

/// What the handler of the timer prints; a signal handler may not do much else.
std::string under_way;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

extern "C" void on_timer(int /*signal*/) {
  (void)!::write(STDOUT_FILENO, under_way.data(), under_way.size());
  ::_exit(1);
}

/// 0 stops it.
void set_timer(int seconds) {
  const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
  (void)::setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

/// Names the files of the case so that they are kept.
void keep_files(soak::Case& given, const std::string& folder, std::uint64_t number) {
  std::filesystem::create_directories(folder);
  for (soak::TextFile& file : given.files) {
    const std::string kept = fmt::format(
        "{}/{:016x}-{}", folder, number, std::filesystem::path(file.path).filename().string());
    (given.task.topology == file.path ? given.task.topology : given.task.words.collective) = kept;
    file.path = kept;
  }
}

void write_files(const soak::Case& given) {
  for (const soak::TextFile& file : given.files) {
    (void)write_text_file(file.path, file.text).value();
  }
}

void report(const soak::Finding& finding, std::uint64_t number) {
  fmt::print("FOUND by case {} ({}): {}\n", number, finding.check, finding.what);
  for (const std::string& command : finding.commands) {
    fmt::print("  {}\n", command);
  }
  (void)std::fflush(stdout);
}

struct Arguments {
  double seconds = 60;
  std::uint64_t seed = 1;
  std::uint64_t most_cases = UINT64_MAX;
  std::optional<std::uint64_t> only;
  bool keep_going = false;
  std::vector<std::string> without;
  double slack_percent = 1;
  std::string folder = ".";
};

Arguments parse(CLI::App& app, int argc, char** argv) {
  Arguments arguments;
  std::vector<std::string> checks(soak::check_names().begin(), soak::check_names().end());
  app.add_option("--seconds", arguments.seconds, "how long")->capture_default_str();
  app.add_option("--seed", arguments.seed, "which cases")->capture_default_str();
  app.add_option("--cases", arguments.most_cases, "how many at most");
  app.add_option("--case", arguments.only, "one case, by the number that was printed");
  app.add_flag("--keep-going", arguments.keep_going, "count findings instead of stopping");
  app.add_option("--without", arguments.without, "leave out a check; may be repeated")
      ->check(CLI::IsMember(checks))
      ->allow_extra_args(false);
  app.add_option("--slack",
                 arguments.slack_percent,
                 "percent that auto and pipelined may be slower than what they are compared with")
      ->capture_default_str();
  app.add_option("--folder", arguments.folder, "where networks that show a finding are kept")
      ->capture_default_str();
  app.parse(argc, argv);
  return arguments;
}

/// Whether nothing was found.
bool run(const Arguments& arguments) {
  const std::string scratch =
      std::filesystem::temp_directory_path() / fmt::format("tacos-soak-{}", ::getpid());
  std::filesystem::create_directories(scratch);
  const soak::JudgeOptions options{.without = {arguments.without.begin(), arguments.without.end()},
                                   .slack_percent = arguments.slack_percent,
                                   .scratch = scratch};
  const Stopwatch watch;
  soak::Tally tally;
  std::map<std::string, std::uint64_t> findings;
  (void)std::signal(SIGVTALRM, on_timer);
  for (std::uint64_t i = 0; i < arguments.most_cases && watch.seconds() < arguments.seconds; ++i) {
    const std::uint64_t number = arguments.only.value_or(mix64(arguments.seed, i));
    soak::Case given = soak::random_case(number, scratch);
    write_files(given);
    under_way = fmt::format("FOUND by case {}: takes more than {} s of processor time\n  {}\n",
                            number,
                            kMostSeconds,
                            soak::command_of(given, ""));
    set_timer(kMostSeconds);
    std::optional<soak::Finding> finding = soak::judge(given, options, tally);
    set_timer(0);
    if (finding) {
      // Once more with files that stay, so that the commands name them.
      keep_files(given, arguments.folder, number);
      write_files(given);
      finding = soak::judge(given, options, tally);
      report(finding.value(), number);
      ++findings[finding->check];
    }
    if (arguments.only || (finding && !arguments.keep_going)) {
      break;
    }
  }
  std::filesystem::remove_all(scratch);
  fmt::print(
      "soak: seed {}: {} cases, {} schedules verified, {} by the naive referee too, {} "
      "infeasible, {:.0f} s: ",
      arguments.seed,
      tally.cases,
      tally.schedules,
      tally.judged_by_reference,
      tally.infeasible,
      watch.seconds());
  fmt::print("{}\n", findings.empty() ? "no finding" : "findings");
  for (const auto& [check, count] : findings) {
    fmt::print("  {}: {}\n", check, count);
  }
  return findings.empty();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Random problems against everything that is promised of their results");
  try {
    return run(parse(app, argc, argv)) ? 0 : 1;
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
}
