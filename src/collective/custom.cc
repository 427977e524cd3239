// SPDX-License-Identifier: MIT
// Collectives from a file (docs/collective-format.md): checked, stored compactly, written back.
#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "tacos/collective.h"

#include "base/assert.h"
#include "base/files/file.h"
#include "base/text/json_reader.h"
#include "base/text/quantity.h"
#include "base/text/suggest.h"
#include "collective/custom_table.h"

namespace tacos {
namespace {

constexpr std::string_view kCopy = "copy";
constexpr std::string_view kReduce = "reduce";

Error chunk_error(std::size_t chunk, const std::string& message) {
  return input_error(fmt::format("chunks[{}]: {}", chunk, message));
}

/// Increasing, without repetition.
Status sort_npus(std::vector<NodeId>& npus, std::size_t chunk, std::string_view what) {
  if (npus.empty()) {
    return chunk_error(chunk, fmt::format("has no {}", what));
  }
  std::sort(npus.begin(), npus.end());
  const auto twice = std::adjacent_find(npus.begin(), npus.end());
  if (twice != npus.end()) {
    return chunk_error(chunk, fmt::format("lists NPU {} twice as a {}", twice->value(), what));
  }
  return ok();
}

Status check_size(std::size_t chunk, Bytes bytes, std::int64_t& left) {
  if (bytes.count <= 0) {
    return chunk_error(chunk, fmt::format("has {} bytes; use 1 or more", bytes.count));
  }
  if (bytes.count > left) {
    return chunk_error(
        chunk, fmt::format("ends beyond the {} supported in all", format_size({kMaxSizeBytes})));
  }
  left -= bytes.count;
  return ok();
}

/// Appends the numbers that participants have to a CSR list.
void append_numbers(std::span<const NodeId> participants,
                    std::span<const NodeId> npus,
                    CustomList& list) {
  for (const NodeId npu : npus) {
    const auto at = std::lower_bound(participants.begin(), participants.end(), npu);
    list.members.push_back(static_cast<std::uint32_t>(at - participants.begin()));
  }
  list.members.end_row();
}

/// Reads the members of a collective file.
class CustomReader {
 public:
  CustomReader(const std::string& where, std::uint32_t num_npus)
      : where_(where), num_npus_(num_npus) {}

  Result<Collective> read(const Json& json, std::optional<Bytes> size) const {
    if (!json.is_object()) {
      return json_error(where_, "", "must be a JSON object with 'chunks'");
    }
    constexpr std::array<std::string_view, 3> kKeys{"name", "size_bytes", "chunks"};
    if (Status known = check_keys(json, kKeys, where_, ""); !known) {
      return known.error();
    }
    if (json.contains("name") && !json["name"].is_string()) {
      return json_error(where_, "name", "must be a string");
    }
    if (!json.contains("chunks") || !json["chunks"].is_array() || json["chunks"].empty()) {
      return json_error(where_, "chunks", "must be an array of one chunk or more");
    }
    const Json& list = json["chunks"];
    std::vector<CustomChunk> chunks;
    chunks.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      Result<CustomChunk> chunk = read_chunk(list[i], fmt::format("chunks[{}]", i));
      if (!chunk) {
        return chunk.error();
      }
      chunks.push_back(*std::move(chunk));
    }
    if (Status sized = set_sizes(json, size, chunks); !sized) {
      return sized.error();
    }
    Result<Collective> made = Collective::custom(
        json.value("name", std::filesystem::path(where_).stem().string()), std::move(chunks));
    return made ? std::move(made) : input_error(made.error().message, where_);
  }

 private:
  [[nodiscard]] Result<CustomChunk> read_chunk(const Json& item, const std::string& path) const {
    if (!item.is_object()) {
      return json_error(where_, path, "must be an object with sources and destinations");
    }
    constexpr std::array<std::string_view, 4> kKeys{"bytes", "sources", "destinations", "op"};
    if (Status known = check_keys(item, kKeys, where_, path); !known) {
      return known.error();
    }
    Result<std::vector<NodeId>> sources = read_npus(item, "sources", path);
    if (!sources) {
      return sources.error();
    }
    Result<std::vector<NodeId>> destinations = read_npus(item, "destinations", path);
    if (!destinations) {
      return destinations.error();
    }
    CustomChunk chunk{.bytes = {},
                      .sources = *std::move(sources),
                      .destinations = *std::move(destinations),
                      .reduces = false};
    if (item.contains("op")) {
      constexpr std::array<std::string_view, 2> kOps{kCopy, kReduce};
      if (!item["op"].is_string()) {
        return json_error(where_, path + ".op", "must be a string, copy or reduce");
      }
      const auto op = item["op"].get<std::string>();
      if (op != kCopy && op != kReduce) {
        return json_error(where_, path + ".op", unknown_name("op", op, kOps));
      }
      chunk.reduces = op == kReduce;
    }
    if (item.contains("bytes")) {
      const Result<std::uint64_t> bytes =
          whole_number(item["bytes"], where_, path + ".bytes", kMaxSizeBytes);
      if (!bytes || *bytes == 0) {
        return bytes ? json_error(where_, path, "has 0 bytes; use 1 or more") : bytes.error();
      }
      chunk.bytes = {static_cast<std::int64_t>(*bytes)};
    }
    return chunk;
  }

  [[nodiscard]] Result<std::vector<NodeId>> read_npus(const Json& item,
                                                      const char* key,
                                                      const std::string& path) const {
    std::vector<NodeId> npus;
    if (!item.contains(key)) {
      return npus;
    }
    const std::string member = fmt::format("{}.{}", path, key);
    if (!item[key].is_array()) {
      return json_error(where_, member, "must be an array of NPUs");
    }
    for (std::size_t i = 0; i < item[key].size(); ++i) {
      const std::string place = fmt::format("{}[{}]", member, i);
      const Result<std::uint64_t> id = whole_number(item[key][i], where_, place, kMaxNumber);
      if (!id) {
        return id.error();
      }
      if (*id >= num_npus_) {
        return json_error(
            where_,
            place,
            fmt::format("{} is not an NPU of the network; NPUs are 0 to {}", *id, num_npus_ - 1));
      }
      npus.emplace_back(static_cast<std::uint32_t>(*id));
    }
    return npus;
  }

  /// Every chunk its own bytes, or all together `size_bytes` or `size` in equal parts.
  [[nodiscard]] Status set_sizes(const Json& json,
                                 std::optional<Bytes> size,
                                 std::vector<CustomChunk>& chunks) const {
    const auto sized = static_cast<std::size_t>(std::count_if(
        chunks.begin(), chunks.end(), [](const CustomChunk& c) { return c.bytes.count > 0; }));
    const bool has_size = json.contains("size_bytes");
    if (sized == chunks.size() && !has_size && !size) {
      return ok();
    }
    if (sized > 0) {
      return json_error(where_,
                        "",
                        sized < chunks.size() ? "gives bytes to some chunks but not to all"
                        : has_size            ? "gives bytes to its chunks, and size_bytes too"
                                              : "gives bytes to its chunks; leave out --size");
    }
    ObjectReader reader(json, where_, "");
    const Bytes whole =
        size.value_or(Bytes{reader.optional("size_bytes", kMaxSizeBytes, kDefaultSize.count)});
    if (reader.failure()) {
      return *reader.failure();
    }
    const auto count = static_cast<std::int64_t>(chunks.size());
    if (whole.count < count) {
      return json_error(
          where_, "", fmt::format("{} cannot be cut into {} chunks", format_size(whole), count));
    }
    const ChunkTable table(whole, static_cast<std::uint32_t>(count));
    for (std::uint32_t chunk = 0; chunk < count; ++chunk) {
      chunks[chunk].bytes = table.bytes(ChunkId(chunk));
    }
    return ok();
  }

  static constexpr std::uint64_t kMaxNumber = 1LL << 52U;
  static constexpr Bytes kDefaultSize{1LL << 30U};

  const std::string& where_;
  std::uint32_t num_npus_;
};

Json ids_of(const Collective& collective, std::span<const std::uint32_t> numbers) {
  Json ids = Json::array();
  for (const std::uint32_t number : numbers) {
    ids.push_back(collective.participants()[number].value());
  }
  return ids;
}

}  // namespace

Result<Collective> Collective::custom(std::string name, std::vector<CustomChunk> chunks) {
  if (chunks.empty() || static_cast<std::int64_t>(chunks.size()) > kMaxChunks) {
    return input_error("a collective needs 1 to 2^31 chunks");
  }
  Collective made;
  auto table = std::make_shared<CustomTable>();
  std::vector<Bytes> sizes;
  sizes.reserve(chunks.size());
  std::int64_t left = kMaxSizeBytes;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    CustomChunk& chunk = chunks[i];
    for (const Status& checked : {sort_npus(chunk.sources, i, "source"),
                                  sort_npus(chunk.destinations, i, "destination"),
                                  check_size(i, chunk.bytes, left)}) {
      if (!checked) {
        return checked.error();
      }
    }
    sizes.push_back(chunk.bytes);
    for (const std::vector<NodeId>* npus : {&chunk.sources, &chunk.destinations}) {
      made.participants_.insert(made.participants_.end(), npus->begin(), npus->end());
    }
    table->any_reduces |= chunk.reduces;
    table->reduces.push_back(chunk.reduces ? 1 : 0);
  }
  std::sort(made.participants_.begin(), made.participants_.end());
  made.participants_.erase(std::unique(made.participants_.begin(), made.participants_.end()),
                           made.participants_.end());
  for (const CustomChunk& chunk : chunks) {
    append_numbers(made.participants_, chunk.sources, table->sources);
    append_numbers(made.participants_, chunk.destinations, table->destinations);
  }
  table->name = std::move(name);
  made.kind_ = CollectiveKind::kCustom;
  made.table_ = ChunkTable(sizes);
  made.size_ = made.table_.size();
  made.custom_ = std::move(table);
  return made;
}

std::span<const std::uint32_t> Collective::sources(ChunkId chunk) const {
  TACOS_ASSERT(custom_ != nullptr, "only custom collectives list sources");
  return custom_->sources.of(chunk);
}

std::span<const std::uint32_t> Collective::destinations(ChunkId chunk) const {
  TACOS_ASSERT(custom_ != nullptr, "only custom collectives list destinations");
  return custom_->destinations.of(chunk);
}

std::string_view Collective::name() const {
  return custom_ ? std::string_view(custom_->name) : to_string(kind_);
}

bool operator==(const Collective& a, const Collective& b) {
  return a.kind_ == b.kind_ && a.form_ == b.form_ && a.size_ == b.size_ && a.table_ == b.table_ &&
         a.participants_ == b.participants_ && a.root_ == b.root_ &&
         (a.custom_ == b.custom_ || (a.custom_ && b.custom_ && *a.custom_ == *b.custom_));
}

Result<Collective> parse_collective_json(std::string_view text,
                                         const std::string& where,
                                         std::uint32_t num_npus,
                                         std::optional<Bytes> size) {
  return read_json<Collective>(text, where, [&](const Json& json) {
    return CustomReader(where, num_npus).read(json, size);
  });
}

std::string collective_to_json(const Collective& collective) {
  Json chunks = Json::array();
  const bool by_rule = collective.chunks().by_rule();
  for (std::uint32_t c = 0; c < collective.num_chunks(); ++c) {
    const ChunkId chunk(c);
    Json item = {{"sources", ids_of(collective, collective.sources(chunk))},
                 {"destinations", ids_of(collective, collective.destinations(chunk))},
                 {"op", collective.reduces(chunk) ? kReduce : kCopy}};
    if (!by_rule) {
      item["bytes"] = collective.chunks().bytes(chunk).count;
    }
    chunks.push_back(std::move(item));
  }
  Json json = {{"name", collective.name()}, {"chunks", std::move(chunks)}};
  if (by_rule) {
    json["size_bytes"] = collective.size().count;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool names_collective_file(const std::string& text) {
  std::error_code ignored;
  return text == "-" || text.ends_with(".json") ||
         (!parse_collective_name(text) && std::filesystem::exists(text, ignored));
}

Result<Collective> load_collective(const std::string& path,
                                   std::uint32_t num_npus,
                                   std::optional<Bytes> size) {
  const Result<std::string> text = read_text_file(path);
  return text ? parse_collective_json(*text, path, num_npus, size)
              : Result<Collective>(text.error());
}

}  // namespace tacos
