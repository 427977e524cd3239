// SPDX-License-Identifier: MIT
// The parsers of these runtimes take a small part of XML: no declaration, no tabs, double quotes,
// and every attribute of a step must be there, even where it means nothing.
#include "export/runtimes/msccl.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "tacos/lower.h"

#include "export/runtimes/blocks.h"
#include "export/runtimes/fitting.h"

namespace tacos::exporting {
namespace {

struct Dialect {
  BlockLimits limits;
  std::string_view reduce_scatter;
  /// Whether it knows Gather and Scatter.
  bool rooted_parts = false;
};

constexpr Dialect kMsccl{.limits = {.runtime = "msccl"}, .reduce_scatter = "reduce_scatter"};
constexpr Dialect kAzure{.limits = {.runtime = "msccl-azure", .steps = 64, .blocks = 1024},
                         .reduce_scatter = "reducescatter",
                         .rooted_parts = true};
constexpr Dialect kRccl{.limits = {.runtime = "rccl", .steps = 64, .blocks = 64, .channels = 128},
                        .reduce_scatter = "reducescatter",
                        .rooted_parts = true};

Result<std::string> name_of(const Collective& collective, const Dialect& dialect) {
  switch (collective.kind()) {
    case CollectiveKind::kAllGather:
      return std::string("allgather");
    case CollectiveKind::kReduceScatter:
      return std::string(dialect.reduce_scatter);
    case CollectiveKind::kAllReduce:
      return std::string("allreduce");
    case CollectiveKind::kBroadcast:
      return std::string("broadcast");
    case CollectiveKind::kReduce:
      return std::string("reduce");
    case CollectiveKind::kAllToAll:
      return std::string("alltoall");
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      if (dialect.rooted_parts) {
        return std::string(to_string(collective.kind()));
      }
      break;
    case CollectiveKind::kCustom:
      break;
  }
  return input_error(fmt::format("{} has no {}", dialect.limits.runtime, collective.name()));
}

constexpr std::string_view type_of(BlockOp op) {
  switch (op) {
    case BlockOp::kSend:
      return "s";
    case BlockOp::kReceive:
      return "r";
    case BlockOp::kReceiveReduce:
      return "rrc";
    case BlockOp::kCopy:
      return "cpy";
    case BlockOp::kReduce:
      return "re";
    case BlockOp::kReceiveCopySend:
      return "rcs";
    case BlockOp::kReceiveReduceCopySend:
      return "rrcs";
    case BlockOp::kReceiveReduceSend:
      return "rrs";
    case BlockOp::kNop:
      break;
  }
  return "nop";
}

constexpr std::array<char, 3> kBuffers{'i', 'o', 's'};

char buffer_of(const Slot& slot) {
  return kBuffers[static_cast<std::size_t>(slot.buffer)];
}

void append_step(std::size_t number, const BlockStep& step, std::string& text) {
  // A message is one place for sender and receiver: what is not named is as what is.
  const bool nop = step.op == BlockOp::kNop;
  const bool only_writes = step.op == BlockOp::kReceive || step.op == BlockOp::kReceiveCopySend;
  const Slot from = only_writes ? step.to : step.from;
  const Slot to = step.op == BlockOp::kSend ? step.from : step.to;
  fmt::format_to(std::back_inserter(text),
                 "      <step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" "
                 "dstoff=\"{}\" cnt=\"{}\" depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>\n",
                 number,
                 type_of(step.op),
                 nop ? 'i' : buffer_of(from),
                 nop ? -1 : static_cast<std::int64_t>(from.index),
                 nop ? 'o' : buffer_of(to),
                 nop ? -1 : static_cast<std::int64_t>(to.index),
                 step.count,
                 step.wait_block,
                 step.wait_step,
                 step.waited_for ? 1 : 0);
}

/// RCCL compares the bytes of the call: of a Gather or a Scatter those of one rank's part.
std::uint64_t bytes_of_call(const Collective& collective) {
  const bool parts =
      collective.kind() == CollectiveKind::kGather || collective.kind() == CollectiveKind::kScatter;
  return parts ? collective.num_participants() : 1;
}

Result<std::string> xml(const Bundle& bundle,
                        const ExportOptions& options,
                        const Dialect& dialect) {
  const Collective& collective = bundle.collective;
  const Result<std::string> name = name_of(collective, dialect);
  if (!name) {
    return name.error();
  }
  const Result<Program> program =
      lower(bundle.topology, collective, bundle.schedule, {.in_place = options.in_place});
  if (!program) {
    return program.error();
  }
  const Result<BlockProgram> blocks = to_blocks(*program, dialect.limits);
  if (!blocks) {
    return blocks.error();
  }
  const std::uint64_t share = bytes_of_call(collective);
  std::string text = fmt::format(
      "<algo name=\"tacos_{}_{:016x}\" proto=\"{}\" nchannels=\"{}\" nchunksperloop=\"{}\" "
      "ngpus=\"{}\" coll=\"{}\" inplace=\"{}\" outofplace=\"{}\" minBytes=\"{}\" "
      "maxBytes=\"{}\">\n",
      *name,
      bundle.schedule.hash(),
      options.protocol,
      blocks->channels,
      whole_slots(collective),
      collective.num_participants(),
      *name,
      options.in_place ? 1 : 0,
      options.in_place ? 0 : 1,
      (options.min_bytes + share - 1) / share,
      options.max_bytes / share);
  auto out = std::back_inserter(text);
  for (std::size_t p = 0; p < blocks->gpus.size(); ++p) {
    const BufferSlots& slots = program->npus[collective.participants()[p].index()].slots;
    fmt::format_to(out,
                   "  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n",
                   p,
                   slots.input,
                   slots.output,
                   slots.scratch);
    for (std::size_t b = 0; b < blocks->gpus[p].size(); ++b) {
      const Block& block = blocks->gpus[p][b];
      fmt::format_to(out,
                     "    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n",
                     b,
                     block.send,
                     block.receive,
                     block.channel);
      for (std::size_t s = 0; s < block.steps.size(); ++s) {
        append_step(s, block.steps[s], text);
      }
      text += "    </tb>\n";
    }
    text += "  </gpu>\n";
  }
  text += "</algo>\n";
  return text;
}

}  // namespace

Result<std::string> msccl_text(const Bundle& bundle, const ExportOptions& options) {
  return xml(bundle, options, kMsccl);
}
Result<std::string> msccl_azure_text(const Bundle& bundle, const ExportOptions& options) {
  return xml(bundle, options, kAzure);
}
Result<std::string> rccl_text(const Bundle& bundle, const ExportOptions& options) {
  return xml(bundle, options, kRccl);
}

}  // namespace tacos::exporting
