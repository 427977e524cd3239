// SPDX-License-Identifier: MIT
// Chrome trace events, which ui.perfetto.dev opens. A link carries one transfer at a time, so its
// track has slices; at an NPU many arrive at once, so its track has pairs of beginnings and ends.
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "export/pictures/passages.h"
#include "export/pictures/pictures.h"

namespace tacos::exporting {
namespace {

constexpr int kLinks = 1;
constexpr int kNpus = 2;

/// In microseconds, exactly.
std::string micros(Ticks time) {
  constexpr std::int64_t kPerMicro = 1'000'000;
  return fmt::format("{}.{:06}", time.ps / kPerMicro, time.ps % kPerMicro);
}

std::string chunks_of(const Transfer& transfer) {
  std::string text = fmt::format("chunk {}", transfer.chunks.front().value());
  if (transfer.chunks.size() > 1) {
    text += fmt::format(" and {} more", transfer.chunks.size() - 1);
  }
  return text;
}

void name_tracks(const Topology& topology, std::string& text) {
  auto out = std::back_inserter(text);
  const auto name = [&](int process, std::uint32_t track, const std::string& what) {
    fmt::format_to(out,
                   "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{"
                   "\"name\":{}}}}},\n",
                   process,
                   track,
                   nlohmann::json(what).dump());
  };
  for (const auto& [process, what] : {std::pair(kLinks, "links"), std::pair(kNpus, "NPUs")}) {
    fmt::format_to(out,
                   "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":"
                   "\"{}\"}}}},\n",
                   process,
                   what);
  }
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    const Link& link = topology.link(LinkId(id));
    name(kLinks, id, fmt::format("link {}: {} > {}", id, link.src.value(), link.dst.value()));
  }
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    const std::string_view own = topology.node_name(NodeId(npu));
    name(kNpus, npu, own.empty() ? fmt::format("NPU {}", npu) : std::string(own));
  }
}

}  // namespace

Result<std::string> perfetto_text(const Bundle& bundle, const ExportOptions& /*options*/) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  name_tracks(bundle.topology, text);
  auto out = std::back_inserter(text);
  std::uint64_t number = 0;
  const Status read = each_transfer(bundle, [&](const Transfer& transfer, Ticks end) {
    const std::string chunks = chunks_of(transfer);
    const std::uint32_t src = bundle.topology.link(transfer.links.front()).src.value();
    const std::uint32_t dst = bundle.topology.link(transfer.links.back()).dst.value();
    each_passage(bundle, transfer, [&](const Passage& passage) {
      fmt::format_to(out,
                     "{{\"ph\":\"X\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},"
                     "\"args\":{{\"from\":{},\"to\":{},\"bytes\":{},\"op\":\"{}\"}}}},\n",
                     chunks,
                     kLinks,
                     passage.link.value(),
                     micros(passage.start),
                     micros(passage.busy),
                     src,
                     dst,
                     bundle.collective.chunks().bytes(transfer.chunks).count,
                     transfer.op == Op::kCopy ? "copy" : "reduce");
    });
    for (const auto& [phase, time] : {std::pair('b', transfer.start), std::pair('e', end)}) {
      fmt::format_to(out,
                     "{{\"ph\":\"{}\",\"cat\":\"arrivals\",\"id\":{},\"name\":\"{} from "
                     "{}\",\"pid\":{},\"tid\":{},\"ts\":{}}},\n",
                     phase,
                     number,
                     chunks,
                     src,
                     kNpus,
                     dst,
                     micros(time));
    }
    ++number;
  });
  if (!read) {
    return read.error();
  }
  fmt::format_to(
      out,
      "{{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":{},\"args\":{{\"labels\":{}}}}}"
      "\n]}}\n",
      kLinks,
      nlohmann::json(fmt::format("{} on {}", bundle.collective.name(), bundle.topology.name()))
          .dump());
  return text;
}

}  // namespace tacos::exporting
