// SPDX-License-Identifier: MIT
#include "lower/lowering.h"

#include <algorithm>
#include <utility>

#include "schedule/read_ahead.h"

namespace tacos::lowering {
namespace {

/// Of messages without data, until it is known how many others there are.
constexpr std::uint32_t kCreditChannel = kNone;

/// Of every chunk, where they are equal.
std::optional<Bytes> equal_bytes(const ChunkTable& chunks) {
  return chunks.by_rule() && chunks.count() > 0 && chunks.size().count % chunks.count() == 0
             ? std::optional(chunks.max_bytes())
             : std::nullopt;
}

}  // namespace

Lowering::Lowering(const Topology& topology,
                   const Collective& collective,
                   const LowerOptions& options)
    : topology_(topology),
      collective_(collective),
      options_(options),
      chunk_bytes_(equal_bytes(collective.chunks())),
      notes_(topology.num_npus()),
      lines_(topology),
      durations_(topology.num_links()),
      arrivals_(options.credits ? topology.num_links() : 0) {}

Status Lowering::follow(const Schedule& schedule) {
  Status read = read_transfers(schedule, 1, [&](const Transfer& transfer) {
    arrive_until(transfer.start);
    start(transfer);
  });
  arrive_until(kMaxTime);
  return read;
}

Ticks Lowering::time_of(const Transfer& transfer) {
  const Bytes bytes = chunk_bytes_ && transfer.chunks.size() == 1
                          ? *chunk_bytes_
                          : collective_.chunks().bytes(transfer.chunks);
  if (transfer.links.size() > 1) {
    return route_time(topology_, transfer.links, bytes);
  }
  Duration& known = durations_[transfer.links.front().index()];
  if (known.bytes != bytes) {
    known = {.bytes = bytes, .time = route_time(topology_, transfer.links, bytes)};
  }
  return known.time;
}

void Lowering::start(const Transfer& transfer) {
  const Ticks end = transfer.start + time_of(transfer);
  const std::uint32_t number = lines_.take(transfer.links, end);
  Line& line = lines_[number];
  NpuNotes& notes = notes_[line.src.index()];
  const std::optional<Dependency> awaited = admission(line, transfer.links.back());
  if (line.send_lane == kNone) {
    line.send_lane = notes.add_lane(LaneRole::kSend, line.dst, line.channel);
  }
  for (const ChunkId chunk : transfer.chunks) {
    if (awaited && chunk == transfer.chunks.front()) {
      notes.add_after(*awaited, line.send_lane, NoteKind::kSend, chunk.value());
    } else {
      notes.add(line.send_lane, NoteKind::kSend, chunk.value());
    }
    if (keeps_messages_) {
      messages_.push_back({.line = number, .start = transfer.start, .end = end});
    }
  }
  line.underway += static_cast<std::uint32_t>(transfer.chunks.size());
  fifos_suffice_ &= line.underway <= options_.fifo_slots;
  underway_.send_off(transfer, end, {.line = number, .port = transfer.links.back()});
}

std::optional<Dependency> Lowering::admission(const Line& line, LinkId port) {
  if (arrivals_.empty()) {
    return std::nullopt;
  }
  std::optional<Arrival>& before = arrivals_[port.index()];
  if (!before || before->src == line.src || before->told == line.src) {
    return std::nullopt;
  }
  before->told = line.src;
  NpuNotes& receiver = notes_[line.dst.index()];
  receiver.add_after(before->receive,
                     receiver.find_lane(LaneRole::kSend, line.src, kCreditChannel),
                     NoteKind::kGrant,
                     0);
  NpuNotes& sender = notes_[line.src.index()];
  const std::uint32_t lane = sender.find_lane(LaneRole::kReceive, line.dst, kCreditChannel);
  sender.add(lane, NoteKind::kAwait, 0);
  return sender.last(lane);
}

void Lowering::arrive_until(Ticks now) {
  underway_.arrive_until(now, [&](const Cargo& cargo, Op op, std::span<const ChunkId> chunks) {
    arrive(cargo, op, chunks);
  });
}

void Lowering::arrive(const Cargo& cargo, Op op, std::span<const ChunkId> chunks) {
  Line& line = lines_[cargo.line];
  NpuNotes& notes = notes_[line.dst.index()];
  if (line.receive_lane == kNone) {
    line.receive_lane = notes.add_lane(LaneRole::kReceive, line.src, line.channel);
  }
  const NoteKind kind = op == Op::kReduce ? NoteKind::kReceiveSum : NoteKind::kReceive;
  for (const ChunkId chunk : chunks) {
    notes.add(line.receive_lane, kind, chunk.value());
    --line.underway;
  }
  if (!arrivals_.empty()) {
    arrivals_[cargo.port.index()] = {
        .src = line.src, .receive = notes.last(line.receive_lane), .told = line.src};
  }
}

void Lowering::name_credit_channels(std::uint32_t npu, NpuProgram& program) const {
  for (Lane& lane : program.lanes) {
    if (lane.channel == kCreditChannel) {
      lane.channel = lane.role == LaneRole::kSend ? lines_.num_channels(NodeId(npu), lane.peer)
                                                  : lines_.num_channels(lane.peer, NodeId(npu));
    }
  }
}

Program Lowering::write(bool in_place, Scratch scratch) const {
  Program program{.collective = collective_, .in_place = in_place, .npus = {}};
  program.npus.reserve(notes_.size());
  NpuLowering one(topology_.num_npus(), collective_, in_place, scratch);
  for (std::uint32_t npu = 0; npu < notes_.size(); ++npu) {
    program.npus.push_back(one.write(NodeId(npu), notes_[npu]));
    name_credit_channels(npu, program.npus.back());
  }
  return program;
}

}  // namespace tacos::lowering
