// SPDX-License-Identifier: MIT
// The columns are those of a trace, with bytes and names.
#include <iterator>

#include <fmt/format.h>

#include "export/pictures/passages.h"
#include "export/pictures/pictures.h"

namespace tacos::exporting {

Result<std::string> csv_text(const Bundle& bundle, const ExportOptions& /*options*/) {
  std::string text = "start_ps,end_ps,src,dst,chunk,bytes,op,links\n";
  const Status read = each_transfer(bundle, [&](const Transfer& transfer, Ticks end) {
    std::string links;
    for (const LinkId link : transfer.links) {
      links += fmt::format("{}{}", links.empty() ? "" : " ", link.value());
    }
    for (const ChunkId chunk : transfer.chunks) {
      fmt::format_to(std::back_inserter(text),
                     "{},{},{},{},{},{},{},{}\n",
                     transfer.start.ps,
                     end.ps,
                     bundle.topology.link(transfer.links.front()).src.value(),
                     bundle.topology.link(transfer.links.back()).dst.value(),
                     chunk.value(),
                     bundle.collective.chunks().bytes({&chunk, 1}).count,
                     transfer.op == Op::kCopy ? "copy" : "reduce",
                     links);
    }
  });
  return read ? Result(std::move(text)) : read.error();
}

}  // namespace tacos::exporting
