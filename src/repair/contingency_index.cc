// SPDX-License-Identifier: MIT
#include "repair/contingency_index.h"

#include <limits>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/numbers/hash.h"
#include "base/text/json_reader.h"

namespace tacos::repairing {
namespace {

constexpr std::string_view kIndexFormat = "tacos-contingency";
constexpr std::uint64_t kIndexVersion = 2;
constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

using Ordered = nlohmann::ordered_json;

Result<Contingency> read_row(const Json& json, const std::string& where, const std::string& path) {
  ObjectReader row(json, where, path);
  Contingency one{.failure = row.text("fail"),
                  .like = row.text("like"),
                  .file = row.text("file"),
                  .time = {row.required("time_ps", kAny)},
                  .bound = {row.required("bound_ps", kAny)},
                  .kept_transfers = row.word("kept_transfers"),
                  .new_transfers = row.word("new_transfers")};
  if (row.failure()) {
    return *row.failure();
  }
  if (one.file.find('/') != std::string::npos) {
    return json_error(where, path, "files of a contingency plan are in its folder");
  }
  return one;
}

Ordered row_json(const Contingency& row) {
  return {{"fail", row.failure},
          {"like", row.like},
          {"file", row.file},
          {"time_ps", row.time.ps},
          {"bound_ps", row.bound.ps},
          {"kept_transfers", row.kept_transfers},
          {"new_transfers", row.new_transfers}};
}

Result<ContingencyPlan> read_plan(const Json& json, const std::string& where) {
  if (!json.is_object() || !json.contains("rows") || !json["rows"].is_array()) {
    return json_error(where, "", "must be a JSON object with a list of 'rows'");
  }
  ObjectReader reader(json, where, "");
  if (reader.text("format") != kIndexFormat && !reader.failure()) {
    return json_error(where, "format", fmt::format("is not {}", kIndexFormat));
  }
  if (const std::uint64_t version = reader.word("version");
      version != kIndexVersion && !reader.failure()) {
    return json_error(where,
                      "version",
                      fmt::format("is {}; this program reads version {}", version, kIndexVersion));
  }
  ContingencyPlan plan{.network = reader.text("topology"),
                       .network_hash = reader.word("network_hash"),
                       .collective_hash = reader.word("collective_hash"),
                       .collective = reader.text("collective"),
                       .link_model = reader.text("link_model") == to_string(LinkModel::kPipelined)
                                         ? LinkModel::kPipelined
                                         : LinkModel::kHold,
                       .time = {reader.required("time_ps", kAny)},
                       .bound = {reader.required("bound_ps", kAny)},
                       .rows = {}};
  if (reader.failure()) {
    return *reader.failure();
  }
  const Json& items = json["rows"];
  plan.rows.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string path = fmt::format("rows[{}]", i);
    if (!items[i].is_object()) {
      return json_error(where, path, "must be an object");
    }
    Result<Contingency> read = read_row(items[i], where, path);
    if (!read) {
      return read.error();
    }
    plan.rows.push_back(*std::move(read));
  }
  return plan;
}

}  // namespace

std::string index_text(const ContingencyPlan& plan) {
  Ordered json{{"format", kIndexFormat},
               {"version", kIndexVersion},
               {"topology", plan.network},
               {"network_hash", plan.network_hash},
               {"collective", plan.collective},
               {"collective_hash", plan.collective_hash},
               {"link_model", to_string(plan.link_model)},
               {"time_ps", plan.time.ps},
               {"bound_ps", plan.bound.ps}};
  json["rows"] = Ordered::array();
  for (const Contingency& row : plan.rows) {
    json["rows"].push_back(row_json(row));
  }
  constexpr int kIndent = 2;
  return json.dump(kIndent, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

Result<ContingencyPlan> parse_index(std::string_view text, const std::string& where) {
  return read_json<ContingencyPlan>(
      text, where, [&](const Json& json) { return read_plan(json, where); });
}

std::uint64_t text_hash(std::string_view text) {
  StreamHash hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.value();
}

std::string row_text(const Contingency& row, std::uint64_t file_hash) {
  Ordered json{{"row", row_json(row)}, {"file_hash", file_hash}};
  json["row_hash"] = text_hash(json["row"].dump());
  return json.dump() + "\n";
}

std::optional<Contingency> parse_row(
    std::string_view text,
    const std::function<std::optional<std::uint64_t>(const std::string& name)>& file_hash) {
  const Result<Json> json = parse_json(text, "row");
  if (!json || !json->is_object() || !json->contains("row") || !(*json)["row"].is_object()) {
    return std::nullopt;
  }
  const Result<Contingency> row = read_row((*json)["row"], "row", "");
  const std::string where = "row";
  ObjectReader reader(*json, where, "");
  const std::uint64_t file_was = reader.word("file_hash");
  const std::uint64_t row_was = reader.word("row_hash");
  if (!row || reader.failure() || text_hash(row_json(*row).dump()) != row_was) {
    return std::nullopt;
  }
  const bool same = !row->possible() || file_hash(row->file) == file_was;
  return same ? std::optional(*row) : std::nullopt;
}

}  // namespace tacos::repairing
