// SPDX-License-Identifier: MIT
// Runtimes limit the steps of a program, which grow with its chunks, so the chunk counts that fit
// are those up to some number: found by halving in O(log chunks) syntheses.
#include "plan/candidates.h"

#include <bit>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "tacos/lower.h"
#include "tacos/simulate.h"
#include "tacos/verify.h"

#include "collective/resize.h"
#include "plan/cover.h"
#include "topology/unreachable.h"
#include "verify/program_check.h"

namespace tacos::planning {
namespace {

/// Runtimes take a program only for buffers that its chunks divide evenly. Buffers are powers of
/// two, mostly, times the number of participants where everybody has a part.
bool divides_evenly(const Collective& collective) {
  auto chunks = static_cast<std::uint64_t>(collective.chunk_argument());
  chunks >>= static_cast<unsigned>(std::countr_zero(chunks));
  return collective.num_participants() % chunks == 0;
}

/// Searches what a target takes.
class FittingSearch {
 public:
  FittingSearch(const Topology& topology,
                Problem problem,
                const SynthesisOptions& options,
                const Target& target)
      : topology_(topology), problem_(std::move(problem)), options_(options), target_(target) {}

  /// Powers of two below a number of chunks: the most that fit, and half of them.
  Status by_chunks(std::int64_t below) {
    int fits = -1;
    int fails = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(below - 1)));
    while (fits + 1 < fails) {
      const int middle = (fits + fails) / 2;
      const Result<bool> good = try_chunks(std::int64_t{1} << middle);
      if (!good) {
        return good.error();
      }
      (*good ? fits : fails) = middle;
    }
    if (fits > 0) {
      if (const Result<bool> half = try_chunks(std::int64_t{1} << (fits - 1)); !half) {
        return half.error();
      }
    }
    return ok();
  }

  /// Engines by name, with the chunks that they choose and with one.
  Status by_engine() {
    for (const std::string_view name : engine_names()) {
      problem_.chunks.reset();
      if (name == "auto" || !engine_handles(name, topology_, problem_)) {
        continue;
      }
      options_.engine = name;
      for (const std::optional<std::int64_t> chunks : {std::optional<std::int64_t>(), {1}}) {
        problem_.chunks = chunks;
        if (const Result<bool> tried = attempt(); !tried) {
          return tried.error();
        }
      }
    }
    return ok();
  }

  [[nodiscard]] std::optional<Bundle>& best() { return best_; }

 private:
  Result<bool> try_chunks(std::int64_t chunks) {
    problem_.chunks = chunks;
    return attempt();
  }
  /// Whether there is a schedule that fits; the best of them is kept.
  Result<bool> attempt() {
    Result<Bundle> bundle = make_bundle(topology_, problem_, options_);
    if (!bundle) {
      // Too small for so many chunks, or not for this engine.
      return bundle.error().code == ErrorCode::kInput ? Result<bool>(false) : bundle.error();
    }
    if (!takes(target_, *bundle)) {
      return false;
    }
    if (!best_ || bundle->schedule.collective_time() < best_->schedule.collective_time()) {
      best_ = *std::move(bundle);
    }
    return true;
  }

  const Topology& topology_;
  Problem problem_;
  SynthesisOptions options_;
  const Target& target_;
  std::optional<Bundle> best_;
};

}  // namespace

Status check(const Bundle& bundle) {
  const Result<VerifyReport> report = verify(
      bundle.topology, bundle.collective, bundle.schedule, {.link_model = bundle.link_model});
  if (!report) {
    return report.error();
  }
  if (!report->valid()) {
    return Error{.code = ErrorCode::kInternal,
                 .message = "the schedule is wrong: " + report->violations.front(),
                 .where = bundle.topology.name()};
  }
  return ok();
}

Status check_without_times(const Bundle& bundle) {
  const Result<Program> program = lower(bundle.topology, bundle.collective, bundle.schedule);
  if (!program) {
    return program.error();
  }
  const ProgramReport report = check_program(*program, 1);
  if (!report.valid()) {
    return Error{.code = ErrorCode::kInternal,
                 .message = "the program is wrong: " + report.violations.front(),
                 .where = bundle.topology.name()};
  }
  return ok();
}

Result<Bundle> make_bundle(const Topology& topology,
                           const Problem& problem,
                           const SynthesisOptions& options) {
  Result<Synthesis> made = synthesize(topology, problem, options);
  if (!made) {
    return made.error();
  }
  if (made->status == SynthesisStatus::kInfeasible) {
    return unreachable_error(topology, *made->unreachable);
  }
  Bundle bundle{.topology = topology,
                .collective = *std::move(made->collective),
                .link_model = options.link_model,
                .schedule = *std::move(made->schedule),
                .engine = made->engine,
                .seed = options.seed};
  if (Status right = check(bundle); !right) {
    return right.error();
  }
  return bundle;
}

Status takes(const Target& target, const Bundle& bundle) {
  if (target.format == nullptr || !target.format->runtime) {
    return ok();
  }
  const Result<std::string> text = target.format->text(bundle, target.options);
  if (!text) {
    return text.error();
  }
  if (!divides_evenly(bundle.collective)) {
    return input_error(fmt::format(
        "{} chunks divide few buffers evenly, and {} takes a program only for those that they do",
        bundle.collective.chunk_argument(),
        target.format->name));
  }
  return ok();
}

Result<Bundle> best_bundle(const Topology& topology,
                           const Problem& problem,
                           const SynthesisOptions& options,
                           const Target& target) {
  Result<Bundle> first = make_bundle(topology, problem, options);
  if (!first) {
    return first;
  }
  const Status taken = takes(target, *first);
  if (taken) {
    return first;
  }
  FittingSearch search(topology, problem, options, target);
  if (Status searched = search.by_chunks(first->collective.chunk_argument()); !searched) {
    return searched.error();
  }
  if (!search.best()) {
    if (Status searched = search.by_engine(); !searched) {
      return searched.error();
    }
  }
  return search.best() ? Result<Bundle>(*std::move(search.best())) : taken.error();
}

Result<std::optional<Bundle>> smaller_bundle(const Bundle& bundle, const Target& target) {
  const Collective& collective = bundle.collective;
  if (collective.kind() == CollectiveKind::kCustom) {
    return std::optional<Bundle>();
  }
  const auto all = collective.participants();
  const Problem problem{
      .kind = collective.kind(),
      .size = collective.size(),
      .participants = {all.begin(), all.end()},
      .root = is_rooted(collective.kind()) ? std::optional(collective.root()) : std::nullopt,
      .form = collective.form()};
  const SynthesisOptions options{
      .engine = bundle.engine, .link_model = bundle.link_model, .seed = bundle.seed};
  FittingSearch search(bundle.topology, problem, options, target);
  if (Status searched = search.by_chunks(collective.chunk_argument()); !searched) {
    return searched.error();
  }
  if (!search.best()) {
    if (Status searched = search.by_engine(); !searched) {
      return searched.error();
    }
  }
  return std::move(search.best());
}

Result<Ticks> time_at(const Bundle& bundle, Bytes size) {
  const Result<Collective> collective = resized(bundle.collective, size);
  if (!collective) {
    return kNever;
  }
  const ChunkTable& chunks = collective->chunks();
  if (!check_times(bundle.topology, chunks.max_bytes(), chunks.size())) {
    return kNever;
  }
  const Result<Simulation> simulation = simulate(
      bundle.topology,
      bundle.collective,
      bundle.schedule,
      {.link_model = bundle.link_model, .collective = &*collective, .critical_path = false});
  return simulation ? Result<Ticks>(simulation->time) : simulation.error();
}

}  // namespace tacos::planning
