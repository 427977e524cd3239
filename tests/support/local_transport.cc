// SPDX-License-Identifier: MIT
#include "support/local_transport.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace tacos::test {

class LocalConnection final : public Connection {
 public:
  LocalConnection(LocalNetwork& network, std::uint32_t process, std::span<const LaneEnd> ends)
      : network_(network), process_(process), ends_(ends.begin(), ends.end()) {
    for (const LaneEnd& end : ends_) {
      const bool sends = end.role == LaneRole::kSend;
      fifos_.push_back(
          &network.fifos_[{sends ? process : end.peer, sends ? end.peer : process, end.channel}]);
    }
  }

  void post_send(std::uint32_t end, std::span<const std::byte> bytes) override {
    LocalNetwork::Fifo& fifo = *fifos_[end];
    check(end, fifo.send, bytes.size());
    fifo.send.posted.push_back({const_cast<std::byte*>(bytes.data()), bytes.size()});
  }
  void post_receive(std::uint32_t end, std::span<std::byte> bytes) override {
    LocalNetwork::Fifo& fifo = *fifos_[end];
    check(end, fifo.receive, bytes.size());
    // A transport may write whatever it likes until the message is there.
    std::memset(bytes.data(), 0xa5, bytes.size());
    fifo.receive.posted.push_back(bytes);
  }

  Result<std::span<const std::uint32_t>> progress() override {
    completed_.clear();
    for (std::uint32_t end = 0; end < ends_.size(); ++end) {
      LocalNetwork::Fifo& fifo = *fifos_[end];
      const bool sends = ends_[end].role == LaneRole::kSend;
      const std::uint32_t source = sends ? process_ : ends_[end].peer;
      if (source != network_.cut_off_) {
        move(fifo);
      }
      std::size_t& done = sends ? fifo.send.done : fifo.receive.done;
      while (done > 0 && network_.rng_.below(2) == 0) {
        --done;
        completed_.push_back(end);
      }
    }
    return std::span<const std::uint32_t>(completed_);
  }

 private:
  void check(std::uint32_t end, const LocalNetwork::Side& side, std::size_t bytes) const {
    TACOS_ASSERT(bytes > 0, "what is empty is not sent");
    TACOS_ASSERT(side.posted.size() + side.done < ends_[end].depth, "no more than was said");
  }

  /// Perhaps a message goes into the network, and one to where it is awaited.
  void move(LocalNetwork::Fifo& fifo) const {
    if (!fifo.send.posted.empty() && network_.rng_.below(4) == 0 &&
        fifo.kept.size() < network_.kept_) {
      take(fifo);
    }
    if (fifo.receive.posted.empty() || network_.rng_.below(2) == 0) {
      return;
    }
    if (fifo.kept.empty() && !fifo.send.posted.empty()) {
      take(fifo);
    }
    if (!fifo.kept.empty()) {
      const std::span<std::byte> to = fifo.receive.posted.front();
      TACOS_ASSERT(to.size() == fifo.kept.front().size(), "both ends know how long a message is");
      std::copy(fifo.kept.front().begin(), fifo.kept.front().end(), to.begin());
      fifo.kept.pop_front();
      fifo.receive.posted.pop_front();
      ++fifo.receive.done;
    }
  }
  static void take(LocalNetwork::Fifo& fifo) {
    const std::span<std::byte> from = fifo.send.posted.front();
    fifo.kept.emplace_back(from.begin(), from.end());
    fifo.send.posted.pop_front();
    ++fifo.send.done;
  }

  LocalNetwork& network_;
  std::uint32_t process_;
  std::vector<LaneEnd> ends_;
  std::vector<LocalNetwork::Fifo*> fifos_;
  std::vector<std::uint32_t> completed_;
};

class LocalTransport final : public Transport {
 public:
  LocalTransport(LocalNetwork& network, std::uint32_t process)
      : network_(network), process_(process) {}
  Result<std::unique_ptr<Connection>> open(std::span<const LaneEnd> ends) override {
    return std::unique_ptr<Connection>(std::make_unique<LocalConnection>(network_, process_, ends));
  }

 private:
  LocalNetwork& network_;
  std::uint32_t process_;
};

Transport& LocalNetwork::transport(std::uint32_t process) {
  std::unique_ptr<Transport>& one = transports_[process];
  if (!one) {
    one = std::make_unique<LocalTransport>(*this, process);
  }
  return *one;
}

}  // namespace tacos::test
