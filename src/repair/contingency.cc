// SPDX-License-Identifier: MIT
// A schedule for the whole network is made once; a repairer then answers one failure of each kind
// that is left when symmetries are taken into account, on as many threads as there may be.
//
// An answer that keeps most of that schedule is a file of what differs from it, another a schedule.
// Beside each there is its row of the index while the work goes on, written when the answer is
// complete: a call that continues an interrupted one takes rows whose files have the bytes that
// they had, and makes no other twice.
#include "tacos/contingency.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tacos/bound.h"
#include "tacos/verify.h"

#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "base/parallel/cancel.h"
#include "base/parallel/jobs.h"
#include "base/parallel/progress.h"
#include "export/workshop.h"
#include "repair/contingency_index.h"
#include "repair/failure_orbits.h"
#include "repair/moved.h"
#include "topology/automorphisms.h"
#include "topology/hash.h"
#include "topology/unreachable.h"

namespace tacos {
namespace {

using repairing::FailureOrbits;

constexpr const char* kBase = "base.tacos";
/// Endings of files: a schedule, what differs from the base, and a row of the index.
constexpr std::string_view kWhole = ".tacos";
constexpr std::string_view kDifferent = ".json";
constexpr std::string_view kRow = ".row";

/// Of what is asked for: the chunks, which engines choose, do not count.
std::uint64_t hash_of(const Collective& collective) {
  StreamHash hash;
  hash.add(static_cast<std::uint64_t>(collective.kind()));
  hash.add(static_cast<std::uint64_t>(collective.size().count));
  hash.add(is_rooted(collective.kind()) ? collective.root().value() : 0);
  for (const NodeId npu : collective.participants()) {
    hash.add(npu.value());
  }
  if (collective.kind() == CollectiveKind::kCustom) {
    for (const char letter : collective_to_json(collective)) {
      hash.add(static_cast<unsigned char>(letter));
    }
  }
  return hash.value();
}

std::string collective_name(const Collective& collective) {
  return is_rooted(collective.kind())
             ? fmt::format("{}:{}", collective.name(), collective.root().value())
             : std::string(collective.name());
}

std::string request_text(const Topology& topology,
                         const Problem& problem,
                         const ContingencyOptions& options) {
  std::string text = fmt::format("network {:016x} {}, {} of {}, {}, effort {}, seed {}, root {}:",
                                 network_hash(topology),
                                 topology.name(),
                                 to_string(problem.kind),
                                 problem.size.count,
                                 to_string(options.link_model),
                                 options.effort,
                                 options.seed,
                                 problem.root.value_or(problem.participants.front()).value());
  for (const NodeId npu : problem.participants) {
    text += fmt::format(" {}", npu.value());
  }
  text += problem.custom ? collective_to_json(*problem.custom) : std::string();
  text += '\n';
  return text;
}

bool is_right(const Bundle& bundle) {
  const Result<VerifyReport> report = verify(
      bundle.topology, bundle.collective, bundle.schedule, {.link_model = bundle.link_model});
  return report && report->valid();
}

Result<Ticks> bound_of(const Bundle& bundle) {
  const Result<BoundReport> bound = compute_bounds(
      bundle.topology,
      bundle.collective,
      {.effort = effort_beside_schedule(bundle.topology), .link_model = bundle.link_model});
  return bound ? Result<Ticks>(bound->best.time) : bound.error();
}

/// Our own mistake.
Error wrong(const std::string& name) {
  return {.code = ErrorCode::kInternal, .message = "the schedule is wrong", .where = name};
}

Status keep_right(const exporting::Workshop& workshop,
                  const std::string& name,
                  const Bundle& bundle) {
  return is_right(bundle) ? workshop.keep(name, bundle) : Status(wrong(name));
}

Result<Bundle> base_schedule(const Topology& topology,
                             const Problem& problem,
                             const ContingencyOptions& options,
                             const exporting::Workshop& workshop) {
  if (std::optional<Bundle> kept = workshop.find(kBase); kept && is_right(*kept)) {
    return *std::move(kept);
  }
  Result<Synthesis> made = synthesize(topology,
                                      problem,
                                      {.link_model = options.link_model,
                                       .seed = options.seed,
                                       .effort = options.effort,
                                       .threads = options.threads});
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
                .engine = std::move(made->engine),
                .seed = options.seed};
  if (Status kept = keep_right(workshop, kBase, bundle); !kept) {
    return kept.error();
  }
  return bundle;
}

/// `link-3-4` and an ending.
std::string file_of(std::string failure, std::string_view ending) {
  std::replace(failure.begin(), failure.end(), ':', '-');
  return failure.append(ending);
}

/// Whether an error says that nothing can be done, rather than that something went wrong.
bool is_hopeless(const Error& error) {
  return error.code == ErrorCode::kInfeasible || error.code == ErrorCode::kInput;
}

/// Writes what differs where that is less; the name of the file.
Result<std::string> keep_answer(const exporting::Workshop& workshop,
                                const std::string& failure,
                                const Repair& repair) {
  if (repair.difference.empty()) {
    std::string name = file_of(failure, kWhole);
    const Status kept = keep_right(workshop, name, repair.bundle);
    return kept ? Result<std::string>(std::move(name)) : kept.error();
  }
  std::string name = file_of(failure, kDifferent);
  if (!is_right(repair.bundle)) {
    return wrong(name);
  }
  const Status kept = workshop.keep_text(name, repair.difference);
  return kept ? Result<std::string>(std::move(name)) : kept.error();
}

Result<Contingency> make_answer(const Repairer& repairer,
                                const std::string& failure,
                                const exporting::Workshop& workshop) {
  Contingency row;
  row.failure = failure;
  row.like = failure;
  const Result<Repair> repair = repairer.repair({.failures = {failure}}, {.with_difference = true});
  if (!repair && is_hopeless(repair.error())) {
    return row;
  }
  if (!repair) {
    return repair.error();
  }
  Result<std::string> name = keep_answer(workshop, failure, *repair);
  const Result<Ticks> bound = bound_of(repair->bundle);
  if (!name || !bound) {
    return name ? bound.error() : name.error();
  }
  row.file = *std::move(name);
  row.time = repair->bundle.schedule.collective_time();
  row.bound = *bound;
  row.kept_transfers = repair->kept_transfers;
  row.new_transfers = repair->new_transfers;
  return row;
}

/// Of an answer that is there and whole.
std::optional<std::uint64_t> file_hash(const exporting::Workshop& workshop,
                                       const std::string& name) {
  if (name.ends_with(kDifferent)) {
    const std::optional<std::string> text = workshop.find_text(name);
    return text ? std::optional(repairing::text_hash(*text)) : std::nullopt;
  }
  // Reading it checks its bytes.
  const std::optional<Bundle> bundle = workshop.find(name);
  return bundle ? std::optional(bundle->schedule.hash() ^ network_hash(bundle->topology))
                : std::nullopt;
}

Result<Contingency> answer(const Repairer& repairer,
                           const std::string& failure,
                           const exporting::Workshop& workshop) {
  const std::string beside = file_of(failure, kRow);
  if (const std::optional<std::string> text = workshop.find_text(beside)) {
    std::optional<Contingency> row = repairing::parse_row(
        *text, [&](const std::string& name) { return file_hash(workshop, name); });
    if (row && row->failure == failure) {
      return *std::move(row);
    }
  }
  Result<Contingency> row = make_answer(repairer, failure, workshop);
  if (!row) {
    return row;
  }
  const std::optional<std::uint64_t> hash =
      row->possible() ? file_hash(workshop, row->file) : std::optional<std::uint64_t>(0);
  if (hash) {
    if (Status kept = workshop.keep_text(beside, repairing::row_text(*row, *hash)); !kept) {
      return kept.error();
    }
  }
  return row;
}

Result<std::vector<Contingency>> answer_all(const Repairer& repairer,
                                            const FailureOrbits& failures,
                                            const ContingencyOptions& options,
                                            const exporting::Workshop& workshop) {
  const auto count = static_cast<std::uint32_t>(failures.all().size());
  std::vector<std::uint32_t> jobs;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (failures.representative(i) == i) {
      jobs.push_back(i);
    }
  }
  std::vector<std::optional<Result<Contingency>>> answers(count);
  JointProgress progress(options.progress, jobs.size());
  ThreadPool pool(options.threads);
  for_each_job(pool, jobs.size(), [&](std::size_t job) {
    answers[jobs[job]] = answer(repairer, failures.all()[jobs[job]].spec(), workshop);
    if (const auto done = progress.part(job)) {
      done(1);
    }
  });
  std::vector<Contingency> rows;
  rows.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Result<Contingency>& one = *answers[failures.representative(i)];
    if (!one) {
      return one.error();
    }
    rows.push_back(*one);
    rows.back().failure = failures.all()[i].spec();
  }
  return rows;
}

Status deliver(const exporting::Workshop& workshop, const ContingencyPlan& plan) {
  if (Status moved = workshop.deliver(kBase); !moved) {
    return moved;
  }
  for (const Contingency& row : plan.rows) {
    if (row.possible() && row.failure == row.like) {
      if (Status moved = workshop.deliver(row.file); !moved) {
        return moved;
      }
    }
  }
  if (Status written =
          write_text_file(workshop.path(kContingencyIndex), repairing::index_text(plan));
      !written) {
    return written;
  }
  return workshop.finish();
}

Status check_plan(const ContingencyPlan& plan, const Bundle& bundle, const std::string& folder) {
  if (plan.network_hash != network_hash(bundle.topology)) {
    return input_error(fmt::format("is for another network, {}", plan.network), folder);
  }
  if (plan.collective_hash != hash_of(bundle.collective) || plan.link_model != bundle.link_model) {
    return input_error(fmt::format("is for another collective, {} under the {} model, or another "
                                   "size or group",
                                   plan.collective,
                                   to_string(plan.link_model)),
                       folder);
  }
  return ok();
}

/// A whole schedule, or that for the whole network and what differs.
Result<Bundle> read_answer(const std::string& folder, const Contingency& row) {
  const auto path = [&](const std::string& name) {
    return (std::filesystem::path(folder) / name).string();
  };
  if (!row.file.ends_with(kDifferent)) {
    return read_bundle(path(row.file));
  }
  const Result<std::string> difference = read_text_file(path(row.file));
  Result<Bundle> base = read_bundle(path(kBase));
  if (!difference || !base) {
    return difference ? base.error() : difference.error();
  }
  const Result<Repairer> repairer = Repairer::make(*std::move(base));
  if (!repairer) {
    return repairer.error();
  }
  Result<Repair> repair = repairer->rebuild({.failures = {row.like}}, *difference, path(row.file));
  return repair ? Result<Bundle>(std::move(repair->bundle)) : repair.error();
}

/// The participants of an answer where a symmetry takes it.
Result<Collective> collective_there(const Collective& collective, const Permutation& nodes) {
  std::vector<NodeId> participants;
  participants.reserve(collective.num_participants());
  for (const NodeId npu : collective.participants()) {
    participants.emplace_back(nodes[npu.index()]);
  }
  std::sort(participants.begin(), participants.end());
  return Collective::make(
      collective.kind(),
      collective.size(),
      collective.chunk_argument(),
      std::move(participants),
      is_rooted(collective.kind()) ? std::optional(collective.root()) : std::nullopt,
      collective.form());
}

/// The answer to a failure that is like the one that the file is for.
Result<std::optional<Repair>> take_along(const Contingency& row,
                                         const Bundle& whole,
                                         const Bundle& answer) {
  const FailureOrbits failures(whole.topology, whole.collective);
  const std::optional<std::uint32_t> failure = failures.find(row.failure);
  if (!failure || failures.all()[failures.representative(*failure)].spec() != row.like) {
    return std::optional<Repair>();
  }
  const Permutation nodes = failures.symmetry_to(*failure);
  const Permutation links = link_permutation(whole.topology, nodes);
  Result<Collective> collective = collective_there(answer.collective, nodes);
  Result<DegradedTopology> now =
      apply_failures(whole.topology, std::vector<std::string>{row.failure});
  if (!collective || !now) {
    return collective ? now.error() : collective.error();
  }
  Result<std::optional<Schedule>> schedule = repairing::moved(answer, *collective, nodes, links);
  if (!schedule) {
    return schedule.error();
  }
  if (!*schedule) {
    return std::optional<Repair>();
  }
  return std::optional(Repair{.bundle = {.topology = std::move(now->topology),
                                         .collective = *std::move(collective),
                                         .link_model = answer.link_model,
                                         .schedule = **std::move(schedule),
                                         .engine = answer.engine,
                                         .seed = answer.seed},
                              .kept_transfers = row.kept_transfers,
                              .new_transfers = row.new_transfers});
}

Result<ContingencyPlan> plan_answers(const Topology& topology,
                                     const Problem& problem,
                                     const ContingencyOptions& options,
                                     const std::string& folder) {
  const Result<exporting::Workshop> workshop =
      exporting::Workshop::open(folder,
                                {.index = kContingencyIndex, .name = "contingency plan"},
                                request_text(topology, problem, options));
  if (!workshop) {
    return workshop.error();
  }
  Result<Bundle> base = base_schedule(topology, problem, options, *workshop);
  if (!base) {
    return base.error();
  }
  const Result<Ticks> bound = bound_of(*base);
  const Result<Repairer> repairer = Repairer::make(*base);
  if (!bound || !repairer) {
    return bound ? repairer.error() : bound.error();
  }
  const FailureOrbits failures(topology, base->collective);
  Result<std::vector<Contingency>> rows = answer_all(*repairer, failures, options, *workshop);
  if (!rows) {
    return rows.error();
  }
  ContingencyPlan plan{.network = topology.name(),
                       .network_hash = network_hash(topology),
                       .collective_hash = hash_of(base->collective),
                       .collective = collective_name(base->collective),
                       .link_model = options.link_model,
                       .time = base->schedule.collective_time(),
                       .bound = *bound,
                       .rows = *std::move(rows)};
  if (Status done = deliver(*workshop, plan); !done) {
    return done.error();
  }
  return plan;
}

}  // namespace

const Contingency* ContingencyPlan::worst() const {
  const Contingency* worst = nullptr;
  for (const Contingency& row : rows) {
    if (row.possible() && (worst == nullptr || row.time > worst->time)) {
      worst = &row;
    }
  }
  return worst;
}

Result<ContingencyPlan> make_contingency(const Topology& topology,
                                         const Problem& problem,
                                         const ContingencyOptions& options,
                                         const std::string& folder) {
  return cancellable(options.cancel,
                     [&] { return plan_answers(topology, problem, options, folder); });
}

Result<ContingencyPlan> read_contingency(const std::string& folder) {
  namespace fs = std::filesystem;
  const std::string path = (fs::path(folder) / kContingencyIndex).string();
  const Result<std::string> text = read_text_file(path);
  if (!text) {
    return input_error(fmt::format("is no contingency plan: {}", text.error().to_string()), folder);
  }
  Result<ContingencyPlan> plan = repairing::parse_index(*text, path);
  if (!plan) {
    return plan;
  }
  for (const Contingency& row : plan->rows) {
    if (row.possible() && !fs::exists(fs::path(folder) / row.file)) {
      return input_error(fmt::format("{} is missing; make the contingency plan again", row.file),
                         folder);
    }
  }
  return plan;
}

Result<std::optional<Repair>> find_contingency(const std::string& folder,
                                               const Bundle& bundle,
                                               const NetworkChange& change) {
  const Result<ContingencyPlan> plan = read_contingency(folder);
  if (!plan) {
    return plan.error();
  }
  if (Status fits = check_plan(*plan, bundle, folder); !fits) {
    return fits.error();
  }
  if (!change.restored.empty() || change.failures.size() != 1) {
    return std::optional<Repair>();
  }
  const std::string& asked = change.failures.front();
  const std::size_t colon = asked.find(':');
  const std::size_t dash = asked.find('-');
  const std::string turned =
      colon == std::string::npos || dash == std::string::npos
          ? asked
          : fmt::format(
                "link:{}-{}", asked.substr(dash + 1), asked.substr(colon + 1, dash - colon - 1));
  const bool is_link = asked.starts_with("link:");
  const auto row = std::find_if(plan->rows.begin(), plan->rows.end(), [&](const Contingency& one) {
    return one.failure == asked || (is_link && one.failure == turned);
  });
  if (row == plan->rows.end() || !row->possible()) {
    return std::optional<Repair>();
  }
  Result<Bundle> answer = read_answer(folder, *row);
  if (!answer) {
    return answer.error();
  }
  if (row->like != row->failure) {
    return take_along(*row, bundle, *answer);
  }
  return std::optional(Repair{.bundle = *std::move(answer),
                              .kept_transfers = row->kept_transfers,
                              .new_transfers = row->new_transfers});
}

}  // namespace tacos
