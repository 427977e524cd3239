// SPDX-License-Identifier: MIT
#include "c10d/running_job.h"

#include <utility>

#include <fmt/format.h>

namespace tacos::torch_backend {
namespace {

using Clock = std::chrono::steady_clock;

/// Whether a rank has its result only after everybody has called: those of the root's choosing
/// have not.
bool waits_for_all(const Job& job, std::uint32_t rank) {
  const CollectiveTraits& of = traits(job.kind);
  return !of.rooted() ||
         (of.after == Holder::kRoot && rank == static_cast<std::uint32_t>(job.root));
}

}  // namespace

RunningJob::RunningJob(Job job, const Tools& tools) : job_(std::move(job)), tools_(tools) {}

Status RunningJob::start() {
  if (!job_.refusal.empty()) {
    return ok();
  }
  if (job_.before) {
    job_.before();
  }
  if (job_.barrier) {
    why_directly_ = "barrier";
    moved_ = true;
    return ok();
  }
  if (job_.may_be_unequal()) {
    undecided_ = true;
    return ok();
  }
  return choose();
}

Status RunningJob::choose() {
  const bool unequal = job_.may_be_unequal() &&
                       (job_.signature.count == kUnequal || tools_.words.unequal(job_.number));
  if (unequal) {
    go_directly("unequal parts");
    return ok();
  }
  job_.sent_bytes.clear();
  job_.received_bytes.clear();
  if (!job_.unserved.empty() || tools_.ranks == 1 || job_.call.count == 0) {
    go_directly(!job_.unserved.empty() ? job_.unserved : tools_.ranks == 1 ? "one rank" : "empty");
    return ok();
  }
  const std::optional<Schedules::Use> use = tools_.schedules.find(job_.kind, job_.root, job_.call);
  if (!use) {
    go_directly("no schedule for it");
    return ok();
  }
  schedule_ = tools_.schedules.loaded(*use);
  if (schedule_ == nullptr) {
    loads_ = use;
    return ok();
  }
  return schedule_->start(job_.call);
}

void RunningJob::go_directly(std::string reason) {
  why_directly_ = std::move(reason);
  direct_ = std::make_unique<DirectRun>(job_, tools_.messenger, tools_.rank, tools_.ranks);
}

Status RunningJob::load() {
  const Schedules::Use use = *std::exchange(loads_, std::nullopt);
  try {
    schedule_ = tools_.schedules.load(use, tools_.team, tools_.transport);
  } catch (const std::exception& error) {
    return failed(error.what());
  }
  if (schedule_ == nullptr) {
    go_directly(tools_.schedules.reason());
    return ok();
  }
  return schedule_->start(job_.call);
}

Status RunningJob::check_others() const {
  if (const std::optional<std::uint32_t> gone = tools_.words.deserter()) {
    return failed(fmt::format("rank {} has left the group", *gone));
  }
  if (Clock::now() - started_ > tools_.timeout) {
    return failed(fmt::format("{} did not end within {} s",
                              job_.title,
                              std::chrono::duration<double>(tools_.timeout).count()));
  }
  return ok();
}

Result<bool> RunningJob::advance() {
  if (!job_.refusal.empty()) {
    return true;
  }
  if (const Status others = check_others(); !others) {
    return others.error();
  }
  if ((loads_ || undecided_) && !tools_.words.all_called()) {
    return false;
  }
  if (std::exchange(undecided_, false)) {
    if (const Status chosen = choose(); !chosen) {
      return chosen.error();
    }
  }
  if (loads_) {
    if (const Status loaded = load(); !loaded) {
      return loaded.error();
    }
  }
  if (!moved_) {
    const Result<bool> done = schedule_ != nullptr ? schedule_->advance() : direct_->advance();
    if (!done) {
      return done.error();
    }
    moved_ = *done;
  }
  return moved_ && (!waits_for_all(job_, tools_.rank) || tools_.words.all_called());
}

bool RunningJob::pause() {
  if (schedule_ == nullptr || moved_) {
    return false;
  }
  schedule_->pause();
  return true;
}

}  // namespace tacos::torch_backend
