// SPDX-License-Identifier: MIT
// Lanes that are streams of bytes. As both ends know how long messages are, a stream needs no
// headers; it takes, and gives, what it can, and messages are moved in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <poll.h>

#include "tacos/execute.h"

namespace tacos::execution {

/// One end of a lane; only one of the two functions is ever called.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  /// How many bytes it took, or gave: perhaps none. Fails when the other end is gone.
  [[nodiscard]] virtual Result<std::size_t> write(std::span<const std::byte> bytes) = 0;
  [[nodiscard]] virtual Result<std::size_t> read(std::span<std::byte> bytes) = 0;
  /// What poll() can wait for; -1 where there is nothing.
  [[nodiscard]] virtual int file() const { return -1; }
  /// Asked now and then while nothing moves.
  [[nodiscard]] virtual Status check_other_end() = 0;
};

class StreamConnection final : public Connection {
 public:
  /// A stream for every end.
  StreamConnection(std::span<const LaneEnd> ends, std::vector<std::unique_ptr<Stream>> streams);

  void post_send(std::uint32_t end, std::span<const std::byte> bytes) override;
  void post_receive(std::uint32_t end, std::span<std::byte> bytes) override;
  [[nodiscard]] Result<std::span<const std::uint32_t>> progress() override;
  void wait(std::uint32_t looks) override;

 private:
  struct End {
    std::unique_ptr<Stream> stream;
    bool sends = false;
    std::uint32_t depth = 1;
    /// Among the messages of all ends.
    std::uint32_t first = 0;
    /// Messages posted, and of these those through, in all; how much of the oldest has moved.
    std::uint32_t posted = 0;
    std::uint32_t through = 0;
    std::size_t moved = 0;
    bool active = false;
  };

  void post(std::uint32_t end, std::span<std::byte> bytes);
  /// Whether anything moved.
  [[nodiscard]] Result<bool> move(std::uint32_t end);
  [[nodiscard]] Status note_idle();

  std::vector<End> ends_;
  std::vector<std::span<std::byte>> messages_;
  /// Ends with messages under way.
  std::vector<std::uint32_t> active_;
  std::vector<std::uint32_t> completed_;
  /// Of the ends that are active.
  std::vector<pollfd> waits_;
  std::uint32_t idle_ = 0;
};

}  // namespace tacos::execution
