// SPDX-License-Identifier: MIT
// tacos bound: the proven limit alone, with its certificate.
#include "tacos/bound.h"

#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/quantity.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/task.h"
#include "topology/unreachable.h"

namespace tacos::cli {
namespace {

struct BoundArguments {
  TaskArguments task;
  std::string link_model = "hold";
  bool json = false;
};

std::string_view kind_name(CertificateKind kind) {
  switch (kind) {
    case CertificateKind::kNothing:
      return "nothing";
    case CertificateKind::kCut:
      return "cut";
    case CertificateKind::kPartition:
      return "partition";
    case CertificateKind::kLengths:
      return "lengths";
    case CertificateKind::kChunkCount:
      return "chunk-count";
    case CertificateKind::kGrowth:
      return "growth";
  }
  return "nothing";
}

Json ids(const std::vector<NodeId>& nodes) {
  Json list = Json::array();
  for (const NodeId node : nodes) {
    list.push_back(node.value());
  }
  return list;
}

Json certificate_json(const Topology& topology,
                      const Collective& collective,
                      const Certificate& certificate) {
  Json json{{"kind", kind_name(certificate.kind)},
            {"text", explain(topology, collective, certificate)},
            {"reversed", certificate.reversed},
            {"copies", certificate.copies},
            {"bytes", certificate.bytes},
            {"bandwidth_Bps", certificate.bandwidth},
            {"time_ps", certificate.time.ps}};
  switch (certificate.kind) {
    case CertificateKind::kCut:
    case CertificateKind::kChunkCount:
      json["receivers"] = ids(certificate.receivers);
      break;
    case CertificateKind::kPartition:
      json["parts"] = certificate.parts;
      break;
    case CertificateKind::kLengths:
      json["lengths"] = certificate.lengths;
      break;
    case CertificateKind::kGrowth:
      json["target"] = certificate.target.value();
      json["step_ps"] = certificate.step.ps;
      break;
    case CertificateKind::kNothing:
      break;
  }
  if (certificate.timing) {
    json["target"] = certificate.timing->target.value();
    json["radius_ps"] = certificate.timing->radius.ps;
    if (certificate.timing->source.valid()) {
      json["source"] = certificate.timing->source.value();
    }
  }
  return json;
}

void print_json(const Topology& topology,
                const Collective& collective,
                const BoundReport& report,
                std::string_view link_model,
                double seconds) {
  Json json = problem_json(topology, collective);
  json["link_model"] = link_model;
  add_bound(json, report);
  if (report.attainable) {
    json["attainable_us"] = to_us(*report.attainable);
  }
  json["bound_seconds"] = seconds;
  json["peak_rss_bytes"] = peak_rss_bytes();
  json["certificate"] = certificate_json(topology, collective, report.best.certificate);
  json["bandwidth_certificate"] =
      certificate_json(topology, collective, report.bandwidth.certificate);
  print_object(json);
}

void print_text(const Topology& topology,
                const Collective& collective,
                const BoundReport& report,
                std::string_view link_model,
                double seconds) {
  emit(stdout,
       "{} of {} on {}, {} model: at least {}\n\n",
       collective_text(collective),
       format_size(collective.size()),
       printable(topology.name()),
       link_model,
       format_time(report.best.time));
  Table table;
  table.add("because", explain(topology, collective, report.best.certificate));
  table.add("bound", fmt::format("{}{}", report.best.name, report.best.exact ? ", exact" : ""));
  if (report.bandwidth.name != report.best.name || report.bandwidth.time != report.best.time) {
    table.add("bandwidth alone",
              fmt::format("{} ({}{}): {}",
                          format_time(report.bandwidth.time),
                          report.bandwidth.name,
                          report.bandwidth.exact ? ", exact" : "",
                          explain(topology, collective, report.bandwidth.certificate)));
  }
  if (report.attainable) {
    table.add("attainable", fmt::format("{} by packing trees", format_time(*report.attainable)));
  }
  table.add("took", fmt::format("{:.3f} s", seconds));
  table.print(stdout);
}

ExitCode run_bound(const BoundArguments& arguments) {
  const Result<Task> task = load_task(arguments.task);
  if (!task) {
    return fail(task.error());
  }
  const Problem& asked = task->problem;
  // The bounds printed here hold for any chunking, so one chunk is as good as many.
  const Result<Collective> collective =
      asked.custom ? Result(*asked.custom)
                   : Collective::make(asked.kind, asked.size, 1, asked.participants, asked.root);
  if (!collective) {
    return fail(collective.error());
  }
  const Topology& topology = task->topology;
  const Stopwatch watch;
  const Result<BoundReport> report =
      compute_bounds(topology, *collective, {.link_model = link_model_of(arguments.link_model)});
  const double seconds = watch.seconds();
  if (!report) {
    return fail(report.error());
  }
  if (report->status == BoundStatus::kInfeasible) {
    return fail(unreachable_error(topology, *report->unreachable));
  }
  if (arguments.json) {
    print_json(topology, *collective, *report, arguments.link_model, seconds);
  } else {
    print_text(topology, *collective, *report, arguments.link_model, seconds);
  }
  return ExitCode::kGood;
}

}  // namespace

void add_bound_command(CLI::App& app, ExitCode& code) {
  auto arguments = std::make_shared<BoundArguments>();
  CLI::App* command = app.add_subcommand("bound", "The least time that any schedule needs, proven");
  add_task_options(*command, arguments->task);
  add_link_model_option(*command, arguments->link_model);
  add_switch(*command, "--json", arguments->json, "print one JSON object with the certificate");
  command->callback([arguments, &code] { code = run_bound(*arguments); });
}

}  // namespace tacos::cli
