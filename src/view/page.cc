// SPDX-License-Identifier: MIT
// The page: what is embedded in the program, with the data of one or two schedules.
//
// Data stand in a script element as JSON. Nothing in it may end that element, so that "<" is
// written as \u003c; the page itself writes names as text, never as markup.
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tacos/bound.h"
#include "tacos/simulate.h"
#include "tacos/view.h"

#include "base/parallel/progress.h"
#include "base/text/quantity.h"
#include "view/column.h"
#include "view/limits.h"
#include "view/network.h"
#include "view/template.h"
#include "view/traffic.h"

namespace tacos::viewing {
namespace {

/// Beyond, a critical path would take more memory and time than the rest.
constexpr std::uint64_t kMostForPath = 50'000'000;

std::string name_of(const Collective& collective) {
  return is_rooted(collective.kind())
             ? fmt::format("{}:{}", collective.name(), collective.root().value())
             : std::string(collective.name());
}

std::string title_of(const Bundle& bundle) {
  return fmt::format("{} of {} on {}",
                     name_of(bundle.collective),
                     format_size(bundle.collective.size()),
                     bundle.topology.name());
}

/// One sentence on what the page leaves out; empty when that is nothing.
std::string note_on(const Bundle& bundle, const Traffic& traffic) {
  const std::string all = format_count(bundle.schedule.num_transfers());
  switch (traffic.detail) {
    case Detail::kWhole:
      return {};
    case Detail::kSums:
      return fmt::format(
          "{} transfers are too many for a page: it shows how busy each link is in {} windows of "
          "time, "
          "and all transfers of {} of the {} chunks.",
          all,
          traffic.columns["cells"]["windows"].get<std::size_t>(),
          format_count(traffic.held->size()),
          format_count(bundle.collective.num_chunks()));
    case Detail::kPattern:
      return fmt::format(
          "One pattern of {} transfers, which all {} NPUs repeat from where they are: the page "
          "shows "
          "what NPU 0's chunks do among the {} NPUs around it.",
          format_count(bundle.schedule.num_transfers() / bundle.topology.num_npus()),
          format_count(bundle.topology.num_npus()),
          format_count(traffic.piece->network.num_npus()));
  }
  return {};
}

/// Label and value, for people.
class Rows {
 public:
  void add(std::string_view label, std::string value) {
    rows_.push_back(Json::array({label, std::move(value)}));
  }
  [[nodiscard]] Json take() { return std::move(rows_); }

 private:
  Json rows_ = Json::array();
};

double ratio(Ticks part, Ticks whole) {
  return whole.ps == 0 ? 1 : static_cast<double>(part.ps) / static_cast<double>(whole.ps);
}

Json report_json(const Bundle& bundle,
                 const BoundReport& bound,
                 const Traffic& traffic,
                 const std::optional<CriticalPath>& path) {
  const Collective& collective = bundle.collective;
  const Ticks time = bundle.schedule.collective_time();
  const double us = to_us(time);
  const double algbw = us == 0 ? 0 : static_cast<double>(collective.size().count) * 1e-3 / us;
  Rows rows;
  rows.add("collective time", format_time(time));
  rows.add("bound", fmt::format("{} ({})", format_time(bound.best.time), bound.best.name));
  rows.add("efficiency", fmt::format("{:.1f}% of the bound", 100 * ratio(bound.best.time, time)));
  rows.add("algorithm bandwidth", fmt::format("{:.2f} GB/s", algbw));
  rows.add("bus bandwidth", fmt::format("{:.2f} GB/s", algbw * collective.bus_factor()));
  rows.add("mean utilization", fmt::format("{:.1f}%", 100 * traffic.utilization));
  rows.add("network",
           fmt::format("{} NPUs, {} switches, {} links",
                       format_count(bundle.topology.num_npus()),
                       format_count(bundle.topology.num_switches()),
                       format_count(bundle.topology.num_working_links())));
  rows.add("participants", format_count(collective.num_participants()));
  rows.add("buffer",
           fmt::format("{} in {} chunks of up to {}",
                       format_size(collective.size()),
                       format_count(collective.num_chunks()),
                       format_size(collective.chunks().max_bytes())));
  rows.add("link model", std::string(to_string(bundle.link_model)));
  rows.add("engine", fmt::format("{}, seed {}", bundle.engine, bundle.seed));
  rows.add("transfers", format_count(bundle.schedule.num_transfers()));
  if (path) {
    rows.add("critical path",
             fmt::format("{} transfers: {} latency, {} serialization, {} behind others on a link",
                         format_count(path->steps.size()),
                         format_time(path->latency),
                         format_time(path->serialization),
                         format_time(path->waiting)));
  }
  rows.add("schedule hash", fmt::format("{:016x}", bundle.schedule.hash()));
  return rows.take();
}

/// Nothing where it would take too much.
Result<std::optional<CriticalPath>> path_of(const Bundle& bundle,
                                            const Traffic& traffic,
                                            const ViewOptions& options,
                                            const std::function<void(double)>& progress) {
  if (traffic.detail == Detail::kPattern || bundle.schedule.num_transfers() > kMostForPath) {
    return std::optional<CriticalPath>();
  }
  Result<Simulation> simulation =
      simulate(bundle.topology,
               bundle.collective,
               bundle.schedule,
               {.link_model = bundle.link_model, .threads = options.threads, .progress = progress});
  if (!simulation) {
    return simulation.error();
  }
  return std::optional(std::move(simulation->critical_path));
}

Result<Json> side_json(const Bundle& bundle,
                       const ViewOptions& options,
                       JointProgress& progress,
                       std::size_t side) {
  Result<BoundReport> bound = compute_bounds(
      bundle.topology,
      bundle.collective,
      {.effort = effort_beside_schedule(bundle.topology), .link_model = bundle.link_model});
  if (!bound) {
    return bound.error();
  }
  Result<Traffic> traffic = traffic_of(bundle, options, progress.part(2 * side));
  if (!traffic) {
    return traffic.error();
  }
  const Result<std::optional<CriticalPath>> path =
      path_of(bundle, *traffic, options, progress.part(2 * side + 1));
  if (!path) {
    return path.error();
  }
  Json json{{"title", title_of(bundle)},
            {"engine", bundle.engine},
            {"detail", to_string(traffic->detail)},
            {"note", note_on(bundle, *traffic)},
            {"time", bundle.schedule.collective_time().ps},
            {"bound", bound->best.time.ps},
            {"bound_name", bound->best.name},
            {"link_model", to_string(bundle.link_model)},
            {"utilization", traffic->utilization},
            {"network", network_json(bundle, *traffic)},
            {"chunks", chunks_json(bundle, *traffic)},
            {"limits", limits_json(bundle, *bound, *traffic)},
            {"report", report_json(bundle, *bound, *traffic, *path)}};
  if (*path) {
    json["path"] = path_json(**path);
  }
  json.update(traffic->columns);
  return json;
}

/// JSON that can stand in a script element, and in a script.
std::string for_script(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kEscapes{
      {{"<", "\\u003c"}, {"\xe2\x80\xa8", "\\u2028"}, {"\xe2\x80\xa9", "\\u2029"}}};
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    bool escaped = false;
    for (const auto& [from, to] : kEscapes) {
      if (text.compare(at, from.size(), from) == 0) {
        safe += to;
        at += from.size();
        escaped = true;
        break;
      }
    }
    if (!escaped) {
      safe += text[at++];
    }
  }
  return safe;
}

/// Text between tags.
std::string for_markup(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    safe += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return safe;
}

std::string filled(const std::string& title, const std::string& data) {
  const std::string_view page = page_template();
  const std::size_t title_at = page.find(kTitleMark);
  const std::size_t data_at = page.find(kDataMark, title_at);
  std::string text;
  text.reserve(page.size() + title.size() + data.size());
  text += page.substr(0, title_at);
  text += title;
  text += page.substr(title_at + kTitleMark.size(), data_at - title_at - kTitleMark.size());
  text += data;
  text += page.substr(data_at + kDataMark.size());
  return text;
}

}  // namespace
}  // namespace tacos::viewing

namespace tacos {

Result<std::string> view_page(std::span<const Bundle> bundles, const ViewOptions& options) {
  viewing::Json json{{"format", 1}, {"sides", viewing::Json::array()}};
  std::string title;
  JointProgress progress(options.progress, 2 * bundles.size());
  for (std::size_t side = 0; side < bundles.size(); ++side) {
    Result<viewing::Json> made = viewing::side_json(bundles[side], options, progress, side);
    if (!made) {
      return made.error();
    }
    title += (title.empty() ? "" : " | ") + viewing::title_of(bundles[side]);
    json["sides"].push_back(*std::move(made));
  }
  return viewing::filled(viewing::for_markup(title), viewing::for_script(json));
}

}  // namespace tacos
