// SPDX-License-Identifier: MIT
#include "cli/outcome.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tacos/verify.h"

#include "base/text/quantity.h"
#include "cli/terminal/progress.h"
#include "replay/scratch.h"
#include "topology/unreachable.h"

namespace tacos::cli {
namespace {

/// A whole number where there is one: All-Reduce may cut its buffer into any number of chunks.
Json chunks_per_npu(const Collective& collective) {
  const std::uint32_t chunks = collective.num_chunks();
  const std::uint32_t npus = collective.num_participants();
  return chunks % npus == 0 ? Json(chunks / npus) : Json(static_cast<double>(chunks) / npus);
}

/// Which engine, and what others reached.
std::string engine_text(const Outcome& outcome) {
  const CollectiveForm form = outcome.bundle.collective.form();
  std::string text = fmt::format("{}, seed {}", outcome.bundle.engine, outcome.bundle.seed);
  const char* separator = " (";
  for (const Synthesis::Comparison& other : outcome.compared) {
    if (other.engine != outcome.bundle.engine || other.form != form) {
      text += fmt::format(
          "{}{}{} {}",
          separator,
          other.engine,
          other.form == CollectiveForm::kGathered ? " gathering" : "",
          other.left_out ? "left out" : "reached " + format_time(other.collective_time));
      separator = ", ";
    }
  }
  return text + (outcome.compared.size() > 1 ? ")" : "");
}

/// " (100.0% of what chunks of 107 kB allow)", or nothing when that says no more.
std::string chunk_text(const Outcome& outcome) {
  const std::optional<Ticks> bound = outcome.chunk_bound();
  if (!bound) {
    return {};
  }
  const Ticks time = outcome.bundle.schedule.collective_time();
  return fmt::format(" ({:.1f}% of what chunks of {} allow)",
                     100 * static_cast<double>(bound->ps) / static_cast<double>(time.ps),
                     format_size(outcome.bundle.collective.chunks().max_bytes()));
}

/// " (8 take part)", or nothing when all do.
std::string group_text(const Bundle& bundle) {
  const std::uint32_t participants = bundle.collective.num_participants();
  return participants == bundle.topology.num_npus()
             ? std::string()
             : fmt::format(" ({} take part)", format_count(participants));
}

/// ", gathered: everybody adds all contributions, in 16 KiB of scratch".
std::string scratch_text(const Outcome& outcome) {
  if (outcome.scratch.count == 0) {
    return {};
  }
  const bool gathered = outcome.bundle.collective.form() == CollectiveForm::kGathered;
  const bool rooted = is_rooted(outcome.bundle.collective.kind());
  return fmt::format("{}, up to {} of scratch per NPU",
                     !gathered ? ""
                     : rooted  ? ", gathered: the root adds all contributions"
                               : ", gathered: everybody adds all contributions",
                     format_size(outcome.scratch));
}

/// ", 7.873 s to hash", where anybody waited for it.
std::string hash_text(const Outcome& outcome) {
  constexpr double kNoticed = 0.1;
  const double seconds = outcome.hash_seconds.value_or(0);
  return seconds < kNoticed ? "" : fmt::format(", {:.3f} s to hash", seconds);
}

Status bound_outcome(Outcome& outcome) {
  const Bundle& bundle = outcome.bundle;
  const Stopwatch watch;
  Result<BoundReport> report =
      compute_bounds(bundle.topology, bundle.collective, bound_options(bundle));
  if (!report) {
    return report.error();
  }
  outcome.bound = std::move(*report);
  outcome.bound_seconds = watch.seconds();
  return check_bound(outcome);
}

/// A large schedule that has just been made is read once for it.
void measure_hash(Outcome& outcome) {
  const Stopwatch watch;
  static_cast<void>(outcome.bundle.schedule.hash());
  outcome.hash_seconds = watch.seconds();
}

Status measure_scratch(Outcome& outcome) {
  const Bundle& bundle = outcome.bundle;
  const Result<Bytes> scratch =
      replay::scratch_of(bundle.topology, bundle.collective, bundle.schedule, outcome.threads);
  if (!scratch) {
    return scratch.error();
  }
  outcome.scratch = *scratch;
  return ok();
}

WriteOptions write_options(const Outcome& outcome, Progress& progress) {
  return {.threads = outcome.threads,
          .progress = [&progress](double share) { progress.update(share); }};
}

}  // namespace

Result<Outcome> outcome_of(const Topology& topology,
                           Result<Synthesis> synthesis,
                           const SynthesisOptions& options,
                           double seconds) {
  if (!synthesis) {
    return synthesis.error();
  }
  if (synthesis->status == SynthesisStatus::kInfeasible) {
    return unreachable_error(topology, *synthesis->unreachable);
  }
  return Outcome{.bundle = {.topology = topology,
                            .collective = std::move(*synthesis->collective),
                            .link_model = options.link_model,
                            .schedule = std::move(*synthesis->schedule),
                            .engine = synthesis->engine,
                            .seed = options.seed},
                 .trials = synthesis->trials,
                 .compared = std::move(synthesis->compared),
                 .threads = options.threads,
                 .effort = options.effort,
                 .synthesis_seconds = seconds,
                 .peaks = {}};
}

Status check_bound(const Outcome& outcome) {
  const Ticks time = outcome.bundle.schedule.collective_time();
  if (outcome.bound.best.time <= time) {
    return ok();
  }
  return Error{
      .code = ErrorCode::kInternal,
      .message = fmt::format(
          "the bound of {} ps is above the schedule's {} ps", outcome.bound.best.time.ps, time.ps),
      .where = outcome.bundle.topology.name()};
}

Json to_json(const Outcome& outcome) {
  const Bundle& bundle = outcome.bundle;
  Json json = problem_json(bundle.topology, bundle.collective);
  json["chunks_per_npu"] = chunks_per_npu(bundle.collective);
  json["engine"] = bundle.engine;
  json["seed"] = bundle.seed;
  json["effort"] = outcome.effort;
  json["trials"] = outcome.trials;
  json["threads"] = outcome.threads;
  json["link_model"] = to_string(bundle.link_model);
  json["collective_time_us"] = to_us(bundle.schedule.collective_time());
  json["algbw_GBps"] = outcome.algbw();
  json["busbw_GBps"] = outcome.busbw();
  add_bound(json, outcome.bound);
  json["efficiency"] = outcome.efficiency();
  if (const std::optional<Ticks> chunk_bound = outcome.chunk_bound()) {
    json["chunk_bound_us"] = to_us(*chunk_bound);
  }
  json["chunks"] = bundle.collective.num_chunks();
  json["form"] = to_string(bundle.collective.form());
  json["scratch_bytes"] = outcome.scratch.count;
  json["transfers"] = bundle.schedule.num_transfers();
  json["synthesis_seconds"] = outcome.synthesis_seconds;
  json["bound_seconds"] = outcome.bound_seconds;
  json["verify_seconds"] = outcome.verify_seconds;
  if (outcome.hash_seconds) {
    json["hash_seconds"] = *outcome.hash_seconds;
  }
  json["peak_rss_bytes"] = peak_rss_bytes();
  if (!outcome.peaks.empty()) {
    json["processes"] = outcome.peaks.size();
    json["synthesis_peak_rss_bytes"] = outcome.peaks;
  }
  json["verified"] = outcome.verified;
  json["schedule_hash"] = fmt::format("{:016x}", bundle.schedule.hash());
  return json;
}

void print_text(const Outcome& outcome, const Outputs& outputs) {
  std::FILE* const stream = report_stream(outputs);
  const Bundle& bundle = outcome.bundle;
  const Collective& collective = bundle.collective;
  emit(stream,
       "{} on {}: {}, {:.1f}% of the bound{}, verified\n\n",
       collective_text(collective),
       printable(bundle.topology.name()),
       format_time(bundle.schedule.collective_time()),
       100 * outcome.efficiency(),
       chunk_text(outcome));
  Table table;
  table.add("network",
            fmt::format("{} NPUs{}, {} links, {} model",
                        format_count(bundle.topology.num_npus()),
                        group_text(bundle),
                        format_count(bundle.topology.num_working_links()),
                        to_string(bundle.link_model)));
  table.add("buffer",
            fmt::format("{} in {} chunks{}",
                        format_size(collective.size()),
                        format_count(collective.num_chunks()),
                        scratch_text(outcome)));
  table.add(
      "bandwidth",
      fmt::format("{:.2f} GB/s algorithm, {:.2f} GB/s bus", outcome.algbw(), outcome.busbw()));
  table.add("bound",
            fmt::format("{} ({}): {}",
                        format_time(outcome.bound.best.time),
                        outcome.bound.best.name,
                        explain(bundle.topology, collective, outcome.bound.best.certificate)));
  table.add("engine", engine_text(outcome));
  table.add("schedule",
            fmt::format("{} transfers, hash {:016x}",
                        format_count(bundle.schedule.num_transfers()),
                        bundle.schedule.hash()));
  table.add("took",
            fmt::format("{:.3f} s to synthesize, {:.3f} s to bound, {:.3f} s to verify{}",
                        outcome.synthesis_seconds,
                        outcome.bound_seconds,
                        outcome.verify_seconds,
                        hash_text(outcome)));
  if (outputs.schedule) {
    table.add("written to", printable(*outputs.schedule));
  }
  table.print(stream);
}

ExitCode verify_outcome(Outcome& outcome, Team& team) {
  const Stopwatch watch;
  const Result<VerifyReport> report = verify_with_progress(outcome.bundle, outcome.threads, team);
  outcome.verify_seconds = watch.seconds();
  if (!report) {
    return fail(report.error());
  }
  outcome.verified = report->valid();
  if (!report->valid()) {
    complain(fmt::format("the schedule is wrong: {}", report->violations.front()));
    return ExitCode::kVerificationFailed;
  }
  return ExitCode::kGood;
}

Status complete(Outcome& outcome, const Outputs& outputs) {
  const Bundle& bundle = outcome.bundle;
  if (Status bounded = bound_outcome(outcome); !bounded) {
    return bounded;
  }
  if (Status measured = measure_scratch(outcome); !measured) {
    return measured;
  }
  measure_hash(outcome);
  if (outputs.schedule) {
    Progress progress("writing", bundle.schedule.num_transfers());
    Status written = write_bundle(bundle, *outputs.schedule, write_options(outcome, progress));
    if (!written) {
      return written;
    }
  }
  if (outputs.trace) {
    Progress progress("writing the trace", bundle.schedule.num_transfers());
    return write_trace(bundle, *outputs.trace, write_options(outcome, progress));
  }
  return ok();
}

ExitCode finish(Outcome& outcome, const Outputs& outputs, bool json) {
  if (const Status done = complete(outcome, outputs); !done) {
    return fail(done.error());
  }
  if (json) {
    print_object(to_json(outcome));
  } else {
    print_text(outcome, outputs);
  }
  return ExitCode::kGood;
}

}  // namespace tacos::cli
