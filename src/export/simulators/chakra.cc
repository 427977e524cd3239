// SPDX-License-Identifier: MIT
// ASTRA-sim's analytical network has a link from everybody to everybody, all alike. A schedule uses
// the links of its network only, so it runs there if a message takes as long as it should: it has
// one byte for each picosecond, links carry one byte in a nanosecond, and a nanosecond of the
// simulator stands for a picosecond. Nothing is rounded, and links may differ.
//
// Under `hold` a link is busy until its message has arrived: each send waits for the one before it
// on its link. Under `pipelined` sends queue, and the latency is that of the network, of which
// there is one.
//
// A send waits for what last arrived of its chunks, and what is added to a sum waits for what was
// added before. Messages have a tag each. O(moves x kinds of duration).
#include "export/simulators/chakra.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "export/pictures/passages.h"
#include "export/simulators/protobuf.h"
#include "lower/underway.h"

namespace tacos::exporting {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};

enum class NodeType : std::uint8_t { kCompute = 4, kSend = 5, kReceive = 6, kCollective = 7 };
enum Field : std::uint8_t {
  kId = 1,
  kName = 2,
  kType = 3,
  kControl = 4,
  kData = 5,
  kAttribute = 10,
  kInt64 = 9,
  kBool = 27,
};

void put_attribute(std::string_view name, std::int64_t value, Field kind, std::string& node) {
  std::string attribute;
  put_bytes(1, name, attribute);
  put_number(kind, static_cast<std::uint64_t>(value), attribute);
  put_bytes(kAttribute, attribute, node);
}

std::string first_record() {
  std::string metadata;
  put_bytes(1, "0.0.4", metadata);
  std::string file;
  put_record(metadata, file);
  return file;
}

std::string begin_node(std::uint64_t id, std::string_view name, NodeType type) {
  std::string node;
  put_number(kId, id, node);
  put_bytes(kName, name, node);
  put_number(kType, static_cast<std::uint64_t>(type), node);
  return node;
}

/// What a rank does.
struct Rank {
  std::string file = first_record();
  std::uint64_t nodes = 0;
  /// By chunk: the node that it last came with.
  std::vector<std::uint64_t> came;
};

/// A message.
struct TracedMessage {
  std::uint64_t tag = 0;
  std::int64_t size = 0;
  std::uint32_t src = 0;
  std::uint32_t dst = 0;
};

class Traces {
 public:
  explicit Traces(const Bundle& bundle)
      : bundle_(bundle),
        ranks_(bundle.topology.num_npus()),
        last_on_link_(bundle.topology.num_links(), kNone) {
    for (Rank& rank : ranks_) {
      rank.came.assign(bundle.collective.num_chunks(), kNone);
    }
  }

  Status run() {
    Status read = each_transfer(bundle_, [&](const Transfer& transfer, Ticks end) {
      arrive_until(transfer.start);
      send(transfer, end);
    });
    arrive_until(kMaxTime);
    for (Rank& rank : ranks_) {
      if (rank.nodes == 0) {
        // A rank without nodes is an error.
        put_record(begin_node(0, "idle", NodeType::kCompute), rank.file);
      }
    }
    return read;
  }
  /// Of all routes, where it is one.
  [[nodiscard]] std::optional<Ticks> latency() const {
    return latencies_differ_ ? std::nullopt : std::optional(latency_.value_or(Ticks{}));
  }
  [[nodiscard]] std::vector<Rank>& ranks() { return ranks_; }

 private:
  [[nodiscard]] bool holds() const { return bundle_.link_model == LinkModel::kHold; }

  void send(const Transfer& transfer, Ticks end) {
    const LinkId first = transfer.links.front();
    Ticks latency;
    for (const LinkId link : transfer.links) {
      latency += bundle_.topology.link(link).latency;
    }
    latencies_differ_ |= !holds() && latency_ && *latency_ != latency;
    latency_ = latency;
    const TracedMessage message{
        .tag = tag_++,
        .size = (end - transfer.start - (holds() ? Ticks{} : latency)).ps,
        .src = bundle_.topology.link(first).src.value(),
        .dst = bundle_.topology.link(transfer.links.back()).dst.value(),
    };
    Rank& rank = ranks_[message.src];
    std::string node =
        begin_node(rank.nodes, name_of(transfer.chunks, "to", message.dst), NodeType::kSend);
    if (holds() && last_on_link_[first.index()] != kNone) {
      put_numbers(kControl, {&last_on_link_[first.index()], 1}, node);
    }
    put_numbers(kData, came(rank, transfer.chunks), node);
    put_attribute("comm_dst", message.dst, kInt64, node);
    put_message(message, node);
    put_record(node, rank.file);
    last_on_link_[first.index()] = rank.nodes++;
    underway_.send_off(transfer, end, message);
  }

  void arrive_until(Ticks now) {
    underway_.arrive_until(
        now, [&](const TracedMessage& message, Op op, std::span<const ChunkId> chunks) {
          Rank& rank = ranks_[message.dst];
          std::string node =
              begin_node(rank.nodes, name_of(chunks, "from", message.src), NodeType::kReceive);
          if (op == Op::kReduce) {
            put_numbers(kData, came(rank, chunks), node);
          }
          put_attribute("comm_src", message.src, kInt64, node);
          put_message(message, node);
          put_record(node, rank.file);
          for (const ChunkId chunk : chunks) {
            rank.came[chunk.index()] = rank.nodes;
          }
          ++rank.nodes;
        });
  }

  static std::string name_of(std::span<const ChunkId> chunks,
                             std::string_view word,
                             std::uint32_t peer) {
    return fmt::format("chunk {} {} {}", chunks.front().value(), word, peer);
  }
  static void put_message(const TracedMessage& message, std::string& node) {
    constexpr std::uint64_t kTags = 500'000'000;
    put_attribute("comm_size", message.size, kInt64, node);
    put_attribute("comm_tag", static_cast<std::int64_t>(message.tag % kTags), kInt64, node);
  }

  /// The nodes that chunks came with, each once.
  [[nodiscard]] static std::vector<std::uint64_t> came(const Rank& rank,
                                                       std::span<const ChunkId> chunks) {
    std::vector<std::uint64_t> nodes;
    nodes.reserve(chunks.size());
    for (const ChunkId chunk : chunks) {
      nodes.push_back(rank.came[chunk.index()]);
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    std::erase(nodes, kNone);
    return nodes;
  }

  const Bundle& bundle_;
  std::vector<Rank> ranks_;
  std::vector<std::uint64_t> last_on_link_;
  lowering::Underway<TracedMessage> underway_;
  std::uint64_t tag_ = 0;
  std::optional<Ticks> latency_;
  bool latencies_differ_ = false;
};

struct Key {
  std::string_view name;
  std::int64_t number;
};

/// What the simulator must call the collective to run it; it never looks what it does, so that the
/// others go by the name of an All-Gather.
Key key_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return {"all-reduce", 0};
    case CollectiveKind::kReduceScatter:
      return {"reduce-scatter", 7};
    case CollectiveKind::kAllToAll:
      return {"all-to-all", 6};
    default:
      return {"all-gather", 2};
  }
}

std::string workload(const Key& key) {
  std::string node = begin_node(0, "collective", NodeType::kCollective);
  put_attribute("is_cpu_op", 0, kBool, node);
  put_attribute("comm_type", key.number, kInt64, node);
  put_attribute("comm_size", 1, kInt64, node);
  std::string file = first_record();
  put_record(node, file);
  return file;
}

/// Its failures are silent: whoever did not finish is told apart by counting.
std::string script(std::uint32_t ranks, Ticks planned) {
  return fmt::format(R"sh(#!/bin/sh
# Runs the collective in ASTRA-sim (congestion-aware analytical network). One nanosecond there is a
# picosecond here. usage: ASTRA_SIM=PATH-TO-AstraSim_Analytical_Congestion_Aware ./run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${{ASTRA_SIM:?set it to the path of AstraSim_Analytical_Congestion_Aware}}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed "s|@HERE@|$here|" "$here/system.json" >"$work/system.json"
"$ASTRA_SIM" --workload-configuration="$here/workload" --system-configuration="$work/system.json" \
  --network-configuration="$here/network.yml" --remote-memory-configuration="$here/memory.json" \
  >"$work/log" 2>&1 || {{ cat "$work/log" && exit 1; }}
finished=$(grep -c 'finished' "$work/log" || true)
if [ "$finished" -ne {} ]; then
  echo "only $finished of {} ranks finished" >&2
  exit 1
fi
took=$(sed -n 's/.*finished, \([0-9]*\) cycles.*/\1/p' "$work/log" | sort -n | tail -n 1)
echo "planned {} ps, simulated $took ps"
)sh",
                     ranks,
                     ranks,
                     planned.ps);
}

}  // namespace

Result<std::vector<ExportFile>> chakra_files(const Bundle& bundle,
                                             const ExportOptions& /*options*/) {
  const std::uint32_t ranks = bundle.topology.num_npus();
  if (ranks < 2) {
    return input_error("ASTRA-sim has no networks of one NPU", bundle.topology.name());
  }
  Traces traces(bundle);
  if (Status read = traces.run(); !read) {
    return read.error();
  }
  const std::optional<Ticks> latency = traces.latency();
  if (!latency) {
    return input_error(
        "ASTRA-sim has one latency for all links, and this schedule under `pipelined` needs "
        "several; make it with --link-model hold",
        bundle.topology.name());
  }
  const bool holds = bundle.link_model == LinkModel::kHold;
  const Key key = key_of(bundle.collective.chunk_kind());
  std::vector<ExportFile> files;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    files.push_back({fmt::format("algo.{}.et", rank), std::move(traces.ranks()[rank].file)});
    files.push_back({fmt::format("workload.{}.et", rank), workload(key)});
  }
  files.push_back({"system.json",
                   fmt::format("{{\n  \"scheduling-policy\": \"FIFO\",\n  "
                               "\"preferred-dataset-splits\": 1,\n  "
                               "\"{}-implementation-custom\": [\"@HERE@/algo\"],\n  "
                               "\"local-mem-bw\": 50\n}}\n",
                               key.name)});
  // 10^9 bytes a second, where the simulator counts in 2^30.
  files.push_back({"network.yml",
                   fmt::format("topology: [ FullyConnected ]\nnpus_count: [ {} ]\nbandwidth: [ "
                               "0.931322574615478515625 ]\nlatency: [ {}.0 ]\n",
                               ranks,
                               holds ? 0 : latency->ps)});
  files.push_back({"memory.json", "{\n  \"memory-type\": \"NO_MEMORY_EXPANSION\"\n}\n"});
  files.push_back({"run.sh", script(ranks, bundle.schedule.collective_time()), true});
  return files;
}

}  // namespace tacos::exporting
