// SPDX-License-Identifier: MIT
// The formats as a table: a new one is a row and the function that it names.
//
// A text is in the first format whose `detect` knows it. They look for what the format always has
// and the others have not, and read nothing but the beginning of XML and the outermost keys of
// JSON: O(length), without memory.
#include "import/formats.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tacos/import.h"

#include "base/files/file.h"
#include "base/text/suggest.h"
#include "import/text/fields.h"
#include "import/text/yaml.h"
#include "topology/generators.h"

namespace tacos {
namespace importing {

Result<Topology> read_own_json(const Source& source) {
  return parse_topology_json(source.text(), source.where());
}

Result<Topology> read_own_yaml(const Source& source) {
  const Result<Json> file = parse_yaml(source.text(), source.where());
  return file ? parse_topology_json(file->dump(-1, ' ', false, Json::error_handler_t::replace),
                                    source.where())
              : Result<Topology>(file.error());
}

namespace {

/// What detection looks at.
struct Looks {
  std::string_view text;
  bool is_xml = false;
  /// Of the first element, when it is XML.
  std::string root;
  /// Of an outermost object, when it is JSON.
  std::vector<std::string_view> keys;
  /// Of the first line that has any.
  std::vector<std::string_view> words;

  /// Neither XML nor JSON.
  [[nodiscard]] bool is_plain() const { return !words.empty(); }
  [[nodiscard]] bool has_key(std::string_view key) const {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  }
  /// Whether a line begins so.
  [[nodiscard]] bool has_line(std::string_view begin) const {
    for (std::size_t at = text.find(begin); at != std::string_view::npos;
         at = text.find(begin, at + 1)) {
      if (at == 0 || text[at - 1] == '\n') {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] bool has(std::string_view part) const {
    return text.find(part) != std::string_view::npos;
  }
};

/// The name of the first element, behind declarations and comments.
std::string root_of(std::string_view text) {
  while (text.starts_with('<')) {
    const bool comment = text.starts_with("<!--");
    if (!comment && !text.starts_with("<!") && !text.starts_with("<?")) {
      return std::string(text.substr(1, text.find_first_of(" \t\r\n/>", 1) - 1));
    }
    const bool subset = !comment && text.find('[') < text.find('>');
    const std::string_view end = comment ? "-->" : subset ? "]>" : ">";
    const std::size_t found = text.find(end);
    text = found == std::string_view::npos ? std::string_view()
                                           : trimmed(text.substr(found + end.size()));
  }
  return {};
}

/// Texts of the outermost object that a colon follows.
std::vector<std::string_view> keys_of(std::string_view text) {
  std::vector<std::string_view> keys;
  std::size_t depth = 0;
  for (std::size_t at = text.find_first_of("\"{}[]"); at != std::string_view::npos;
       at = text.find_first_of("\"{}[]", at + 1)) {
    if (text[at] != '"') {
      depth += text[at] == '{' || text[at] == '[' ? 1 : depth > 0 ? std::size_t(-1) : 0;
      continue;
    }
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != '"') {
      end += text[end] == '\\' ? 2 : 1;
    }
    const std::size_t next = text.find_first_not_of(" \t\r\n", end + 1);
    if (depth == 1 && next != std::string_view::npos && text[next] == ':') {
      keys.push_back(text.substr(at + 1, end - at - 1));
    }
    at = std::min(end, text.size() - 1);
  }
  return keys;
}

Looks look_at(std::string_view text) {
  Looks looks;
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  }
  looks.text = text;
  const std::string_view inner = trimmed(text);
  looks.is_xml = inner.starts_with('<');
  if (looks.is_xml) {
    looks.root = root_of(inner);
  } else if (inner.starts_with('{')) {
    looks.keys = keys_of(inner);
  } else {
    looks.words = words_of(inner.substr(0, inner.find('\n')));
  }
  return looks;
}

bool are_numbers(const std::vector<std::string_view>& words, std::size_t count) {
  return words.size() >= count && std::all_of(words.begin(),
                                              words.begin() + static_cast<std::ptrdiff_t>(count),
                                              [](std::string_view word) { return !!whole(word); });
}

struct Format {
  ImportFormat what;
  bool (*detect)(const Looks&);
  Result<Topology> (*read)(const Source&);
};

constexpr std::array kFormats{
    Format{{"nccl", "NCCL topology XML (NCCL_TOPO_DUMP_FILE)"},
           [](const Looks& looks) { return looks.root == "system" && !looks.has("<xgmi"); },
           read_nccl},
    Format{{"rccl", "RCCL topology XML"},
           [](const Looks& looks) { return looks.root == "system"; },
           read_nccl},
    Format{{"hwloc", "hwloc XML (lstopo --of xml)"},
           [](const Looks& looks) { return looks.root == "topology"; },
           read_hwloc},
    Format{{"graphml", "GraphML"},
           [](const Looks& looks) { return looks.root == "graphml"; },
           read_graphml},
    Format{{"sccl", "SCCL (msccl-tools) topology JSON"},
           [](const Looks& looks) { return looks.has_key("msccl_type"); },
           read_sccl},
    Format{{"taccl", "TACCL topology JSON"},
           [](const Looks& looks) { return looks.has_key("gpus_per_node"); },
           read_taccl},
    Format{{"networkx", "networkx node-link JSON"},
           [](const Looks& looks) {
             return looks.has_key("nodes") && (looks.has_key("links") || looks.has_key("edges"));
           },
           read_networkx},
    Format{{"rocm-smi", "rocm-smi --showtopo"},
           [](const Looks& looks) {
             return looks.is_plain() && looks.has("Link Type between two GPUs");
           },
           read_rocm_smi},
    Format{{"nvidia-smi", "nvidia-smi topo -m"},
           [](const Looks& looks) {
             return looks.is_plain() && looks.has("GPU0") &&
                    (looks.has(" X ") || looks.has("\tX\t"));
           },
           read_nvidia_smi},
    Format{{"astra-sim", "ASTRA-sim network yml"},
           [](const Looks& looks) { return looks.is_plain() && looks.has_line("npus_count:"); },
           read_astra_sim},
    Format{
        {"simai", "SimAI topology file"},
        [](const Looks& looks) { return looks.words.size() == 6 && are_numbers(looks.words, 5); },
        read_ns3},
    Format{
        {"ns3", "ns-3 (HPCC, ASTRA-sim) topology file"},
        [](const Looks& looks) { return looks.words.size() == 3 && are_numbers(looks.words, 3); },
        read_ns3},
    Format{{"yaml", "our topology file as YAML"},
           [](const Looks& looks) { return looks.is_plain() && looks.has_line("npus:"); },
           read_own_yaml},
    // Last, since whoever is no other gets its words about what is wrong.
    Format{{"json", "our topology file"}, [](const Looks&) { return true; }, read_own_json},
};

const Format* find_format(std::string_view name) {
  const auto* const found = std::find_if(
      kFormats.begin(), kFormats.end(), [&](const Format& one) { return one.what.name == name; });
  return found == kFormats.end() ? nullptr : found;
}

}  // namespace
}  // namespace importing

std::span<const ImportFormat> import_formats() {
  static constexpr auto kNames = [] {
    std::array<ImportFormat, importing::kFormats.size()> names{};
    for (std::size_t i = 0; i < names.size(); ++i) {
      names[i] = importing::kFormats[i].what;
    }
    return names;
  }();
  return kNames;
}

Result<ImportedTopology> import_topology(std::string_view text,
                                         const std::string& where,
                                         const ImportOptions& options) {
  const Result<importing::Latencies> latencies = importing::parse_latencies(options.latencies);
  if (!latencies) {
    return latencies.error();
  }
  const importing::Format* format = importing::find_format(options.from);
  if (format == nullptr && !options.from.empty()) {
    std::vector<std::string_view> names;
    for (const ImportFormat& known : import_formats()) {
      names.push_back(known.name);
    }
    return input_error(unknown_name("format", options.from, names), "--from");
  }
  if (format == nullptr) {
    const importing::Looks looks = importing::look_at(text);
    format = std::find_if(importing::kFormats.begin(),
                          importing::kFormats.end(),
                          [&](const importing::Format& one) { return one.detect(looks); });
    const bool json = format->what.name == "json";
    if (json && (looks.is_xml || looks.is_plain())) {
      return input_error(
          "is in no format that is known; 'tacos topology list' names them, --from chooses one",
          where);
    }
  }
  std::vector<std::string> warnings;
  const importing::Source source(text, where, *latencies, warnings);
  Result<Topology> topology = format->read(source);
  const Status ports = topology ? check_ports(*topology, where) : Status(topology.error());
  if (!ports) {
    return ports.error();
  }
  return ImportedTopology{.topology = *std::move(topology), .warnings = std::move(warnings)};
}

Result<ImportedTopology> load_network(const std::string& spec_or_file,
                                      const ImportOptions& options) {
  if (options.from.empty() && !names_topology_file(spec_or_file)) {
    Result<Topology> topology = parse_topology_spec(spec_or_file);
    return topology ? Result<ImportedTopology>({*std::move(topology), {}}) : topology.error();
  }
  const Result<std::string> text = read_text_file(spec_or_file);
  return text ? import_topology(*text, spec_or_file, options)
              : Result<ImportedTopology>(text.error());
}

}  // namespace tacos
