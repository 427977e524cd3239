// SPDX-License-Identifier: MIT
// O(ends with messages under way) for a look at them.
#include "execute/transports/streams.h"

#include <utility>

namespace tacos::execution {

StreamConnection::StreamConnection(std::span<const LaneEnd> ends,
                                   std::vector<std::unique_ptr<Stream>> streams) {
  std::size_t most = 0;
  ends_.reserve(ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    End end;
    end.stream = std::move(streams[i]);
    end.sends = ends[i].role == LaneRole::kSend;
    end.depth = ends[i].depth;
    end.first = static_cast<std::uint32_t>(most);
    most += end.depth;
    ends_.push_back(std::move(end));
  }
  messages_.resize(most);
  active_.reserve(ends.size());
  waits_.reserve(ends.size());
  completed_.reserve(most);
}

void StreamConnection::post_send(std::uint32_t end, std::span<const std::byte> bytes) {
  // What is sent is only read.
  post(end, {const_cast<std::byte*>(bytes.data()), bytes.size()});
}

void StreamConnection::post_receive(std::uint32_t end, std::span<std::byte> bytes) {
  post(end, bytes);
}

void StreamConnection::post(std::uint32_t end, std::span<std::byte> bytes) {
  End& one = ends_[end];
  messages_[one.first + one.posted++ % one.depth] = bytes;
  if (!one.active) {
    one.active = true;
    active_.push_back(end);
  }
}

Result<bool> StreamConnection::move(std::uint32_t end) {
  End& one = ends_[end];
  bool any = false;
  while (one.through != one.posted) {
    const std::span<std::byte> rest =
        messages_[one.first + one.through % one.depth].subspan(one.moved);
    const Result<std::size_t> moved = one.sends ? one.stream->write(rest) : one.stream->read(rest);
    if (!moved) {
      return moved.error();
    }
    any = any || *moved > 0;
    one.moved += *moved;
    if (*moved < rest.size()) {
      break;
    }
    one.moved = 0;
    ++one.through;
    completed_.push_back(end);
  }
  return any;
}

Result<std::span<const std::uint32_t>> StreamConnection::progress() {
  completed_.clear();
  bool any = false;
  std::size_t kept = 0;
  for (const std::uint32_t end : active_) {
    const Result<bool> moved = move(end);
    if (!moved) {
      return moved.error();
    }
    any = any || *moved;
    if (ends_[end].through != ends_[end].posted) {
      active_[kept++] = end;
    } else {
      ends_[end].active = false;
    }
  }
  active_.resize(kept);
  idle_ = any ? 0 : idle_ + 1;
  if (Status alive = note_idle(); !alive) {
    return alive.error();
  }
  return std::span<const std::uint32_t>(completed_);
}

void StreamConnection::wait(std::uint32_t looks) {
  // Before that somebody who was only slow has answered, and it costs less to look again.
  constexpr std::uint32_t kLooks = 80;
  constexpr int kMilliseconds = 1;
  waits_.clear();
  for (const std::uint32_t end : active_) {
    const int file = ends_[end].stream->file();
    if (file < 0) {
      break;
    }
    waits_.push_back({.fd = file,
                      .events = static_cast<std::int16_t>(ends_[end].sends ? POLLOUT : POLLIN),
                      .revents = 0});
  }
  if (looks < kLooks || waits_.size() < active_.size()) {
    Connection::wait(looks);
  } else {
    (void)::poll(waits_.data(), waits_.size(), kMilliseconds);
  }
}

Status StreamConnection::note_idle() {
  constexpr std::uint32_t kNowAndThen = 4096;
  if (idle_ < kNowAndThen) {
    return ok();
  }
  idle_ = 0;
  for (const std::uint32_t end : active_) {
    if (Status alive = ends_[end].stream->check_other_end(); !alive) {
      return alive;
    }
  }
  return ok();
}

}  // namespace tacos::execution
