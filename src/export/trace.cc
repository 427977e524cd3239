// SPDX-License-Identifier: MIT
// The human-readable trace: one line per chunk moved.
#include <algorithm>

#include <fmt/format.h>

#include "tacos/bundle.h"

#include "base/file.h"
#include "export/write_progress.h"
#include "schedule/read_ahead.h"

namespace tacos {
namespace {

/// When the data of a transfer is there: latencies add up, the slowest link sets the pace.
Ticks arrival(const Bundle& bundle, const Transfer& transfer) {
  Bytes bytes;
  for (const ChunkId chunk : transfer.chunks) {
    bytes.count += bundle.collective.chunks().bytes(chunk).count;
  }
  Ticks latency;
  Ticks serialization;
  for (const LinkId id : transfer.links) {
    const Link& link = bundle.topology.link(id);
    latency += link.latency;
    serialization = std::max(serialization, serialization_time(bytes, link.bandwidth));
  }
  return transfer.start + latency + serialization;
}

void append_lines(const Bundle& bundle, const Transfer& transfer, std::string& text) {
  const Ticks end = arrival(bundle, transfer);
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

}  // namespace

Status write_trace(const Bundle& bundle, const std::string& path, const WriteOptions& options) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) {
    return file.error();
  }
  // A line is never shorter than this: seven words and the spaces between them.
  constexpr std::uint64_t kLeastLine = 17;
  if (Status room = file->check_room(kLeastLine * bundle.schedule.totals().moves); !room) {
    return room;
  }
  const auto cursor = open_cursor(bundle.schedule, options.threads);
  WriteProgress progress(options, bundle.schedule);
  TransferBatch batch;
  std::string text;
  for (;;) {
    if (Status read = cursor->next(batch); !read) {
      return read;
    }
    if (batch.empty()) {
      return file->commit();
    }
    text.clear();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      append_lines(bundle, batch[i], text);
    }
    if (Status written = file->write(text); !written) {
      return written;
    }
    progress.add(batch.size());
  }
}

}  // namespace tacos
