// SPDX-License-Identifier: MIT
// The human-readable trace: one line per chunk moved.
#include <algorithm>

#include <fmt/format.h>

#include "tacos/bundle.h"

#include "base/file.h"

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

Status write_trace(const Bundle& bundle, const std::string& path) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) {
    return file.error();
  }
  const auto cursor = bundle.schedule.cursor();
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
  }
}

}  // namespace tacos
