// SPDX-License-Identifier: MIT
// Sums are made at one rank, of the contributions in the order of ranks, and are therefore the same
// everywhere: an All-Reduce is a Reduce-Scatter of nearly equal parts, which are then sent to all.
//
// O(ranks) messages of every rank.
#include "c10d/direct.h"

#include <cstring>

namespace tacos::torch_backend {
namespace {

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0 && to != from) {
    std::memmove(to, from, bytes);
  }
}

}  // namespace

DirectRun::DirectRun(const Job& job, Messenger& messenger, std::uint32_t rank, std::uint32_t ranks)
    : job_(job),
      messenger_(messenger),
      rank_(rank),
      ranks_(ranks),
      element_(element_bytes(job.call.type)) {
  start();
}

std::uint64_t DirectRun::key(std::uint32_t phase) const {
  // Apart from those of send and receive, which are below 2^32.
  return std::uint64_t{1} << 63U | job_.number << 1U | phase;
}

void DirectRun::send(std::uint32_t to,
                     const std::byte* bytes,
                     std::size_t size,
                     std::uint32_t phase) {
  waits_.push_back(messenger_.send(to, key(phase), {bytes, size}));
}

void DirectRun::receive(std::uint32_t from,
                        std::byte* bytes,
                        std::size_t size,
                        std::uint32_t phase) {
  waits_.push_back(messenger_.receive(from, key(phase), {bytes, size}));
}

const std::byte* DirectRun::input() const {
  return static_cast<const std::byte*>(job_.call.in_place ? job_.call.output : job_.call.input);
}

std::size_t DirectRun::cut(std::uint32_t part) const {
  return job_.call.count / ranks_ * part + job_.call.count % ranks_ * part / ranks_;
}

void DirectRun::start() {
  const std::size_t part = job_.call.count * element_;
  const auto root = static_cast<std::uint32_t>(job_.root);
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    const bool self = other == rank_;
    switch (job_.kind) {
      case CollectiveKind::kAllGather:
        self ? copy_bytes(output() + rank_ * part, input(), part)
             : (send(other, input(), part), receive(other, output() + other * part, part));
        break;
      case CollectiveKind::kBroadcast:
        if (rank_ == root && !self) {
          send(other, input(), part);
        } else if (rank_ != root && other == root) {
          receive(root, output(), part);
        }
        break;
      case CollectiveKind::kGather:
        if (rank_ == root) {
          self ? copy_bytes(output() + rank_ * part, input(), part)
               : receive(other, output() + other * part, part);
        } else if (other == root) {
          send(root, input(), part);
        }
        break;
      case CollectiveKind::kScatter:
        if (rank_ == root) {
          self ? copy_bytes(output(), input() + rank_ * part, part)
               : send(other, input() + other * part, part);
        } else if (other == root) {
          receive(root, output(), part);
        }
        break;
      case CollectiveKind::kReduceScatter:
        collect(other, other * job_.call.count, (other + 1) * job_.call.count);
        break;
      case CollectiveKind::kAllReduce:
        collect(other, cut(other), cut(other + 1));
        break;
      case CollectiveKind::kReduce:
        if (other == root) {
          collect(root, 0, job_.call.count);
        }
        break;
      case CollectiveKind::kAllToAll:
      case CollectiveKind::kCustom:
        break;
    }
  }
  if (job_.kind == CollectiveKind::kAllToAll) {
    all_to_all();
  }
}

void DirectRun::all_to_all() {
  const std::size_t part = job_.call.count * element_;
  std::size_t from = 0;
  std::size_t to = 0;
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    const std::size_t sent = job_.sent_bytes.empty() ? part : job_.sent_bytes[other];
    const std::size_t received = job_.received_bytes.empty() ? part : job_.received_bytes[other];
    if (other == rank_) {
      copy_bytes(output() + to, input() + from, sent);
    } else {
      send(other, input() + from, sent);
      receive(other, output() + to, received);
    }
    from += sent;
    to += received;
  }
}

void DirectRun::collect(std::uint32_t owner, std::size_t begin, std::size_t end) {
  const std::size_t bytes = (end - begin) * element_;
  if (owner != rank_) {
    send(owner, input() + begin * element_, bytes);
    return;
  }
  shares_.resize(ranks_);
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    shares_[other].resize(bytes);
    if (other == rank_) {
      copy_bytes(shares_[other].data(), input() + begin * element_, bytes);
    } else {
      receive(other, shares_[other].data(), bytes);
    }
  }
}

void DirectRun::combine(std::size_t begin, std::size_t end, std::byte* to) {
  const std::size_t count = end - begin;
  for (std::uint32_t other = 1; other < ranks_ && count > 0; ++other) {
    job_.combine.add(shares_[0].data(), shares_[other].data(), count);
  }
  if (job_.combine.finish && count > 0) {
    job_.combine.finish(shares_[0].data(), count);
  }
  copy_bytes(to, shares_[0].data(), count * element_);
}

void DirectRun::share_sums() {
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    if (other != rank_) {
      const std::size_t begin = cut(rank_) * element_;
      send(other, output() + begin, cut(rank_ + 1) * element_ - begin, 1);
      const std::size_t theirs = cut(other) * element_;
      receive(other, output() + theirs, cut(other + 1) * element_ - theirs, 1);
    }
  }
}

Result<bool> DirectRun::advance() {
  for (const std::shared_ptr<Receipt>& wait : waits_) {
    if (wait->done && wait->error) {
      return *wait->error;
    }
    if (!wait->done) {
      return false;
    }
  }
  waits_.clear();
  const bool all = job_.kind == CollectiveKind::kAllReduce;
  if (!shares_.empty() && !combined_) {
    combined_ = true;
    combine(all ? cut(rank_) : 0,
            all ? cut(rank_ + 1) : job_.call.count,
            output() + (all ? cut(rank_) * element_ : 0));
  }
  if (all && !shared_) {
    shared_ = true;
    share_sums();
    return advance();
  }
  return true;
}

}  // namespace tacos::torch_backend
