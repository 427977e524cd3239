// SPDX-License-Identifier: MIT
// A GPU's operations are one list, done by one thread block after the other where they are many.
// To use the whole machine every chunk is cut into slices, and each slice is a collective of its
// own, with blocks and channels of its own: nothing of one slice ever waits for another.
//
// Numbers in the file: channels and remote buffers are listed for a GPU; a block lists those of
// them that it uses, and its operations name them by their place in the block's list.
#include "export/runtimes/mscclpp.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tacos/lower.h"

#include "export/runtimes/boxes.h"
#include "export/runtimes/fitting.h"
#include "export/runtimes/gpu_blocks.h"
#include "export/runtimes/one_sided.h"

namespace tacos::exporting {
namespace {

constexpr std::string_view kRuntime = "mscclpp";
constexpr GpuLimits kLimits;
/// Of each chunk, where limits and sizes allow.
constexpr std::uint32_t kMostSlices = 8;
/// As many are worth more than chunks that follow each other closely.
constexpr std::uint32_t kGoodSlices = 4;
/// What the runtime aligns slices to.
constexpr std::uint64_t kAlignment = 16;

constexpr std::array kKinds{ChannelKind::kMemory, ChannelKind::kPort};
constexpr std::array<std::string_view, 2> kKindNames{"memory", "port"};
constexpr std::array<char, 3> kBufferNames{'i', 'o', 's'};

std::string_view name_of(ChannelKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}
char name_of(Buffer buffer) {
  return kBufferNames[static_cast<std::size_t>(buffer)];
}

Result<std::string_view> name_of(const Collective& collective) {
  switch (collective.kind()) {
    case CollectiveKind::kAllGather:
      return std::string_view("allgather");
    case CollectiveKind::kReduceScatter:
      return std::string_view("reducescatter");
    case CollectiveKind::kAllReduce:
      return std::string_view("allreduce");
    case CollectiveKind::kBroadcast:
      return std::string_view("broadcast");
    case CollectiveKind::kAllToAll:
      return std::string_view("alltoall");
    default:
      return input_error(fmt::format("{} has no {}", kRuntime, collective.name()));
  }
}

template <class Number>
std::string list_of(const std::vector<Number>& numbers) {
  std::string text;
  for (const Number number : numbers) {
    text += text.empty() ? "" : ",";
    text += std::to_string(number);
  }
  return text;
}

/// What a GPU does, once for each slice.
struct Gpu {
  std::uint32_t scratch = 0;
  std::vector<GpuBlock> blocks;
};

/// What the blocks of all GPUs need at most.
struct Needs {
  std::size_t semaphores = 0;
  std::size_t blocks = 1;
};
Needs needs_of(const std::vector<Gpu>& gpus) {
  Needs most;
  for (const Gpu& gpu : gpus) {
    most.blocks = std::max(most.blocks, gpu.blocks.size());
  }
  most.semaphores = most.blocks - 1;
  return most;
}
std::uint32_t slices_that_fit(const Needs& needs) {
  std::uint32_t slices = kMostSlices;
  while (slices > 0 && (slices * needs.semaphores > kLimits.semaphores ||
                        slices * needs.blocks > kLimits.blocks)) {
    slices /= 2;
  }
  return slices;
}

/// Something that a block uses, by its place in the GPU's list.
template <class Thing>
std::size_t place_in(const std::vector<Thing>& all, const Thing& one) {
  return static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), one) - all.begin());
}

/// A buffer of a peer.
using Remote = std::tuple<ChannelKind, std::uint32_t, Buffer>;

class GpuWriter {
 public:
  GpuWriter(const Gpu& gpu, std::uint32_t slices, std::string& text)
      : gpu_(gpu), slices_(slices), text_(text), lists_(gpu.blocks) {}

  void channels() {
    text_ += "\"channels\":[";
    for (const ChannelKind kind : kKinds) {
      const std::vector<std::uint32_t>& peers = lists_.peers[static_cast<std::size_t>(kind)];
      if (peers.empty()) {
        continue;
      }
      std::vector<std::uint32_t> all;
      for (std::uint32_t slice = 0; slice < slices_; ++slice) {
        all.insert(all.end(), peers.begin(), peers.end());
      }
      add("{}{{\"channel_type\":\"{}\",\"connected_to\":[{}]}}",
          text_.back() == '[' ? "" : ",",
          name_of(kind),
          list_of(all));
    }
    text_ += "],\n  \"remote_buffers\":[";
    for (const auto& [kind, peer, buffer] : lists_.remotes) {
      add("{}{{\"rank\":{},\"type\":\"{}\",\"access_channel_types\":[\"{}\"]}}",
          text_.back() == '[' ? "" : ",",
          peer,
          name_of(buffer),
          name_of(kind));
    }
    text_ += "],\n  \"semaphores\":[";
    for (std::size_t i = 0; i < slices_ * (gpu_.blocks.size() - 1); ++i) {
      add("{}{{\"init_value\":0}}", i == 0 ? "" : ",");
    }
    text_ += "],\n";
  }

  void blocks() {
    text_ += "  \"threadblocks\":[";
    for (std::uint32_t slice = 0; slice < slices_; ++slice) {
      for (std::size_t b = 0; b < gpu_.blocks.size(); ++b) {
        add("{}\n   {{\"id\":{},", slice + b == 0 ? "" : ",", slice * gpu_.blocks.size() + b);
        block(gpu_.blocks[b], slice);
        text_ += "]}";
      }
    }
    text_ += "]";
  }

 private:
  /// Peers and their buffers that some blocks use, ascending.
  struct Lists {
    explicit Lists(std::span<const GpuBlock> blocks) {
      std::array<std::set<std::uint32_t>, 2> channels;
      std::set<Remote> buffers;
      for (const GpuBlock& block : blocks) {
        for (const GpuOp& op : block.ops) {
          channels[static_cast<std::size_t>(op.channel)].insert(op.peers.begin(), op.peers.end());
          for (std::size_t i = 0; op.kind == GpuOpKind::kPut && i < op.peers.size(); ++i) {
            buffers.emplace(op.channel, op.peers[i], op.to[i].first.buffer);
          }
        }
      }
      for (std::size_t kind = 0; kind < peers.size(); ++kind) {
        peers[kind].assign(channels[kind].begin(), channels[kind].end());
      }
      remotes.assign(buffers.begin(), buffers.end());
    }
    std::array<std::vector<std::uint32_t>, 2> peers;
    std::vector<Remote> remotes;
  };

  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  void block(const GpuBlock& block, std::uint32_t slice) {
    const Lists own(std::span(&block, 1));
    text_ += "\"channels\":[";
    for (const ChannelKind kind : kKinds) {
      const auto at = static_cast<std::size_t>(kind);
      std::vector<std::size_t> ids;
      for (const std::uint32_t peer : own.peers[at]) {
        ids.push_back(slice * lists_.peers[at].size() + place_in(lists_.peers[at], peer));
      }
      if (!ids.empty()) {
        add("{}{{\"channel_type\":\"{}\",\"channel_ids\":[{}]}}",
            text_.back() == '[' ? "" : ",",
            name_of(kind),
            list_of(ids));
      }
    }
    text_ += "],\"remote_buffer_refs\":[";
    for (const ChannelKind kind : kKinds) {
      std::vector<std::size_t> ids;
      for (const Remote& remote : own.remotes) {
        if (std::get<0>(remote) == kind) {
          ids.push_back(place_in(lists_.remotes, remote));
        }
      }
      if (!ids.empty()) {
        add("{}{{\"access_channel_type\":\"{}\",\"remote_buffer_ids\":[{}]}}",
            text_.back() == '[' ? "" : ",",
            name_of(kind),
            list_of(ids));
      }
    }
    text_ += "],\"ops\":[";
    for (const GpuOp& one : block.ops) {
      text_ += text_.back() == '[' ? "\n    " : ",\n    ";
      op(one, own, slice);
    }
  }

  static std::string_view name_of_op(const GpuOp& op) {
    const bool memory = op.channel == ChannelKind::kMemory;
    switch (op.kind) {
      case GpuOpKind::kSignal:
        return "signal";
      case GpuOpKind::kWait:
        return "wait";
      case GpuOpKind::kBegun:
        return memory ? "rlxsignal" : "signal";
      case GpuOpKind::kAwaitPeer:
        return memory ? "rlxwait" : "wait";
      case GpuOpKind::kFlush:
        return "flush";
      case GpuOpKind::kPut:
        return "put";
      case GpuOpKind::kCopy:
        return "copy";
      case GpuOpKind::kReduce:
        return "re";
      case GpuOpKind::kRelease:
        return "sem_release";
      case GpuOpKind::kAcquire:
        return "sem_acquire";
      case GpuOpKind::kNop:
        break;
    }
    return "nop";
  }

  void op(const GpuOp& op, const Lists& own, std::uint32_t slice) {
    add("{{\"name\":\"{}\"", name_of_op(op));
    if (op.kind == GpuOpKind::kRelease || op.kind == GpuOpKind::kAcquire) {
      add(",\"semaphore_ids\":[{}]", slice * (gpu_.blocks.size() - 1) + op.semaphore);
    } else if (op.kind == GpuOpKind::kPut) {
      put(op, own, slice);
    } else if (op.kind == GpuOpKind::kCopy || op.kind == GpuOpKind::kReduce) {
      ranges("src_buff", op.from);
      ranges("dst_buff", op.to);
      if (op.kind == GpuOpKind::kReduce) {
        text_ += ",\"reduce_op\":\"sum\"";
      }
    } else if (op.kind != GpuOpKind::kNop) {
      channel_ids(op.peers, op.channel, own);
    }
    if (op.kind == GpuOpKind::kFlush) {
      // The executor flushes as many channels as an operation has outputs; it writes to none.
      ranges("dst_buff", std::vector<SlotRange>(op.peers.size(), {{Buffer::kOutput, 0}, 1}));
    }
    if (slices_ > 1 && !op.from.empty()) {
      add(",\"tbg_info\":{{\"tb_id\":{},\"tbg_size\":{}}}", slice, slices_);
    }
    text_ += '}';
  }

  void channel_ids(const std::vector<std::uint32_t>& peers, ChannelKind kind, const Lists& own) {
    std::vector<std::size_t> ids;
    ids.reserve(peers.size());
    for (const std::uint32_t peer : peers) {
      ids.push_back(place_in(own.peers[static_cast<std::size_t>(kind)], peer));
    }
    add(",\"channel_ids\":[{}],\"channel_type\":\"{}\"", list_of(ids), name_of(kind));
  }

  void ranges(std::string_view key, const std::vector<SlotRange>& all) {
    add(",\"{}\":[", key);
    for (const SlotRange& range : all) {
      add("{}{{\"type\":\"{}\",\"index\":{},\"size\":{}}}",
          text_.back() == '[' ? "" : ",",
          name_of(range.first.buffer),
          range.first.index,
          range.count);
    }
    text_ += ']';
  }

  /// Slices begin with different peers, so that links work at once.
  void put(GpuOp op, const Lists& own, std::uint32_t slice) {
    const auto turn = static_cast<std::ptrdiff_t>(slice % op.peers.size());
    std::rotate(op.peers.begin(), op.peers.begin() + turn, op.peers.end());
    std::rotate(op.from.begin(), op.from.begin() + turn, op.from.end());
    std::rotate(op.to.begin(), op.to.begin() + turn, op.to.end());
    ranges("src_buff", op.from);
    text_ += ",\"dst_buff\":[";
    // A block's buffers are numbered anew for each kind of channel.
    const auto first = std::find_if(own.remotes.begin(), own.remotes.end(), [&](const Remote& one) {
      return std::get<0>(one) == op.channel;
    });
    for (std::size_t i = 0; i < op.to.size(); ++i) {
      const Remote remote{op.channel, op.peers[i], op.to[i].first.buffer};
      add("{}{{\"buffer_id\":{},\"index\":{},\"size\":{}}}",
          i == 0 ? "" : ",",
          place_in(own.remotes, remote) - static_cast<std::size_t>(first - own.remotes.begin()),
          op.to[i].first.index,
          op.to[i].count);
    }
    text_ += ']';
    if (op.channel == ChannelKind::kPort) {
      channel_ids(op.peers, op.channel, own);
    } else {
      text_ += ",\"channel_type\":\"memory\"";
    }
  }

  const Gpu& gpu_;
  std::uint32_t slices_;
  std::string& text_;
  Lists lists_;
};

std::vector<Gpu> gpus_of(const Program& program,
                         std::span<const std::uint32_t> boxes,
                         std::uint32_t width) {
  std::vector<Gpu> gpus;
  for (const GpuOps& gpu : one_sided(program, boxes, width)) {
    gpus.push_back({.scratch = gpu.scratch, .blocks = to_gpu_blocks(gpu.ops, kLimits)});
  }
  return gpus;
}

std::uint32_t longest_lane(const Program& program) {
  std::size_t most = 1;
  for (const NpuProgram& npu : program.npus) {
    for (const Lane& lane : npu.lanes) {
      most = std::max(most, lane.steps.size());
    }
  }
  return static_cast<std::uint32_t>(most);
}

/// The finest that leaves room for enough slices, or the finest that fits.
Result<std::vector<Gpu>> fit(const Program& program, std::span<const std::uint32_t> boxes) {
  std::vector<Gpu> best;
  Needs needs;
  const std::uint32_t longest = longest_lane(program);
  for (std::uint32_t width = 1;; width *= 2) {
    std::vector<Gpu> gpus = gpus_of(program, boxes, width);
    needs = needs_of(gpus);
    const std::uint32_t slices = slices_that_fit(needs);
    if (slices >= kGoodSlices) {
      return gpus;
    }
    if (slices > 0 && best.empty()) {
      best = std::move(gpus);
    }
    if (width >= longest) {
      break;
    }
  }
  if (best.empty()) {
    return does_not_fit(
        program.collective, kRuntime, {"semaphores", needs.semaphores, kLimits.semaphores});
  }
  return best;
}

/// Sizes of the whole buffer that a file can be used for.
struct Sizes {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::uint32_t slices = 1;
};
Result<Sizes> sizes_of(const std::vector<Gpu>& gpus,
                       const ExportOptions& options,
                       std::uint32_t whole) {
  Sizes sizes{.least = options.min_bytes, .most = 0, .slices = slices_that_fit(needs_of(gpus))};
  // A slice of a chunk must not be empty: the runtime would lose the chunk.
  while (sizes.slices > 1 && options.min_bytes > 0 &&
         kAlignment * sizes.slices * whole > options.min_bytes) {
    sizes.slices /= 2;
  }
  sizes.least = std::max(sizes.least, kAlignment * sizes.slices * whole);
  // Offsets in a buffer have 32 bits.
  std::uint64_t slots = whole;
  for (const Gpu& gpu : gpus) {
    slots = std::max<std::uint64_t>(slots, gpu.scratch);
  }
  const std::uint64_t largest = std::numeric_limits<std::uint32_t>::max() / slots * whole;
  sizes.most = std::min(options.max_bytes, largest);
  if (sizes.least > sizes.most) {
    return input_error(
        fmt::format("{} takes {} to {} bytes with this schedule, and not {} to {}; use another "
                    "number of chunks",
                    kRuntime,
                    kAlignment * sizes.slices * whole,
                    largest,
                    options.min_bytes,
                    options.max_bytes));
  }
  return sizes;
}

}  // namespace

Result<std::string> mscclpp_text(const Bundle& bundle, const ExportOptions& options) {
  const Collective& collective = bundle.collective;
  const Result<std::string_view> name = name_of(collective);
  if (!name) {
    return name.error();
  }
  if (options.protocol != "Simple") {
    return input_error(fmt::format(
        "{} files are written for --protocol Simple, not {}", kRuntime, options.protocol));
  }
  const Result<Program> program = lower(bundle.topology,
                                        collective,
                                        bundle.schedule,
                                        {.in_place = options.in_place, .credits = options.credits});
  if (!program) {
    return program.error();
  }
  if (Status ranks = check_ranks(*program, kRuntime); !ranks) {
    return ranks.error();
  }
  const Result<std::vector<Gpu>> gpus = fit(*program, boxes_of(bundle.topology));
  if (!gpus) {
    return gpus.error();
  }
  const std::uint32_t whole = whole_slots(collective);
  const Result<Sizes> sizes = sizes_of(*gpus, options, whole);
  if (!sizes) {
    return sizes.error();
  }
  std::string text = fmt::format(
      "{{\"name\":\"tacos_{}_{:016x}\",\"collective\":\"{}\",\"protocol\":\"Simple\","
      "\"inplace\":{},\n\"reuse_resources\":false,\"num_threads_per_block\":1024,"
      "\"use_double_scratch_buffer\":false,\"buffer_alignment\":{},\n"
      "\"min_message_size\":{},\"max_message_size\":{},\n\"gpus\":[",
      *name,
      bundle.schedule.hash(),
      *name,
      options.in_place,
      kAlignment,
      sizes->least,
      sizes->most);
  for (std::uint32_t p = 0; p < gpus->size(); ++p) {
    // Also those that have nothing there name the slots: chunks are a part of the buffer.
    const BufferSlots slots = buffer_slots(collective, p, false);
    fmt::format_to(std::back_inserter(text),
                   "{}\n {{\"id\":{},\"input_chunks\":{},\"output_chunks\":{},"
                   "\"scratch_chunks\":{},\n  ",
                   p == 0 ? "" : ",",
                   p,
                   slots.input == 0 ? whole : slots.input,
                   slots.output == 0 ? whole : slots.output,
                   (*gpus)[p].scratch);
    GpuWriter writer((*gpus)[p], sizes->slices, text);
    writer.channels();
    writer.blocks();
    text += "}";
  }
  text += "]}\n";
  return text;
}

}  // namespace tacos::exporting
