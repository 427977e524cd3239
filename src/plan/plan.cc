// SPDX-License-Identifier: MIT
// A schedule is made for every power of two of the range, all at once on as many threads as there
// may be; of these as few are kept as suffice (plan/selection.h).
//
// O(collectives x sizes) syntheses, and O(collectives x sizes^2) simulations at most.
#include "tacos/plan.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "tacos/bound.h"
#include "tacos/bundle.h"

#include "base/files/file.h"
#include "base/parallel/cancel.h"
#include "base/parallel/jobs.h"
#include "base/parallel/progress.h"
#include "base/text/quantity.h"
#include "collective/resize.h"
#include "export/workshop.h"
#include "plan/candidates.h"
#include "plan/index.h"
#include "plan/selection.h"
#include "topology/hash.h"

namespace tacos {
namespace {

using planning::Choice;

/// A collective of a group: what is planned on its own.
struct Part {
  CollectiveName collective;
  std::vector<NodeId> participants;
  /// What the names of its files begin with.
  std::string stem;
};

/// The ends of the range, and the powers of two between them.
std::vector<Bytes> points_of(Bytes least, Bytes most) {
  std::vector<Bytes> points{least};
  for (std::int64_t size = 1; size < most.count; size *= 2) {
    if (size > least.count) {
      points.push_back({size});
    }
  }
  if (most > least) {
    points.push_back(most);
  }
  return points;
}

Status check_root(const CollectiveName& collective, const std::vector<NodeId>& group) {
  if (collective.root && !std::binary_search(group.begin(), group.end(), *collective.root)) {
    return input_error(fmt::format("root {} of {} is not in the group {}",
                                   collective.root->value(),
                                   to_string(collective.kind),
                                   planning::group_text(group)),
                       "--collectives");
  }
  return ok();
}

/// Whoever asks for the same gets the same plan.
std::string request_text(const Topology& topology, const PlanOptions& options) {
  std::string text = fmt::format("network {:016x} {}, sizes {} to {}, {}, effort {}, seed {}",
                                 network_hash(topology),
                                 topology.name(),
                                 options.least.count,
                                 options.most.count,
                                 to_string(options.link_model),
                                 options.effort,
                                 options.seed);
  if (options.format != nullptr) {
    text += fmt::format(", for {} {} {}",
                        options.format->name,
                        options.exported.in_place ? "in place" : "out of place",
                        options.exported.protocol);
  }
  for (const CollectiveName& one : options.collectives) {
    text += fmt::format(
        ", {}{}", to_string(one.kind), one.root ? fmt::format(":{}", one.root->value()) : "");
  }
  for (const std::vector<NodeId>& group : options.groups) {
    text += ", group " + planning::group_text(group);
  }
  return text + "\n";
}

class Planner {
 public:
  Planner(const Topology& topology, const PlanOptions& options, const exporting::Workshop& workshop)
      : topology_(topology),
        options_(options),
        workshop_(workshop),
        points_(points_of(options.least, options.most)),
        target_{options.format, options.exported} {}

  Status divide() {
    std::vector<std::vector<NodeId>> groups = options_.groups;
    const bool whole = groups.empty();
    if (whole) {
      groups.emplace_back();
      for (std::uint32_t npu = 0; npu < topology_.num_npus(); ++npu) {
        groups.back().emplace_back(npu);
      }
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const CollectiveName& one : options_.collectives) {
        if (Status member = check_root(one, groups[g]); !member) {
          return member;
        }
        const std::string root = one.root ? fmt::format("-{}", one.root->value()) : "";
        parts_.push_back({.collective = one,
                          .participants = groups[g],
                          .stem = fmt::format("{}{}{}",
                                              whole ? "" : fmt::format("group{}-", g + 1),
                                              to_string(one.kind),
                                              root)});
      }
    }
    return ok();
  }

  Result<Plan> run() {
    ThreadPool pool(options_.threads);
    const std::size_t jobs = parts_.size() * points_.size();
    JointProgress progress(options_.progress, jobs + parts_.size());
    candidates_.resize(jobs);
    std::vector<std::optional<Error>> errors(jobs);
    for_each_job(pool, jobs, [&](std::size_t job) {
      Result<Bundle> made = candidate(parts_[job / points_.size()], points_[job % points_.size()]);
      if (made) {
        candidates_[job] = *std::move(made);
      } else {
        errors[job] = made.error();
      }
      tell(progress, job);
    });
    std::vector<std::vector<PlanEntry>> entries(parts_.size());
    if (std::none_of(errors.begin(), errors.end(), [](const auto& one) { return one; })) {
      errors.resize(parts_.size());
      for_each_job(pool, parts_.size(), [&](std::size_t part) {
        Result<std::vector<PlanEntry>> chosen = choose(part);
        if (chosen) {
          entries[part] = *std::move(chosen);
        } else {
          errors[part] = chosen.error();
        }
        tell(progress, jobs + part);
      });
    }
    const auto error =
        std::find_if(errors.begin(), errors.end(), [](const auto& one) { return one; });
    if (error != errors.end()) {
      return **error;
    }
    Plan plan{.network = topology_.name(),
              .network_hash = network_hash(topology_),
              .npus = topology_.num_npus(),
              .link_model = options_.link_model,
              .seed = options_.seed,
              .effort = options_.effort,
              .format = std::string(options_.format != nullptr ? options_.format->name : ""),
              .least = options_.least,
              .most = options_.most,
              .entries = {}};
    for (std::vector<PlanEntry>& some : entries) {
      std::move(some.begin(), some.end(), std::back_inserter(plan.entries));
    }
    return plan;
  }

 private:
  static void tell(JointProgress& progress, std::size_t part) {
    if (const auto done = progress.part(part)) {
      done(1);
    }
  }

  /// The best schedule for a size: from an earlier call, or made now.
  Result<Bundle> candidate(const Part& part, Bytes size) const {
    const std::string name = fmt::format("{}-{}.tacos", part.stem, size.count);
    if (std::optional<Bundle> kept = workshop_.find(name);
        kept && planning::check(*kept) && planning::takes(target_, *kept)) {
      return *std::move(kept);
    }
    const Problem problem{.kind = part.collective.kind,
                          .size = size,
                          .participants = part.participants,
                          .root = part.collective.root};
    const SynthesisOptions options{
        .link_model = options_.link_model, .seed = options_.seed, .effort = options_.effort};
    // Runtimes know nobody but the ranks.
    const bool runtime = options_.format != nullptr && options_.format->runtime;
    Result<Bundle> made =
        runtime ? planning::best_bundle(
                      without_relays(topology_, part.participants), problem, options, target_)
                : planning::best_bundle(topology_, problem, options, target_);
    if (!made) {
      const bool cut_off = runtime && made.error().code == ErrorCode::kInfeasible;
      return Error{.code = made.error().code,
                   .message = made.error().message +
                              (cut_off ? fmt::format("; for {} nobody but the ranks relays",
                                                     options_.format->name)
                                       : std::string()),
                   .where = fmt::format("{} of {}", to_string(problem.kind), format_size(size))};
    }
    if (Status kept = workshop_.keep(name, *made); !kept) {
      return kept.error();
    }
    return made;
  }

  /// Of the schedules of a part the few that are enough.
  Result<std::vector<PlanEntry>> choose(std::size_t part) const {
    const std::span<const std::optional<Bundle>> bundles(candidates_.data() + part * points_.size(),
                                                         points_.size());
    const Result<std::vector<Choice>> choices = planning::select(bundles, points_);
    if (!choices) {
      return choices.error();
    }
    std::vector<PlanEntry> entries;
    entries.reserve(choices->size());
    for (const Choice& choice : *choices) {
      Result<PlanEntry> entry =
          write(parts_[part], *bundles[choice.candidate], choice, entries.size() + 1);
      if (!entry) {
        return entry.error();
      }
      entries.push_back(*std::move(entry));
    }
    return entries;
  }

  /// Writes the files of an entry, and says what it takes.
  Result<PlanEntry> write(const Part& part,
                          const Bundle& bundle,
                          const Choice& choice,
                          std::size_t number) const {
    const Collective& collective = bundle.collective;
    const std::string stem = fmt::format("{}-{}", part.stem, number);
    PlanEntry entry{
        .kind = collective.kind(),
        .root = is_rooted(collective.kind()) ? std::optional(collective.root()) : std::nullopt,
        .participants = part.participants,
        .least = choice.least,
        .most = choice.most,
        .file = stem + ".tacos",
        .exported = {},
        .engine = bundle.engine,
        .form = collective.form(),
        .chunks = collective.chunk_argument(),
        .points = {}};
    if (Status right = planning::check_without_times(bundle); !right) {
      return right.error();
    }
    if (Status written = write_bundle(bundle, workshop_.path(entry.file)); !written) {
      return written.error();
    }
    if (options_.format != nullptr) {
      entry.exported = fmt::format("{}{}", stem, options_.format->suffix);
      ExportOptions options = options_.exported;
      options.min_bytes = static_cast<std::uint64_t>(choice.least.count);
      options.max_bytes = static_cast<std::uint64_t>(choice.most.count);
      const Status exported =
          export_schedule(bundle, *options_.format, workshop_.path(entry.exported), options);
      if (!exported) {
        return exported.error();
      }
    }
    for (std::size_t j = choice.first; j <= choice.last; ++j) {
      Result<PlanPoint> point = measure(bundle, points_[j]);
      if (!point) {
        return point.error();
      }
      entry.points.push_back(*point);
    }
    return entry;
  }

  static Result<PlanPoint> measure(const Bundle& bundle, Bytes size) {
    const Result<Ticks> time = planning::time_at(bundle, size);
    const Result<Collective> collective = resized(bundle.collective, size);
    if (!time || !collective) {
      return time ? collective.error() : time.error();
    }
    const Result<BoundReport> bound = compute_bounds(
        bundle.topology,
        *collective,
        {.effort = effort_beside_schedule(bundle.topology), .link_model = bundle.link_model});
    if (!bound) {
      return bound.error();
    }
    return PlanPoint{.size = size, .time = *time, .bound = bound->best.time};
  }

  const Topology& topology_;
  const PlanOptions& options_;
  const exporting::Workshop& workshop_;
  std::vector<Bytes> points_;
  planning::Target target_;
  std::vector<Part> parts_;
  /// By part and point.
  std::vector<std::optional<Bundle>> candidates_;
};

Result<Plan> plan_all(const Topology& topology,
                      const PlanOptions& options,
                      const std::string& folder) {
  const Result<exporting::Workshop> workshop = exporting::Workshop::open(
      folder, {.index = kPlanIndex, .name = "plan"}, request_text(topology, options));
  if (!workshop) {
    return workshop.error();
  }
  Planner planner(topology, options, *workshop);
  if (Status divided = planner.divide(); !divided) {
    return divided.error();
  }
  Result<Plan> plan = planner.run();
  if (!plan) {
    return plan;
  }
  if (Status written = write_text_file(workshop->path(kPlanIndex), planning::index_text(*plan));
      !written) {
    return written.error();
  }
  if (Status finished = workshop->finish(); !finished) {
    return finished.error();
  }
  return plan;
}

}  // namespace

Result<Plan> make_plan(const Topology& topology,
                       const PlanOptions& options,
                       const std::string& folder) {
  return cancellable(options.cancel, [&] { return plan_all(topology, options, folder); });
}

}  // namespace tacos
