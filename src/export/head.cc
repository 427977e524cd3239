// SPDX-License-Identifier: MIT
#include "export/head.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tacos {
namespace {

constexpr std::string_view kFormat = "tacos-schedule";
/// The version that is written; all up to it are read.
constexpr std::uint64_t kVersion = 2;

/// Participants as [first, last] ranges: all of 40,000 NPUs is one range.
Json ranges_of(std::span<const NodeId> nodes) {
  Json ranges = Json::array();
  for (std::size_t i = 0; i < nodes.size();) {
    std::size_t end = i + 1;
    while (end < nodes.size() && nodes[end].value() == nodes[end - 1].value() + 1) {
      ++end;
    }
    ranges.push_back({nodes[i].value(), nodes[end - 1].value()});
    i = end;
  }
  return ranges;
}

/// Reads the JSON of a head; `where` names it in errors.
class HeadReader {
 public:
  HeadReader(const std::string& where, std::uint32_t num_npus)
      : where_(where), num_npus_(num_npus) {}

  [[nodiscard]] Result<Head> read(const Json& json) const {
    if (!json.is_object() || !json.contains("collective") || !json["collective"].is_object()) {
      return json_error(where_, "", "must be a JSON object with 'collective'");
    }
    ObjectReader reader(json, where_, "");
    const std::string format = reader.text("format");
    const std::uint64_t version = reader.word("version");
    // Another version may have other members: say so before one of ours is missed.
    if (!reader.failure() && format != kFormat) {
      return json_error(where_, "format", fmt::format("is not {}", kFormat));
    }
    if (!reader.failure() && (version < 1 || version > kVersion)) {
      return json_error(
          where_,
          "version",
          fmt::format("is {}; this program reads versions 1 to {}", version, kVersion));
    }
    // Version 1 has none.
    const Result<CollectiveForm> form = json.contains("form")
                                            ? parse_collective_form(reader.text("form"))
                                            : CollectiveForm::kDirect;
    if (!reader.failure() && !form) {
      return json_error(where_, "form", form.error().message);
    }
    const std::string model = reader.text("link_model");
    const std::string engine = reader.text("engine");
    const std::uint64_t seed = reader.word("seed");
    if (reader.failure()) {
      return *reader.failure();
    }
    if (model != to_string(LinkModel::kHold) && model != to_string(LinkModel::kPipelined)) {
      return json_error(where_, "link_model", fmt::format("'{}' is unknown", model));
    }
    Result<Collective> collective = read_collective(json["collective"], *form);
    if (!collective) {
      return collective.error();
    }
    return Head{.collective = *std::move(collective),
                .link_model =
                    model == to_string(LinkModel::kHold) ? LinkModel::kHold : LinkModel::kPipelined,
                .engine = engine,
                .seed = seed};
  }

 private:
  [[nodiscard]] Result<Collective> read_collective(const Json& json, CollectiveForm form) const {
    ObjectReader reader(json, where_, kPath);
    const std::string name = reader.text("kind");
    const std::int64_t chunks = reader.required("chunks", kMaxChunks);
    if (reader.failure()) {
      return *reader.failure();
    }
    const Result<std::vector<NodeId>> participants = read_participants(json);
    if (!participants) {
      return participants.error();
    }
    Result<Collective> made = name == to_string(CollectiveKind::kCustom)
                                  ? read_custom(json, form)
                                  : read_named(json, name, *participants, form);
    if (!made) {
      return made.error().where.empty() ? json_error(where_, kPath, made.error().message)
                                        : std::move(made);
    }
    const auto taking_part = made->participants();
    if (!std::equal(
            taking_part.begin(), taking_part.end(), participants->begin(), participants->end())) {
      return json_error(where_, kPath, "its participants are not those of its chunks");
    }
    if (made->num_chunks() != chunks) {
      return json_error(
          where_, kPath, fmt::format("says {} chunks, but has {}", chunks, made->num_chunks()));
    }
    return made;
  }

  [[nodiscard]] Result<Collective> read_custom(const Json& json, CollectiveForm form) const {
    if (form != CollectiveForm::kDirect) {
      return json_error(where_, "form", "custom collectives are direct");
    }
    return json.contains("custom")
               ? parse_collective_json(
                     json["custom"].dump(), where_ + ": collective.custom", num_npus_)
               : json_error(where_, kPath, "'custom' is missing");
  }

  [[nodiscard]] Result<Collective> read_named(const Json& json,
                                              const std::string& name,
                                              const std::vector<NodeId>& participants,
                                              CollectiveForm form) const {
    const Result<CollectiveKind> kind = parse_collective_kind(name);
    if (!kind) {
      return kind.error();
    }
    ObjectReader reader(json, where_, kPath);
    const Bytes size{reader.required("size_bytes", kMaxSizeBytes)};
    const std::int64_t chunks = reader.required("chunk_argument", kMaxChunks);
    std::optional<NodeId> root;
    if (is_rooted(*kind)) {
      root = NodeId(static_cast<std::uint32_t>(reader.required("root", num_npus_ - 1)));
    }
    return reader.failure() ? Result<Collective>(*reader.failure())
                            : Collective::make(*kind, size, chunks, participants, root, form);
  }

  /// Ranges [first, last], increasing.
  [[nodiscard]] Result<std::vector<NodeId>> read_participants(const Json& json) const {
    const std::string path = fmt::format("{}.participants", kPath);
    if (!json.contains("participants") || !json["participants"].is_array()) {
      return json_error(where_, path, "must be a list of ranges [first, last]");
    }
    std::vector<NodeId> nodes;
    for (const Json& range : json["participants"]) {
      if (!range.is_array() || range.size() != 2) {
        return json_error(where_, path, "must be a list of ranges [first, last]");
      }
      const Result<std::uint64_t> first = whole_number(range[0], where_, path, num_npus_ - 1);
      const Result<std::uint64_t> last = whole_number(range[1], where_, path, num_npus_ - 1);
      if (!first || !last) {
        return first ? last.error() : first.error();
      }
      if (*first > *last || (!nodes.empty() && *first <= nodes.back().value())) {
        return json_error(
            where_,
            path,
            fmt::format("range {}-{} repeats an NPU or is out of order", *first, *last));
      }
      for (std::uint64_t node = *first; node <= *last; ++node) {
        nodes.emplace_back(static_cast<std::uint32_t>(node));
      }
    }
    return nodes;
  }

  static constexpr const char* kPath = "collective";

  const std::string& where_;
  std::uint32_t num_npus_;
};

}  // namespace

Json head_of(const Bundle& bundle) {
  const Collective& collective = bundle.collective;
  Json head = {{"format", kFormat},
               {"version", kVersion},
               {"form", to_string(collective.form())},
               {"link_model", to_string(bundle.link_model)},
               {"engine", bundle.engine},
               {"seed", bundle.seed},
               {"collective",
                {{"kind", to_string(collective.kind())},
                 {"size_bytes", collective.size().count},
                 {"chunks", collective.num_chunks()},
                 {"chunk_argument", collective.chunk_argument()},
                 {"participants", ranges_of(collective.participants())}}}};
  if (collective.kind() == CollectiveKind::kCustom) {
    head["collective"]["custom"] = Json::parse(collective_to_json(collective));
  }
  if (is_rooted(collective.kind())) {
    head["collective"]["root"] = collective.root().value();
  }
  return head;
}

Result<Head> read_head(std::string_view text, const std::string& where, std::uint32_t num_npus) {
  return read_json<Head>(
      text, where, [&](const Json& json) { return HeadReader(where, num_npus).read(json); });
}

}  // namespace tacos
