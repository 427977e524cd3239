// SPDX-License-Identifier: MIT
#include "plan/index.h"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/json_reader.h"

namespace tacos::planning {
namespace {

constexpr std::string_view kFormat = "tacos-plan";
constexpr std::uint64_t kVersion = 1;
constexpr std::uint64_t kAny = std::numeric_limits<std::int64_t>::max();

/// In the order in which people want to read it.
using Ordered = nlohmann::ordered_json;

Ordered point_json(const PlanPoint& point) {
  return {{"size_bytes", point.size.count},
          {"time_ps", point.time.ps},
          {"time_us", to_us(point.time)},
          {"bound_ps", point.bound.ps},
          {"bound_us", to_us(point.bound)}};
}

Ordered entry_json(const PlanEntry& entry) {
  Ordered json{{"collective", to_string(entry.kind)}};
  if (entry.root) {
    json["root"] = entry.root->value();
  }
  json["ranks"] = entry.participants.size();
  json["group"] = group_text(entry.participants);
  json["min_bytes"] = entry.least.count;
  json["max_bytes"] = entry.most.count;
  json["file"] = entry.file;
  if (!entry.exported.empty()) {
    json["exported"] = entry.exported;
  }
  json["engine"] = entry.engine;
  json["form"] = to_string(entry.form);
  json["chunks"] = entry.chunks;
  json["points"] = Ordered::array();
  for (const PlanPoint& point : entry.points) {
    json["points"].push_back(point_json(point));
  }
  return json;
}

/// Reads plan.json, whoever wrote it.
class IndexReader {
 public:
  explicit IndexReader(const std::string& where) : where_(where) {}

  [[nodiscard]] Result<Plan> read(const Json& json) const {
    if (!json.is_object() || !json.contains("entries") || !json["entries"].is_array()) {
      return json_error(where_, "", "must be a JSON object with a list of 'entries'");
    }
    ObjectReader reader(json, where_, "");
    if (reader.text("format") != kFormat && !reader.failure()) {
      return json_error(where_, "format", fmt::format("is not {}", kFormat));
    }
    if (const std::uint64_t version = reader.word("version");
        version != kVersion && !reader.failure()) {
      return json_error(where_,
                        "version",
                        fmt::format("is {}; this program reads version {}", version, kVersion));
    }
    constexpr std::int64_t kMostNpus = std::numeric_limits<std::uint32_t>::max();
    Plan plan{.network = reader.text("topology"),
              .network_hash = reader.word("network_hash"),
              .npus = static_cast<std::uint32_t>(reader.required("npus", kMostNpus)),
              .link_model = reader.text("link_model") == to_string(LinkModel::kPipelined)
                                ? LinkModel::kPipelined
                                : LinkModel::kHold,
              .seed = reader.word("seed"),
              .effort = static_cast<int>(reader.required("effort", kMostEffort)),
              .format = reader.text("export_format"),
              .least = {reader.required("min_bytes", kMaxSizeBytes)},
              .most = {reader.required("max_bytes", kMaxSizeBytes)},
              .entries = {}};
    if (reader.failure()) {
      return *reader.failure();
    }
    const Json& items = json["entries"];
    plan.entries.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      Result<PlanEntry> entry = read_entry(items[i], fmt::format("entries[{}]", i), plan.npus);
      if (!entry) {
        return entry.error();
      }
      plan.entries.push_back(*std::move(entry));
    }
    return plan;
  }

 private:
  [[nodiscard]] Result<PlanEntry> read_entry(const Json& json,
                                             const std::string& path,
                                             std::uint32_t npus) const {
    if (!json.is_object() || !json.contains("points") || !json["points"].is_array()) {
      return json_error(where_, path, "must be an object with a list of 'points'");
    }
    ObjectReader reader(json, where_, path);
    const Result<CollectiveKind> kind = parse_collective_kind(reader.text("collective"));
    const Result<std::vector<NodeId>> group = parse_group(reader.text("group"), npus);
    const Result<CollectiveForm> form = parse_collective_form(reader.text("form"));
    PlanEntry entry{.root = std::nullopt,
                    .participants = {},
                    .least = {reader.required("min_bytes", kMaxSizeBytes)},
                    .most = {reader.required("max_bytes", kMaxSizeBytes)},
                    .file = reader.text("file"),
                    .exported = json.contains("exported") ? reader.text("exported") : std::string(),
                    .engine = reader.text("engine"),
                    .chunks = reader.required("chunks", kMaxChunks),
                    .points = {}};
    if (json.contains("root")) {
      entry.root = NodeId(static_cast<std::uint32_t>(reader.required("root", npus - 1)));
    }
    if (reader.failure()) {
      return *reader.failure();
    }
    if (!kind || !group || !form) {
      return json_error(where_,
                        path,
                        !kind    ? kind.error().message
                        : !group ? group.error().message
                                 : form.error().message);
    }
    for (const std::string& file : {entry.file, entry.exported}) {
      if (file.find('/') != std::string::npos) {
        return json_error(where_, path, "files of a plan are in its folder");
      }
    }
    entry.kind = *kind;
    entry.participants = *group;
    entry.form = *form;
    for (const Json& item : json["points"]) {
      ObjectReader point(item, where_, path + ".points");
      entry.points.push_back({.size = {point.required("size_bytes", kMaxSizeBytes)},
                              .time = {point.required("time_ps", kAny)},
                              .bound = {point.required("bound_ps", kAny)}});
      if (point.failure()) {
        return *point.failure();
      }
    }
    return entry;
  }

  const std::string& where_;
};

}  // namespace

std::string group_text(std::span<const NodeId> npus) {
  std::string text;
  for (std::size_t i = 0; i < npus.size();) {
    std::size_t end = i + 1;
    while (end < npus.size() && npus[end].value() == npus[end - 1].value() + 1) {
      ++end;
    }
    text += fmt::format("{}{}", text.empty() ? "" : ",", npus[i].value());
    if (end - i > 1) {
      text += fmt::format("-{}", npus[end - 1].value());
    }
    i = end;
  }
  return text;
}

std::string index_text(const Plan& plan) {
  Ordered json{{"format", kFormat},
               {"version", kVersion},
               {"topology", plan.network},
               {"network_hash", plan.network_hash},
               {"npus", plan.npus},
               {"link_model", to_string(plan.link_model)},
               {"seed", plan.seed},
               {"effort", plan.effort},
               {"export_format", plan.format},
               {"min_bytes", plan.least.count},
               {"max_bytes", plan.most.count}};
  json["entries"] = Ordered::array();
  for (const PlanEntry& entry : plan.entries) {
    json["entries"].push_back(entry_json(entry));
  }
  constexpr int kIndent = 2;
  return json.dump(kIndent, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

Result<Plan> parse_index(std::string_view text, const std::string& where) {
  return read_json<Plan>(
      text, where, [&](const Json& json) { return IndexReader(where).read(json); });
}

}  // namespace tacos::planning
