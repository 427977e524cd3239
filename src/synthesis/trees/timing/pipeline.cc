// SPDX-License-Identifier: MIT
// A listed schedule takes 4 to 5 bytes a transfer. An unlisted one takes what its trees and legs
// do, about 100 bytes per tree and NPU, and 0.1 us a transfer each time it is read.
#include "synthesis/trees/timing/pipeline.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/numbers/wide.h"
#include "schedule/blocks/block.h"
#include "schedule/builder.h"
#include "schedule/source.h"

namespace tacos::trees {
namespace {

/// Longest remaining way counts this many times against the order of chunks.
constexpr std::int64_t kTailWeight = 2;

/// What list scheduling needs, in one place.
class Pipeline {
 public:
  using Record = std::function<void(const Transfer& transfer, Ticks end)>;

  Pipeline(const PipelineTask& task, const Draft& draft, Record record)
      : chunks_(task.size, draft.chunks),
        costs_(task.topology, task.fabric, chunks_.max_bytes(), task.model),
        legs_(task.fabric, draft.packing, draft.shape.top, false),
        sharing_(sharing_of(task.fabric, costs_, draft.shape.sharing)),
        problem_{task.fabric, legs_, costs_, sharing_, draft.chunks, task.job.unit()},
        urgency_(draft.urgency ? Urgency{.base = {}, .step = 0, .table = &*draft.urgency}
                               : by_formula(legs_, costs_, draft.packing)),
        output_{.ends = nullptr,
                .record = std::move(record),
                .topology = &task.topology,
                .chunks = &chunks_},
        scheduler_(problem_, urgency_, output_) {}
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  bool step() { return scheduler_.step(); }

 private:
  ChunkTable chunks_;
  HopCosts costs_;
  Legs legs_;
  TransferSharing sharing_;
  LegProblem problem_;
  Urgency urgency_;
  LegOutput output_;
  LegScheduler scheduler_;
};

void run(const PipelineTask& task, const Draft& draft, ScheduleBuilder& builder) {
  Pipeline pipeline(task, draft, [&builder](const Transfer& transfer, Ticks end) {
    builder.append(transfer, end);
  });
  while (pipeline.step()) {
  }
}

/// Owns what a task refers to.
struct OwnTask {
  Topology topology;
  Fabric fabric;
  Job job;
  Bytes size;
  LinkModel model;

  [[nodiscard]] PipelineTask task() const { return {topology, fabric, job, size, model}; }
};

class PipelineCursor final : public TransferCursor {
 public:
  PipelineCursor(const OwnTask& own, const Draft& draft)
      : pipeline_(own.task(), draft, [this](const Transfer& transfer, Ticks /*end*/) {
          made_.append(transfer);
        }) {}

  [[nodiscard]] Status next(TransferBatch& batch) override {
    batch.clear();
    while (batch.size() < kBlockTransfers) {
      if (taken_ == made_.size()) {
        made_.clear();
        taken_ = 0;
        if (!pipeline_.step()) {
          break;
        }
        continue;
      }
      batch.append(made_[taken_++]);
    }
    return ok();
  }

 private:
  /// Of one instant, up to `taken_` handed on.
  TransferBatch made_;
  std::size_t taken_ = 0;
  Pipeline pipeline_;
};

class PipelineSource final : public TransferSource {
 public:
  PipelineSource(const PipelineTask& task, Draft draft, std::uint64_t encoded_bytes)
      : own_{task.topology, task.fabric, task.job, task.size, task.model},
        draft_(std::move(draft)),
        encoded_bytes_(encoded_bytes) {}

  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const override {
    return std::make_unique<PipelineCursor>(own_, draft_);
  }
  [[nodiscard]] std::size_t memory_bytes() const override {
    return (draft_.packing.up.size() + draft_.packing.down.size()) * sizeof(std::uint32_t) +
           own_.topology.num_links() * (sizeof(Link) + 10 * sizeof(std::uint32_t));
  }
  [[nodiscard]] std::uint64_t encoded_bytes() const override { return encoded_bytes_; }

 private:
  OwnTask own_;
  Draft draft_;
  std::uint64_t encoded_bytes_;
};

}  // namespace

TransferSharing sharing_of(const Fabric& fabric, const HopCosts& costs, std::uint32_t sharing) {
  constexpr std::int64_t kMostTogether = 8;
  if (sharing == 1) {
    return {};
  }
  // 0 lets faster hops carry as many as they can in the time of the slowest.
  std::int64_t slowest = costs.bandwidth(0);
  for (std::uint32_t hop = 0; hop < fabric.num_hops(); ++hop) {
    slowest = std::min(slowest, costs.bandwidth(hop));
  }
  TransferSharing result;
  for (std::uint32_t hop = 0; hop < fabric.num_hops(); ++hop) {
    const std::int64_t limit = sharing == 0 ? costs.bandwidth(hop) / slowest : sharing;
    result.limit.push_back(static_cast<std::uint32_t>(std::min(kMostTogether, limit)));
  }
  return result;
}

Urgency by_formula(const Legs& legs, const HopCosts& costs, const Packing& packing) {
  Urgency urgency{.base = legs.tails(costs), .step = packing.period, .table = nullptr};
  for (std::uint32_t leg = 0; leg < legs.num_legs(); ++leg) {
    const auto begin =
        static_cast<std::int64_t>(Int128{packing.period} * legs.tree(leg) / legs.num_trees());
    urgency.base[leg] = begin - kTailWeight * urgency.base[leg];
  }
  return urgency;
}

Schedule listed(const PipelineTask& task, const Draft& draft) {
  ScheduleBuilder builder(task.topology.num_links());
  run(task, draft, builder);
  return std::move(builder).build();
}

Schedule unlisted(const PipelineTask& task, Draft draft) {
  ScheduleBuilder builder(task.topology.num_links());
  builder.measure_only();
  run(task, draft, builder);
  const ScheduleMeasure measure = std::move(builder).measure();
  return make_schedule(
      std::make_shared<PipelineSource>(task, std::move(draft), measure.encoded_bytes),
      measure.totals);
}

}  // namespace tacos::trees
