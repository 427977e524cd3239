// SPDX-License-Identifier: MIT
// Changes schedule files so that readers look at the change: inside a section, often inside a
// column of numbers, with lengths, checksums and the hash made right again afterwards. One in eight
// changes is to the bytes as they lie, frame and all. Linked to libFuzzer only.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

#include "base/numbers/hash.h"
#include "base/numbers/rng.h"
#include "export/sections.h"
#include "fuzz/target.h"
#include "schedule/blocks/columns.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using namespace tacos;  // NOLINT(google-build-using-namespace)
using ByteString = std::vector<std::uint8_t>;

struct Section {
  SectionTag tag = SectionTag::kBlock;
  ByteString payload;
};

struct SectionHeader {
  SectionTag tag;
  std::uint32_t crc;
  std::uint64_t length;
};

bool has_columns(const Section& section) {
  return section.tag == SectionTag::kBlock || section.tag == SectionTag::kPattern ||
         section.tag == SectionTag::kOrbits || section.tag == SectionTag::kPeriodic;
}

/// Nothing when the bytes are not a frame with sections.
std::optional<std::vector<Section>> split(const std::uint8_t* data, std::size_t size) {
  if (size < kMagic.size() || std::memcmp(data, kMagic.data(), kMagic.size()) != 0) {
    return std::nullopt;
  }
  std::vector<Section> sections;
  std::size_t at = kMagic.size();
  SectionHeader header{};
  while (size - at >= sizeof header) {
    std::memcpy(&header, data + at, sizeof header);
    at += sizeof header;
    if (header.length > size - at) {
      return std::nullopt;
    }
    sections.push_back({header.tag, ByteString(data + at, data + at + header.length)});
    at += header.length;
  }
  return sections.empty() || at != size ? std::nullopt : std::optional(std::move(sections));
}

ByteString join(const std::vector<Section>& sections) {
  ByteString bytes(kMagic.begin(), kMagic.end());
  for (const Section& section : sections) {
    const SectionHeader header{
        section.tag,
        static_cast<std::uint32_t>(::crc32_z(0, section.payload.data(), section.payload.size())),
        section.payload.size()};
    const auto* const raw = reinterpret_cast<const std::uint8_t*>(&header);
    bytes.insert(bytes.end(), raw, raw + sizeof header);
    bytes.insert(bytes.end(), section.payload.begin(), section.payload.end());
  }
  return bytes;
}

/// Writes into TAIL the hash that the blocks or the pattern have.
void repair_hash(std::vector<Section>& sections) {
  constexpr std::string_view kKey = "\"schedule_hash\":\"";
  constexpr std::size_t kDigits = 16;
  StreamHash hash;
  for (Section& section : sections) {
    if (has_columns(section)) {
      hash.add(std::as_bytes(std::span(section.payload)));
    }
    const auto at =
        std::search(section.payload.begin(), section.payload.end(), kKey.begin(), kKey.end());
    if (section.tag == SectionTag::kTail &&
        section.payload.end() - at >= static_cast<std::ptrdiff_t>(kKey.size() + kDigits)) {
      const std::string digits = fmt::format("{:016x}", hash.value());
      std::copy(digits.begin(), digits.end(), at + static_cast<std::ptrdiff_t>(kKey.size()));
    }
  }
}

/// Changes one of the columns, or the number that it counts from; false when there are none.
bool mutate_column(ByteString& payload, Rng& rng) {
  std::vector<std::size_t> headers;
  ColumnHeader header;
  for (std::size_t at = 0; payload.size() - at >= sizeof header;) {
    std::memcpy(&header, payload.data() + at, sizeof header);
    const std::uint64_t bytes = std::uint64_t{header.count} * header.width;
    if (header.width > 8 || bytes > payload.size() - at - sizeof header) {
      break;
    }
    headers.push_back(at);
    at += sizeof header + bytes;
  }
  if (headers.empty()) {
    return false;
  }
  const std::size_t at = headers[rng.below(static_cast<std::uint32_t>(headers.size()))];
  std::memcpy(&header, payload.data() + at, sizeof header);
  const auto numbers = payload.begin() + static_cast<std::ptrdiff_t>(at + sizeof header);
  const auto number = [&] { return numbers + rng.below(header.count) * header.width; };
  const auto width = static_cast<std::ptrdiff_t>(header.width);
  switch (header.width > 0 && header.count > 0 ? rng.below(6) : rng.below(3)) {
    case 0:
      header.base += rng.below(3) - std::uint64_t{1};
      break;
    case 1:
      header.base = std::uint64_t{1} << rng.below(64);
      break;
    case 2:
      // Without bytes there may be any number of equal values.
      header.count += header.width == 0 ? rng.below(5) - 2 : 0;
      break;
    case 3: {
      const auto a = number();
      std::swap_ranges(a, a + width, number());
      break;
    }
    case 4:
      *number() += static_cast<std::uint8_t>(rng.below(2) == 0 ? 1 : -1);
      break;
    default:
      *number() = static_cast<std::uint8_t>(rng.below(256));
      break;
  }
  std::memcpy(payload.data() + at, &header, sizeof header);
  return true;
}

void mutate_payload(ByteString& payload, std::size_t room) {
  const std::size_t size = payload.size();
  payload.resize(size + std::min<std::size_t>(room, 64));
  payload.resize(LLVMFuzzerMutate(payload.data(), size, payload.size()));
}

void mutate_sections(std::vector<Section>& sections, std::size_t room, Rng& rng) {
  const auto any = [&] { return rng.below(static_cast<std::uint32_t>(sections.size())); };
  const std::uint32_t at = any();
  switch (rng.below(16)) {
    case 0:
      std::swap(sections[at], sections[any()]);
      break;
    case 1:
      sections.erase(sections.begin() + at);
      break;
    case 2: {
      const Section again = sections[at];
      sections.insert(sections.begin() + at, again);
      break;
    }
    default:
      if (!has_columns(sections[at]) || rng.below(4) == 0 ||
          !mutate_column(sections[at].payload, rng)) {
        mutate_payload(sections[at].payload, room);
      }
  }
  if (rng.below(16) != 0) {
    repair_hash(sections);
  }
}

std::size_t copy_out(const ByteString& bytes, std::uint8_t* data, std::size_t most) {
  if (bytes.size() > most) {
    return 0;
  }
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                               std::size_t size,
                                               std::size_t most,
                                               unsigned int seed) {
  Rng rng(seed);
  std::optional<std::vector<Section>> sections = split(data, size);
  if (!sections || rng.below(8) == 0) {
    return LLVMFuzzerMutate(data, size, most);
  }
  mutate_sections(*sections, most - size, rng);
  const std::size_t made = copy_out(join(*sections), data, most);
  return made == 0 ? LLVMFuzzerMutate(data, size, most) : made;
}

/// One section of a file in place of one of another.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data1,
                                                 std::size_t size1,
                                                 const std::uint8_t* data2,
                                                 std::size_t size2,
                                                 std::uint8_t* out,
                                                 std::size_t most,
                                                 unsigned int seed) {
  Rng rng(seed);
  std::optional<std::vector<Section>> into = split(data1, size1);
  std::optional<std::vector<Section>> from = split(data2, size2);
  if (!into || !from) {
    return 0;
  }
  Section& given = (*from)[rng.below(static_cast<std::uint32_t>(from->size()))];
  const auto place = std::find_if(
      into->begin(), into->end(), [&](const Section& one) { return one.tag == given.tag; });
  if (place == into->end()) {
    into->insert(into->begin() + rng.below(static_cast<std::uint32_t>(into->size())), given);
  } else {
    *place = std::move(given);
  }
  repair_hash(*into);
  return copy_out(join(*into), out, most);
}
