// SPDX-License-Identifier: MIT
#include "execute/transports/split.h"

#include <utility>

namespace tacos::execution {
namespace {

class SplitConnection final : public Connection {
 public:
  struct Part {
    std::unique_ptr<Connection> connection;
    /// Our number of each of its ends.
    std::vector<std::uint32_t> ends;
  };
  struct Place {
    std::uint32_t part = 0;
    std::uint32_t end = 0;
  };

  SplitConnection(std::vector<Part> parts, std::vector<Place> places, std::size_t most)
      : parts_(std::move(parts)), places_(std::move(places)) {
    completed_.reserve(most);
  }

  void post_send(std::uint32_t end, std::span<const std::byte> bytes) override {
    parts_[places_[end].part].connection->post_send(places_[end].end, bytes);
  }
  void post_receive(std::uint32_t end, std::span<std::byte> bytes) override {
    parts_[places_[end].part].connection->post_receive(places_[end].end, bytes);
  }
  Result<std::span<const std::uint32_t>> progress() override {
    completed_.clear();
    for (Part& part : parts_) {
      if (part.ends.empty()) {
        continue;
      }
      const Result<std::span<const std::uint32_t>> done = part.connection->progress();
      if (!done) {
        return done.error();
      }
      for (const std::uint32_t end : *done) {
        completed_.push_back(part.ends[end]);
      }
    }
    return std::span<const std::uint32_t>(completed_);
  }
  void wait(std::uint32_t looks) override {
    // Only where all messages come the same way can it be told when something moves.
    Connection* only = nullptr;
    std::size_t used = 0;
    for (const Part& part : parts_) {
      if (!part.ends.empty()) {
        only = part.connection.get();
        ++used;
      }
    }
    used == 1 ? only->wait(looks) : Connection::wait(looks);
  }

 private:
  std::vector<Part> parts_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> completed_;
};

}  // namespace

Result<std::unique_ptr<Connection>> SplitTransport::open(std::span<const LaneEnd> ends) {
  std::vector<SplitConnection::Part> parts(transports_.size());
  std::vector<SplitConnection::Place> places;
  std::vector<std::vector<LaneEnd>> shares(transports_.size());
  std::size_t most = 0;
  places.reserve(ends.size());
  for (std::uint32_t end = 0; end < ends.size(); ++end) {
    const std::uint32_t part = choice_[ends[end].peer];
    places.push_back({.part = part, .end = static_cast<std::uint32_t>(shares[part].size())});
    parts[part].ends.push_back(end);
    shares[part].push_back(ends[end]);
    most += ends[end].depth;
  }
  // Also those that have nothing to do here, as others may open lanes of theirs.
  for (std::size_t part = 0; part < parts.size(); ++part) {
    Result<std::unique_ptr<Connection>> opened = transports_[part]->open(shares[part]);
    if (!opened) {
      return opened.error();
    }
    parts[part].connection = *std::move(opened);
  }
  return std::unique_ptr<Connection>(
      std::make_unique<SplitConnection>(std::move(parts), std::move(places), most));
}

}  // namespace tacos::execution
