// SPDX-License-Identifier: MIT
#include "export/sections.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

namespace tacos {
namespace {

std::uint32_t checksum(std::span<const std::byte> payload) {
  return static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(payload.data()), payload.size()));
}

}  // namespace

Status write_section(AtomicFile& file, SectionTag tag, std::span<const std::byte> payload) {
  struct {
    SectionTag tag;
    std::uint32_t crc;
    std::uint64_t length;
  } const header{tag, checksum(payload), payload.size()};
  if (Status written = file.write(std::as_bytes(std::span(&header, 1))); !written) {
    return written;
  }
  return file.write(payload);
}

Error SectionReader::damaged(std::string_view how) const {
  return input_error(fmt::format("is not a whole tacos schedule file: {}", how), path_);
}

Result<SectionReader> SectionReader::open(const std::string& path) {
  SectionReader reader(path);
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return input_error(fmt::format("cannot be read: {}", std::strerror(errno)), path);
  }
  if (!S_ISREG(info.st_mode)) {
    return input_error("is not a regular file", path);
  }
  reader.size_ = static_cast<std::uint64_t>(info.st_size);
  reader.file_.reset(std::fopen(path.c_str(), "rb"));
  if (reader.file_ == nullptr) {
    return input_error(fmt::format("cannot be read: {}", std::strerror(errno)), path);
  }
  std::array<char, kMagic.size()> magic{};
  const std::size_t got = std::fread(magic.data(), 1, magic.size(), reader.file_.get());
  if (std::string_view(magic.data(), got) != kMagic) {
    return reader.damaged("it does not begin with TACOSCH");
  }
  return reader;
}

Result<SectionReader::Header> SectionReader::read_header() {
  Header header;
  if (std::fread(&header, sizeof header, 1, file_.get()) != 1) {
    return damaged("it ends before its last section; it was cut short");
  }
  const auto at = static_cast<std::uint64_t>(std::ftell(file_.get()));
  if (header.length > size_ - at) {
    return damaged("a section is longer than the file; it was cut short");
  }
  return header;
}

Result<SectionTag> SectionReader::read_payload(const Header& header,
                                               std::vector<std::byte>& payload) {
  payload.resize(header.length);
  if (std::fread(payload.data(), 1, payload.size(), file_.get()) != payload.size()) {
    return damaged("it ends inside a section; it was cut short");
  }
  if (checksum(payload) != header.crc) {
    return damaged("a checksum does not match; its bytes were changed");
  }
  return static_cast<SectionTag>(header.tag);
}

Result<SectionTag> SectionReader::next(std::vector<std::byte>& payload) {
  const Result<Header> header = read_header();
  if (!header) {
    return header.error();
  }
  return read_payload(*header, payload);
}

Result<SectionTag> SectionReader::next_but_blocks(std::vector<std::byte>& payload,
                                                  std::uint64_t& blocks) {
  for (blocks = 0;; ++blocks) {
    const Result<Header> header = read_header();
    if (!header) {
      return header.error();
    }
    if (header->tag != static_cast<std::uint32_t>(SectionTag::kBlock)) {
      return read_payload(*header, payload);
    }
    if (::fseeko(file_.get(), static_cast<off_t>(header->length), SEEK_CUR) != 0) {
      return damaged("it cannot be read to its end");
    }
  }
}

bool SectionReader::at_end() {
  return static_cast<std::uint64_t>(std::ftell(file_.get())) == size_;
}

}  // namespace tacos
