// SPDX-License-Identifier: MIT
// The transfers of a schedule file, read when they are asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "schedule/source.h"

namespace tacos {

/// Blocks of a file, opened anew for each cursor.
class FileSource final : public TransferSource {
 public:
  /// What the blocks must hash to, and the size of the file.
  FileSource(std::string path, std::uint32_t num_links, std::uint64_t hash, std::uint64_t bytes)
      : path_(std::move(path)), num_links_(num_links), hash_(hash), bytes_(bytes) {}

  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const override;
  [[nodiscard]] std::unique_ptr<Stretches> stretches(int threads) const override;
  [[nodiscard]] std::size_t memory_bytes() const override { return 0; }
  [[nodiscard]] std::uint64_t encoded_bytes() const override { return bytes_; }

 private:
  std::string path_;
  std::uint32_t num_links_;
  std::uint64_t hash_;
  std::uint64_t bytes_;
};

}  // namespace tacos
