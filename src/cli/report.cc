// SPDX-License-Identifier: MIT
#include "cli/report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/memory/room.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/streams.h"
#include "verify/by_team.h"

namespace tacos::cli {

Json problem_json(const Topology& topology, const Collective& collective) {
  Json json{{"topology", topology.name()},
            {"npus", topology.num_npus()},
            {"links", topology.num_working_links()},
            {"participants", collective.num_participants()},
            {"collective", to_string(collective.kind())},
            {"size_bytes", collective.size().count}};
  if (collective.kind() == CollectiveKind::kCustom) {
    json["collective_name"] = collective.name();
  }
  if (is_rooted(collective.kind())) {
    json["root"] = collective.root().value();
  }
  return json;
}

void print_object(const Json& json) {
  constexpr int kIndent = 2;
  emit(stdout, "{}\n", json.dump(kIndent, ' ', false, Json::error_handler_t::replace));
}

BoundOptions bound_options(const Bundle& bundle) {
  return {.effort = effort_beside_schedule(bundle.topology), .link_model = bundle.link_model};
}

void add_bound(Json& json, const BoundReport& report) {
  json["bound_us"] = to_us(report.best.time);
  json["bound_name"] = report.best.name;
  json["bandwidth_bound_us"] = to_us(report.bandwidth.time);
  json["bound_exact"] = report.bandwidth.exact;
}

bool chunks_count(const Bundle& bundle, const BoundReport& bound) {
  // Less than one in so many is not worth a word.
  constexpr std::int64_t kWorthSaying = 200;
  const Schedule::Totals& totals = bundle.schedule.totals();
  const std::int64_t best = bound.best.time.ps;
  return bound.chunk_count && totals.moves == totals.transfers &&
         bound.chunk_count->time.ps > best + best / kWorthSaying;
}

std::string collective_text(const Collective& collective) {
  std::string text = printable(collective.name());
  if (is_rooted(collective.kind())) {
    text += fmt::format(":{}", collective.root().value());
  }
  return text;
}

Result<VerifyReport> verify_with_progress(const Bundle& bundle, int threads) {
  Alone alone;
  return verify_with_progress(bundle, threads, alone);
}

Result<VerifyReport> verify_with_progress(const Bundle& bundle, int threads, Team& team) {
  Progress progress("verifying", bundle.schedule.num_transfers());
  VerifyOptions options{.link_model = bundle.link_model,
                        .threads = threads,
                        .progress = [&progress](double share) { progress.update(share); }};
  // The more memory, the fewer passes over a reduction.
  constexpr std::size_t kMost = std::size_t{4} << 30U;
  const std::size_t half = available_memory().value_or(0) / 2;
  options.memory_bytes = std::clamp(half, options.memory_bytes, kMost);
  return verify_by_team(bundle.topology, bundle.collective, bundle.schedule, options, team);
}

ExitCode check_schedule(const std::string& file, const Bundle& bundle, int threads) {
  const Result<VerifyReport> report = verify_with_progress(bundle, threads);
  if (!report) {
    return fail(report.error());
  }
  if (report->valid()) {
    return ExitCode::kGood;
  }
  complain(fmt::format("{}: not a correct {}: {}; 'tacos verify' tells all",
                       file,
                       collective_text(bundle.collective),
                       report->violations.front()));
  return ExitCode::kVerificationFailed;
}

std::vector<NodeId> all_npus(const Topology& topology) {
  std::vector<NodeId> npus;
  npus.reserve(topology.num_npus());
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    npus.emplace_back(npu);
  }
  return npus;
}

}  // namespace tacos::cli
