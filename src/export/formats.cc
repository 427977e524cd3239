// SPDX-License-Identifier: MIT
// All formats, a row each.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "tacos/export.h"

#include "base/files/file.h"
#include "base/parallel/cancel.h"
#include "base/text/suggest.h"
#include "export/folder.h"
#include "export/pictures/pictures.h"
#include "export/runtimes/msccl.h"
#include "export/runtimes/mscclpp.h"
#include "export/simulators/chakra.h"

namespace tacos {
namespace {

constexpr std::array kFormats{
    ExportFormat{"msccl", "MSCCL (microsoft/msccl)", exporting::msccl_text, nullptr, ".xml", true},
    ExportFormat{"msccl-azure",
                 "the MSCCL executor in Azure's NCCL",
                 exporting::msccl_azure_text,
                 nullptr,
                 ".xml",
                 true},
    ExportFormat{"rccl", "RCCL", exporting::rccl_text, nullptr, ".xml", true},
    ExportFormat{"mscclpp", "MSCCL++", exporting::mscclpp_text, nullptr, ".json", true, true},
    ExportFormat{"chakra", "ASTRA-sim", nullptr, exporting::chakra_files},
    ExportFormat{"csv", "spreadsheets", exporting::csv_text, nullptr, ".csv"},
    ExportFormat{"graphml", "networkx, Gephi, yEd", exporting::graphml_text, nullptr, ".graphml"},
    ExportFormat{"dot", "Graphviz", exporting::dot_text, nullptr, ".dot"},
    ExportFormat{"perfetto", "ui.perfetto.dev", exporting::perfetto_text, nullptr, ".json"},
};

}  // namespace

std::span<const ExportFormat> export_formats() {
  return kFormats;
}

Result<const ExportFormat*> find_export_format(std::string_view name) {
  const auto found = std::find_if(
      kFormats.begin(), kFormats.end(), [&](const ExportFormat& one) { return one.name == name; });
  if (found != kFormats.end()) {
    return &*found;
  }
  std::vector<std::string_view> names;
  names.reserve(kFormats.size());
  for (const ExportFormat& one : kFormats) {
    names.push_back(one.name);
  }
  return input_error(unknown_name("format", name, names));
}

Status check_options(const ExportFormat& format, const ExportOptions& options) {
  if (options.credits && !format.credits) {
    return input_error(
        fmt::format("{} has no messages without data; leave --credits out, or use --format mscclpp",
                    format.reader));
  }
  return ok();
}

Status export_schedule(const Bundle& bundle,
                       const ExportFormat& format,
                       const std::string& path,
                       const ExportOptions& options) {
  if (Status said = check_options(format, options); !said) {
    return said;
  }
  if (format.files != nullptr) {
    const Result<std::vector<ExportFile>> files = format.files(bundle, options);
    return files ? exporting::write_folder(path, *files) : files.error();
  }
  const Result<std::string> text = format.text(bundle, options);
  if (!text) {
    return text.error();
  }
  check_cancel();
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) {
    return file.error();
  }
  if (Status written = file->write(*text); !written) {
    return written;
  }
  return file->commit();
}

}  // namespace tacos
