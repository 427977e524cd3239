// SPDX-License-Identifier: MIT
// The frame of a schedule file: a magic, then tagged, checksummed sections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tacos/result.h"

#include "base/files/file.h"

namespace tacos {

inline constexpr std::string_view kMagic = "TACOSCH\n";

enum class SectionTag : std::uint32_t {
  kHead = 0x44414548,      // "HEAD"
  kTopology = 0x4f504f54,  // "TOPO"
  kBlock = 0x4b434c42,     // "BLCK"
  kPattern = 0x4e525450,   // "PTRN"
  kOrbits = 0x5442524f,    // "ORBT"
  kPeriodic = 0x44524550,  // "PERD"
  kTail = 0x4c494154,      // "TAIL"
};

[[nodiscard]] Status write_section(AtomicFile& file,
                                   SectionTag tag,
                                   std::span<const std::byte> payload);

/// Reads sections one after the other.
class SectionReader {
 public:
  /// Opens the file and checks the magic.
  [[nodiscard]] static Result<SectionReader> open(const std::string& path);

  /// The next section into `payload`; fails when the file ends first or the checksum is wrong.
  [[nodiscard]] Result<SectionTag> next(std::vector<std::byte>& payload);
  /// Like next, but passes over blocks without reading them; `blocks` says over how many.
  [[nodiscard]] Result<SectionTag> next_but_blocks(std::vector<std::byte>& payload,
                                                   std::uint64_t& blocks);
  [[nodiscard]] bool at_end();
  /// Of the whole file.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] Error damaged(std::string_view how) const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { (void)std::fclose(file); }
  };
  struct Header {
    std::uint32_t tag = 0;
    std::uint32_t crc = 0;
    std::uint64_t length = 0;
  };
  explicit SectionReader(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] Result<Header> read_header();
  [[nodiscard]] Result<SectionTag> read_payload(const Header& header,
                                                std::vector<std::byte>& payload);

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t size_ = 0;
};

}  // namespace tacos
