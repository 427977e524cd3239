// SPDX-License-Identifier: MIT
// O(members) for a look; O(messages that wait) to find who asked for one.
#include "serve/messenger.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"

namespace tacos {
namespace {

/// The kind of messages that are not words.
constexpr std::uint32_t kData = ~0U;

template <class Item>
auto find_message(std::list<Item>& items, std::uint32_t from, std::uint64_t key) {
  return std::find_if(items.begin(), items.end(), [&](const Item& item) {
    return item.key == key &&
           (item.from == from || item.from == Messenger::kAnybody || from == Messenger::kAnybody);
  });
}

Error other_length(std::uint32_t from, std::size_t sent, std::size_t wanted) {
  return input_error(
      fmt::format("rank {} sends {} bytes where {} are received; the two must have the same size",
                  from,
                  sent,
                  wanted));
}

}  // namespace

Result<std::unique_ptr<Messenger>> Messenger::open(Team& team, Transport& transport) {
  const auto self = static_cast<std::uint32_t>(team.member());
  std::unique_ptr<Messenger> made(new Messenger());
  made->peers_.resize(static_cast<std::size_t>(team.size()));
  std::vector<LaneEnd> ends;
  for (std::uint32_t member = 0; member < made->peers_.size(); ++member) {
    if (member == self) {
      continue;
    }
    Peer& peer = made->peers_[member];
    peer.send_end = static_cast<std::uint32_t>(ends.size());
    ends.push_back({.role = LaneRole::kSend, .peer = member, .channel = 0, .depth = 2});
    peer.receive_end = static_cast<std::uint32_t>(ends.size());
    ends.push_back({.role = LaneRole::kReceive, .peer = member, .channel = 0, .depth = 2});
    made->member_of_end_.insert(made->member_of_end_.end(), {member, member});
  }
  Result<std::unique_ptr<Connection>> connection = transport.open(ends);
  if (!connection) {
    return connection.error();
  }
  made->connection_ = *std::move(connection);
  for (std::uint32_t member = 0; member < made->peers_.size(); ++member) {
    if (member != self) {
      made->post_head(member);
    }
  }
  return made;
}

void Messenger::say(std::uint32_t to, const Word& word) {
  Peer& peer = peers_[to];
  if (peer.forgotten) {
    return;
  }
  Outgoing& one = peer.outgoing.emplace_back();
  put_all(one.own, std::span<const char>(word.text));
  one.head = {.kind = word.kind,
              .number = word.number,
              .value = word.value,
              .count = word.count,
              .bytes = one.own.size()};
  one.body = one.own;
  ++unsent_;
  post(peer);
}

std::shared_ptr<Receipt> Messenger::send(std::uint32_t to,
                                         std::uint64_t key,
                                         std::span<const std::byte> bytes) {
  auto receipt = std::make_shared<Receipt>();
  receipt->peer = to;
  Peer& peer = peers_[to];
  if (peer.forgotten) {
    receipt->done = true;
    receipt->error = Error{.code = ErrorCode::kInternal,
                           .message = fmt::format("rank {} has left the group", to),
                           .where = {}};
    return receipt;
  }
  Outgoing& one = peer.outgoing.emplace_back();
  one.head = {.kind = kData, .number = key, .bytes = bytes.size()};
  one.body = bytes;
  one.receipt = receipt;
  ++unsent_;
  post(peer);
  return receipt;
}

void Messenger::post(Peer& peer) {
  if (peer.posted > 0 || peer.outgoing.empty()) {
    return;
  }
  // A deque does not move what it has when something is added or taken at its ends.
  const Outgoing& one = peer.outgoing.front();
  connection_->post_send(peer.send_end, std::as_bytes(std::span(&one.head, 1)));
  peer.posted = 1;
  if (!one.body.empty()) {
    connection_->post_send(peer.send_end, one.body);
    peer.posted = 2;
  }
}

void Messenger::sent(std::uint32_t member) {
  Peer& peer = peers_[member];
  if (--peer.posted > 0) {
    return;
  }
  if (peer.outgoing.front().receipt) {
    peer.outgoing.front().receipt->done = true;
  }
  peer.outgoing.pop_front();
  --unsent_;
  post(peer);
}

std::shared_ptr<Receipt> Messenger::receive(std::uint32_t from,
                                            std::uint64_t key,
                                            std::span<std::byte> bytes) {
  Asked asked{.from = from, .key = key, .to = bytes, .receipt = std::make_shared<Receipt>()};
  std::shared_ptr<Receipt> receipt = asked.receipt;
  const auto kept = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) {
    return one.key == key && !one.asked && (from == kAnybody || one.from == from);
  });
  if (kept == kept_.end()) {
    asked_.push_back(std::move(asked));
  } else if (kept->complete) {
    deliver(kept->from, asked, kept->bytes);
    kept_.erase(kept);
  } else {
    kept->asked = std::move(asked);
  }
  return receipt;
}

void Messenger::forget(std::uint32_t member) {
  Peer& peer = peers_[member];
  peer.forgotten = true;
}

void Messenger::deliver(std::uint32_t member,
                        const Asked& asked,
                        std::span<const std::byte> bytes) {
  if (bytes.size() != asked.to.size()) {
    asked.receipt->error = other_length(member, bytes.size(), asked.to.size());
  } else if (!bytes.empty() && bytes.data() != asked.to.data()) {
    std::memcpy(asked.to.data(), bytes.data(), bytes.size());
  }
  asked.receipt->peer = member;
  asked.receipt->done = true;
}

std::optional<Messenger::Asked> Messenger::asked_for(std::uint32_t from, std::uint64_t key) {
  const auto found = find_message(asked_, from, key);
  if (found == asked_.end()) {
    return std::nullopt;
  }
  Asked asked = std::move(*found);
  asked_.erase(found);
  return asked;
}

void Messenger::post_head(std::uint32_t member) {
  Peer& peer = peers_[member];
  if (!peer.forgotten) {
    connection_->post_receive(peer.receive_end, std::as_writable_bytes(std::span(&peer.head, 1)));
  }
}

void Messenger::received(std::uint32_t member) {
  if (peers_[member].in_body) {
    take_body(member);
  } else {
    take_head(member);
  }
}

void Messenger::take_head(std::uint32_t member) {
  Peer& peer = peers_[member];
  if (peer.head.bytes > 0) {
    begin_body(member);
    return;
  }
  if (peer.head.kind != kData) {
    peer.word.clear();
    hear(member);
  } else if (const std::optional<Asked> asked = asked_for(member, peer.head.number)) {
    deliver(member, *asked, {});
  } else {
    kept_.push_back(
        {.from = member, .key = peer.head.number, .bytes = {}, .complete = true, .asked = {}});
  }
  post_head(member);
}

void Messenger::begin_body(std::uint32_t member) {
  Peer& peer = peers_[member];
  peer.in_body = true;
  peer.asked.reset();
  peer.kept = kept_.end();
  std::span<std::byte> to;
  if (peer.head.kind != kData) {
    peer.word.resize(peer.head.bytes);
    to = peer.word;
  } else {
    peer.asked = asked_for(member, peer.head.number);
    if (peer.asked && peer.asked->to.size() == peer.head.bytes) {
      to = peer.asked->to;
    } else {
      kept_.push_back({.from = member,
                       .key = peer.head.number,
                       .bytes = Packet(peer.head.bytes),
                       .complete = false,
                       .asked = std::exchange(peer.asked, std::nullopt)});
      peer.kept = std::prev(kept_.end());
      to = peer.kept->bytes;
    }
  }
  connection_->post_receive(peer.receive_end, to);
}

void Messenger::take_body(std::uint32_t member) {
  Peer& peer = peers_[member];
  peer.in_body = false;
  if (peer.head.kind != kData) {
    hear(member);
  } else if (peer.asked) {
    deliver(member, *peer.asked, peer.asked->to);
    peer.asked.reset();
  } else if (peer.kept->asked) {
    deliver(member, *peer.kept->asked, peer.kept->bytes);
    kept_.erase(peer.kept);
  } else {
    peer.kept->complete = true;
  }
  post_head(member);
}

void Messenger::hear(std::uint32_t member) {
  const Peer& peer = peers_[member];
  const std::span<const char> text(reinterpret_cast<const char*>(peer.word.data()),
                                   peer.word.size());
  if (listener_) {
    listener_({.from = member,
               .kind = peer.head.kind,
               .number = peer.head.number,
               .value = peer.head.value,
               .count = peer.head.count,
               .text = std::string(text.begin(), text.end())});
  }
}

Result<bool> Messenger::progress() {
  const Result<std::span<const std::uint32_t>> done = connection_->progress();
  if (!done) {
    return done.error();
  }
  for (const std::uint32_t end : *done) {
    const std::uint32_t member = member_of_end_[end];
    end == peers_[member].send_end ? sent(member) : received(member);
  }
  return !done->empty();
}

}  // namespace tacos
