// SPDX-License-Identifier: MIT
#include "execute/transports/common_lanes.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace tacos::execution {
namespace {

class Share final : public Connection {
 public:
  explicit Share(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  void post_send(std::uint32_t end, std::span<const std::byte> bytes) override {
    connection_->post_send(end, bytes);
  }
  void post_receive(std::uint32_t end, std::span<std::byte> bytes) override {
    connection_->post_receive(end, bytes);
  }
  Result<std::span<const std::uint32_t>> progress() override { return connection_->progress(); }
  void wait(std::uint32_t looks) override { connection_->wait(looks); }

 private:
  std::shared_ptr<Connection> connection_;
};

bool same(const LaneEnd& a, const LaneEnd& b) {
  return a.role == b.role && a.peer == b.peer && a.channel == b.channel && a.depth == b.depth;
}

}  // namespace

Result<std::unique_ptr<Connection>> CommonLanes::open(std::span<const LaneEnd> ends) {
  if (!connection_) {
    Result<std::unique_ptr<Connection>> opened = transport_.open(ends);
    if (!opened) {
      return opened.error();
    }
    connection_ = *std::move(opened);
    ends_.assign(ends.begin(), ends.end());
  }
  TACOS_ASSERT(std::equal(ends.begin(), ends.end(), ends_.begin(), ends_.end(), same),
               "programs that share lanes have the same");
  return std::unique_ptr<Connection>(std::make_unique<Share>(connection_));
}

}  // namespace tacos::execution
