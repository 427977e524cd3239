// SPDX-License-Identifier: MIT
// O((steps + dependencies) x hops + blocks x channels).
#include "export/runtimes/blocks.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "tacos/lower.h"

#include "base/assert.h"
#include "export/runtimes/fitting.h"
#include "export/runtimes/fused.h"
#include "program/lane_peers.h"

namespace tacos::exporting {
namespace {

/// Steps of a lane that become one.
struct Group {
  std::uint32_t first = 0;
  std::uint32_t count = 1;
};

/// A lane, and its other end where it has one.
struct Line {
  std::uint32_t npu = 0;
  std::uint32_t lane = 0;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> other;
};

BlockOp op_of(StepKind kind) {
  switch (kind) {
    case StepKind::kSend:
      return BlockOp::kSend;
    case StepKind::kReceive:
      return BlockOp::kReceive;
    case StepKind::kReceiveReduce:
      return BlockOp::kReceiveReduce;
    case StepKind::kCopy:
      return BlockOp::kCopy;
    case StepKind::kReduce:
      return BlockOp::kReduce;
    case StepKind::kGrant:
    case StepKind::kAwait:
      break;
  }
  assertion_failed("op_of", "messages without data are refused before");
}

class Blocks {
 public:
  Blocks(const Program& program, const BlockLimits& limits)
      : program_(program), limits_(limits), number_(program.npus.size(), -1) {
    const auto participants = program.collective.participants();
    for (std::size_t p = 0; p < participants.size(); ++p) {
      number_[participants[p].index()] = static_cast<std::int32_t>(p);
    }
    blocks_.resize(program.npus.size());
    at_.resize(program.npus.size());
    group_.resize(program.npus.size());
  }

  Result<BlockProgram> run() {
    if (Status ranks = check_ranks(program_, limits_.runtime); !ranks) {
      return ranks.error();
    }
    for (std::uint32_t npu = 0; npu < program_.npus.size(); ++npu) {
      const NpuProgram& here = program_.npus[npu];
      for (const Lane& lane : here.lanes) {
        at_[npu].emplace_back(lane.steps.size());
        group_[npu].emplace_back(lane.steps.size());
        std::iota(group_[npu].back().begin(), group_[npu].back().end(), 0U);
      }
    }
    const std::vector<Line> all = lines();
    group(all);
    for (const Line& line : all) {
      place(line);
    }
    for (std::uint32_t npu = 0; npu < program_.npus.size(); ++npu) {
      connect(npu);
    }
    BlockProgram made{.gpus = {}, .channels = channels_};
    for (const NodeId npu : program_.collective.participants()) {
      made.gpus.push_back(std::move(blocks_[npu.index()]));
    }
    made = fuse(made, limits_, LowerOptions().fifo_slots);
    if (Status fits = check(made); !fits) {
      return fits.error();
    }
    return made;
  }

 private:
  [[nodiscard]] const Lane& lane(std::uint32_t npu, std::uint32_t number) const {
    return program_.npus[npu].lanes[number];
  }

  /// Every lane that sends, with the one that receives, and all local ones.
  [[nodiscard]] std::vector<Line> lines() const {
    const LanePeers peers = lane_peers(program_);
    std::vector<Line> lines;
    for (std::uint32_t npu = 0; npu < program_.npus.size(); ++npu) {
      for (std::uint32_t l = 0; l < program_.npus[npu].lanes.size(); ++l) {
        const Lane& one = lane(npu, l);
        if (one.role == LaneRole::kLocal) {
          lines.push_back({.npu = npu, .lane = l, .other = {}});
        } else if (one.role == LaneRole::kSend) {
          const std::size_t other =
              peers.peer[peers.first[npu] + l] - peers.first[one.peer.index()];
          lines.push_back(
              {.npu = npu,
               .lane = l,
               .other = std::pair(one.peer.value(), static_cast<std::uint32_t>(other))});
        }
      }
    }
    return lines;
  }

  /// Whether a step, of a lane, can be one with the one before it: neighbours, of which the second
  /// waits only for what comes together with what the first waits for.
  [[nodiscard]] bool joins(std::uint32_t npu, std::uint32_t number, std::uint32_t at) const {
    const Step& step = lane(npu, number).steps[at];
    const Step& before = lane(npu, number).steps[at - 1];
    if (step.kind != before.kind || step.kind == StepKind::kReduce ||
        (reads(step.kind) && !follows(step.from, before.from)) ||
        (writes(step.kind) && !follows(step.to, before.to))) {
      return false;
    }
    const auto waits = program_.npus[npu].dependencies_of(step);
    const auto others = program_.npus[npu].dependencies_of(before);
    return std::all_of(waits.begin(), waits.end(), [&](const Dependency& wait) {
      return std::any_of(others.begin(), others.end(), [&](const Dependency& other) {
        return wait.lane == other.lane &&
               group_[npu][wait.lane][wait.step] == group_[npu][other.lane][other.step];
      });
    });
  }

  /// Steps that come together let those that wait for them come together, and so on.
  void group(const std::vector<Line>& lines) {
    for (bool more = true; more;) {
      more = false;
      for (const Line& line : lines) {
        more |= group(line);
      }
    }
  }
  bool group(const Line& line) {
    std::vector<std::uint32_t>& groups = group_[line.npu][line.lane];
    bool more = false;
    for (std::uint32_t i = 1; i < groups.size(); ++i) {
      const bool begins = groups[i] == i;
      if (!begins || !joins(line.npu, line.lane, i) ||
          (line.other && !joins(line.other->first, line.other->second, i))) {
        continue;
      }
      std::uint32_t end = i;
      while (end < groups.size() && groups[end] == i) {
        ++end;
      }
      if (end - groups[i - 1] <= limits_.count) {
        std::fill(groups.begin() + i, groups.begin() + end, groups[i - 1]);
        more = true;
      }
    }
    if (more && line.other) {
      group_[line.other->first][line.other->second] = groups;
    }
    return more;
  }

  [[nodiscard]] std::vector<Group> groups(const Line& line) const {
    const std::vector<std::uint32_t>& group = group_[line.npu][line.lane];
    std::vector<Group> groups;
    for (std::uint32_t i = 0; i < group.size(); ++i) {
      if (group[i] == i) {
        groups.push_back({.first = i});
      } else {
        ++groups.back().count;
      }
    }
    return groups;
  }

  /// Steps that a group takes, with those that only wait; one more wait where a block continues
  /// another.
  [[nodiscard]] std::uint32_t length(std::uint32_t npu,
                                     std::uint32_t number,
                                     const Group& group,
                                     bool continues) const {
    const std::uint32_t waits =
        lane(npu, number).steps[group.first].num_dependencies + (continues ? 1 : 0);
    return std::max(1U, waits);
  }

  void place(const Line& line) {
    const std::vector<Group> all = groups(line);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ends{{line.npu, line.lane}};
    if (line.other) {
      ends.push_back(*line.other);
    }
    std::vector<std::uint32_t> used(ends.size(), limits_.steps);
    for (std::size_t g = 0; g < all.size(); ++g) {
      bool full = false;
      for (std::size_t e = 0; e < ends.size(); ++e) {
        full |= used[e] + length(ends[e].first, ends[e].second, all[g], false) > limits_.steps;
      }
      if (full) {
        open(line);
      }
      for (std::size_t e = 0; e < ends.size(); ++e) {
        const bool continues = full && g > 0;
        used[e] = (full ? 0 : used[e]) + length(ends[e].first, ends[e].second, all[g], continues);
        note(ends[e].first, ends[e].second, all[g], continues);
      }
    }
  }

  /// New blocks at both ends, on the first channel that has room.
  void open(const Line& line) {
    Block block;
    if (line.other) {
      const std::uint32_t dst = line.other->first;
      while (is_taken(line.npu, dst, block.channel)) {
        ++block.channel;
      }
      Block theirs = block;
      block.send = number_[dst];
      theirs.receive = number_[line.npu];
      blocks_[dst].push_back(theirs);
    }
    channels_ = std::max(channels_, block.channel + 1);
    blocks_[line.npu].push_back(block);
  }
  [[nodiscard]] bool is_taken(std::uint32_t src, std::uint32_t dst, std::uint32_t channel) const {
    const auto count = [&](std::uint32_t npu, const auto& is) {
      return static_cast<std::uint32_t>(
          std::count_if(blocks_[npu].begin(), blocks_[npu].end(), [&](const Block& block) {
            return block.channel == channel && is(block);
          }));
    };
    return count(src, [&](const Block& block) { return block.send == number_[dst]; }) > 0 ||
           count(src, [](const Block& block) { return block.send >= 0; }) >=
               limits_.blocks_per_channel ||
           count(dst, [](const Block& block) { return block.receive >= 0; }) >=
               limits_.blocks_per_channel;
  }

  /// Puts a group into the last block of the NPU that was opened for its lane.
  void note(std::uint32_t npu, std::uint32_t number, const Group& group, bool continues) {
    const Lane& from = lane(npu, number);
    const auto block = static_cast<std::int32_t>(blocks_[npu].size()) - 1;
    Block& to = blocks_[npu].back();
    const Step& step = from.steps[group.first];
    const std::uint32_t waits = step.num_dependencies + (continues ? 1 : 0);
    for (std::uint32_t i = 1; i < waits; ++i) {
      to.steps.push_back({});
    }
    to.steps.push_back({.op = op_of(step.kind),
                        .from = step.from,
                        .to = step.to,
                        .count = group.count,
                        .wait_block = -1,
                        .wait_step = -1,
                        .waited_for = false});
    const auto at = static_cast<std::int32_t>(to.steps.size()) - 1;
    for (std::uint32_t i = group.first; i < group.first + group.count; ++i) {
      at_[npu][number][i] = {
          .block = block, .step = at, .continues = continues && i == group.first};
    }
  }

  /// Fills in what steps wait for, now that it is known where everything is.
  void connect(std::uint32_t npu) {
    const NpuProgram& here = program_.npus[npu];
    for (std::uint32_t l = 0; l < here.lanes.size(); ++l) {
      const std::vector<Step>& steps = here.lanes[l].steps;
      for (std::uint32_t i = 0; i < steps.size(); ++i) {
        if (group_[npu][l][i] != i) {
          // Waits for nothing else than the first of its group.
          continue;
        }
        std::vector<At> waits;
        if (at_[npu][l][i].continues) {
          waits.push_back(at_[npu][l][i - 1]);
        }
        for (const Dependency& wait : here.dependencies_of(steps[i])) {
          waits.push_back(at_[npu][wait.lane][wait.step]);
        }
        const At& self = at_[npu][l][i];
        for (std::size_t w = 0; w < waits.size(); ++w) {
          const auto back = static_cast<std::int32_t>(waits.size() - 1 - w);
          BlockStep& step = step_at(npu, {.block = self.block, .step = self.step - back});
          step.wait_block = waits[w].block;
          step.wait_step = waits[w].step;
          step_at(npu, waits[w]).waited_for = true;
        }
      }
    }
  }

  [[nodiscard]] Status refuse(std::string_view what, std::size_t value, std::size_t limit) const {
    return does_not_fit(program_.collective, limits_.runtime, {what, value, limit});
  }
  [[nodiscard]] Status check(const BlockProgram& made) const {
    std::int32_t furthest = -1;
    for (const std::vector<Block>& blocks : made.gpus) {
      std::size_t elements = blocks.size() + program_.collective.num_participants();
      for (const Block& block : blocks) {
        elements += block.steps.size();
        for (const BlockStep& step : block.steps) {
          furthest = std::max(furthest, step.wait_block);
        }
      }
      if (elements > limits_.elements) {
        return refuse("elements", elements, limits_.elements);
      }
      if (blocks.size() > limits_.blocks) {
        return refuse("thread blocks", blocks.size(), limits_.blocks);
      }
    }
    if (made.channels > limits_.channels) {
      return refuse("channels", made.channels, limits_.channels);
    }
    if (furthest >= static_cast<std::int32_t>(limits_.waited_for)) {
      return refuse("thread blocks that others wait for",
                    static_cast<std::size_t>(furthest) + 1,
                    limits_.waited_for);
    }
    return ok();
  }

  /// Where a step of a lane went.
  struct At {
    std::int32_t block = 0;
    std::int32_t step = 0;
    /// Whether it begins a block that continues another.
    bool continues = false;
  };
  [[nodiscard]] BlockStep& step_at(std::uint32_t npu, const At& at) {
    return blocks_[npu][static_cast<std::size_t>(at.block)]
        .steps[static_cast<std::size_t>(at.step)];
  }

  const Program& program_;
  const BlockLimits& limits_;
  /// By NPU: its number among the participants, or -1.
  std::vector<std::int32_t> number_;
  std::vector<std::vector<Block>> blocks_;
  /// By NPU, lane and step.
  std::vector<std::vector<std::vector<At>>> at_;
  /// By NPU, lane and step: the first of the steps that become one with it.
  std::vector<std::vector<std::vector<std::uint32_t>>> group_;
  std::uint32_t channels_ = 1;
};

}  // namespace

Result<BlockProgram> to_blocks(const Program& program, const BlockLimits& limits) {
  return Blocks(program, limits).run();
}

}  // namespace tacos::exporting
