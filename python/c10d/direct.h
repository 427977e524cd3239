// SPDX-License-Identifier: MIT
// Collectives without a schedule: everybody sends to whom it concerns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "c10d/job.h"
#include "serve/messenger.h"

namespace tacos::torch_backend {

class DirectRun {
 public:
  DirectRun(const Job& job, Messenger& messenger, std::uint32_t rank, std::uint32_t ranks);
  DirectRun(const DirectRun&) = delete;
  DirectRun& operator=(const DirectRun&) = delete;

  /// Whether all is done.
  [[nodiscard]] Result<bool> advance();

 private:
  [[nodiscard]] std::uint64_t key(std::uint32_t phase) const;
  void send(std::uint32_t to, const std::byte* bytes, std::size_t size, std::uint32_t phase = 0);
  void receive(std::uint32_t from, std::byte* bytes, std::size_t size, std::uint32_t phase = 0);
  void start();
  void all_to_all();
  /// To one rank, whose part begins and ends at these elements.
  void collect(std::uint32_t owner, std::size_t begin, std::size_t end);
  void combine(std::size_t begin, std::size_t end, std::byte* to);
  void share_sums();
  [[nodiscard]] std::size_t cut(std::uint32_t part) const;
  [[nodiscard]] const std::byte* input() const;
  [[nodiscard]] std::byte* output() const { return static_cast<std::byte*>(job_.call.output); }

  const Job& job_;
  Messenger& messenger_;
  std::uint32_t rank_;
  std::uint32_t ranks_;
  std::size_t element_;
  std::vector<std::shared_ptr<Receipt>> waits_;
  /// Contributions of others to our part, in the order of ranks.
  std::vector<Packet> shares_;
  bool combined_ = false;
  bool shared_ = false;
};

}  // namespace tacos::torch_backend
