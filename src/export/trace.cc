// SPDX-License-Identifier: MIT
// The human-readable trace: one line per chunk moved.
#include "export/trace.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/files/file.h"
#include "export/write_progress.h"
#include "schedule/read_ahead.h"

namespace tacos {
namespace {

void append_lines(const Bundle& bundle, const Transfer& transfer, std::string& text) {
  const Bytes bytes = bundle.collective.chunks().bytes(transfer.chunks);
  const Ticks end = transfer.start + route_time(bundle.topology, transfer.links, bytes);
  std::string links;
  for (const LinkId link : transfer.links) {
    links += fmt::format("{}{}", links.empty() ? "" : ",", link.value());
  }
  for (const ChunkId chunk : transfer.chunks) {
    fmt::format_to(std::back_inserter(text),
                   "{} {} {} {} {} {} {}\n",
                   transfer.start.ps,
                   end.ps,
                   bundle.topology.link(transfer.links.front()).src.value(),
                   bundle.topology.link(transfer.links.back()).dst.value(),
                   chunk.value(),
                   transfer.op == Op::kCopy ? "copy" : "reduce",
                   links);
  }
}

/// All lines in order, many at a time, to `use(text, how many transfers)`.
template <class Use>
Status each_text(const Bundle& bundle, int threads, const Use& use) {
  std::string text;
  return read_batches(bundle.schedule, threads, [&](const TransferBatch& batch) {
    text.clear();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      append_lines(bundle, batch[i], text);
    }
    return use(text, batch.size());
  });
}

/// How many digits the numbers below `count` have at most.
std::uint64_t digits_below(std::uint64_t count) {
  return fmt::formatted_size("{}", std::max<std::uint64_t>(count, 1) - 1);
}

/// With routes of up to so many links.
std::uint64_t most_bytes(const Bundle& bundle, std::uint64_t links) {
  const Topology& topology = bundle.topology;
  const auto end = static_cast<std::uint64_t>(bundle.schedule.collective_time().ps) + 1;
  const std::uint64_t op = bundle.collective.reduces() ? 6 : 4;
  constexpr std::uint64_t kSpaces = 7;
  const std::uint64_t line = 2 * digits_below(end) + 2 * digits_below(topology.num_npus()) +
                             digits_below(bundle.collective.num_chunks()) + op + kSpaces +
                             links * (digits_below(topology.num_links()) + 1) - 1;
  return line * bundle.schedule.num_moves();
}

bool joins_switches(const Topology& topology) {
  const auto is_switch = [&](NodeId node) { return node.value() >= topology.num_npus(); };
  return std::any_of(topology.links().begin(), topology.links().end(), [&](const Link& link) {
    return is_switch(link.src) && is_switch(link.dst);
  });
}

Status check_room(const AtomicFile& file, const Bundle& bundle, int threads) {
  // No route passes a switch twice. This is far too much, and yet there is room for it on most
  // disks.
  if (file.check_room(most_bytes(bundle, std::uint64_t{bundle.topology.num_switches()} + 1))) {
    return ok();
  }
  const Result<std::uint64_t> bytes = trace_bytes(bundle, threads);
  return bytes ? file.check_room(*bytes) : bytes.error();
}

}  // namespace

Result<std::uint64_t> trace_bytes(const Bundle& bundle, int threads) {
  if (!joins_switches(bundle.topology)) {
    return most_bytes(bundle, bundle.topology.num_switches() == 0 ? 1 : 2);
  }
  std::uint64_t bytes = 0;
  const Status read = each_text(bundle, threads, [&](const std::string& text, std::size_t) {
    bytes += text.size();
    return ok();
  });
  return read ? Result<std::uint64_t>(bytes) : read.error();
}

Status write_trace(const Bundle& bundle, const std::string& path, const WriteOptions& options) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) {
    return file.error();
  }
  if (Status room = check_room(*file, bundle, options.threads); !room) {
    return room;
  }
  WriteProgress progress(options, bundle.schedule);
  const Status written =
      each_text(bundle, options.threads, [&](const std::string& text, std::size_t transfers) {
        progress.add(transfers);
        return file->write(text);
      });
  return written ? file->commit() : written;
}

}  // namespace tacos
