// SPDX-License-Identifier: MIT
// HEAD and TOPO say what the schedule is for, blocks hold its transfers, TAIL its totals. Blocks
// are written as a cursor gives them and read as a cursor asks: memory is one block, whatever the
// size. A pattern is written and read as it is, and its network as the product that it is.
#include "tacos/bundle.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "export/sections.h"
#include "export/write_progress.h"
#include "schedule/block.h"
#include "schedule/block_reader.h"
#include "schedule/orbits.h"
#include "schedule/pattern.h"
#include "schedule/read_ahead.h"

namespace tacos {
namespace {

using Json = nlohmann::json;
constexpr int kVersion = 1;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

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

Json head_of(const Bundle& bundle) {
  const Collective& collective = bundle.collective;
  Json head = {{"format", "tacos-schedule"},
               {"version", kVersion},
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

Json tail_of(const Schedule::Totals& totals) {
  return {{"transfers", totals.transfers},
          {"moves", totals.moves},
          {"collective_time_ps", totals.collective_time.ps},
          {"schedule_hash", fmt::format("{:016x}", totals.hash)}};
}

/// Blocks of a file, opened anew for each cursor.
class FileSource final : public TransferSource {
 public:
  FileSource(std::string path, std::uint32_t num_links, std::uint64_t hash, std::uint64_t bytes)
      : path_(std::move(path)), num_links_(num_links), hash_(hash), bytes_(bytes) {}

  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const override {
    return std::make_unique<Cursor>(*this);
  }
  [[nodiscard]] std::size_t memory_bytes() const override { return 0; }
  [[nodiscard]] std::uint64_t encoded_bytes() const override { return bytes_; }

 private:
  class Cursor final : public TransferCursor {
   public:
    explicit Cursor(const FileSource& source)
        : source_(source), reader_(SectionReader::open(source.path_)) {}

    [[nodiscard]] Status next(TransferBatch& batch) override {
      batch.clear();
      if (!reader_) {
        return reader_.error();
      }
      while (!done_) {
        const Result<SectionTag> tag = reader_->next(payload_);
        if (!tag) {
          return tag.error();
        }
        if (*tag == SectionTag::kTail) {
          done_ = true;
          return hash_.value() == source_.hash_
                     ? ok()
                     : Status(reader_->damaged("its blocks do not match its hash"));
        }
        if (*tag == SectionTag::kBlock) {
          hash_.add(payload_);
          Status decoded = BlockCodec::decode(payload_, source_.num_links_, batch);
          return decoded && batch.empty() ? Status(reader_->damaged("a block is empty"))
                 : decoded                ? ok()
                                          : Status(reader_->damaged("a block makes no sense"));
        }
      }
      return ok();
    }

   private:
    const FileSource& source_;
    Result<SectionReader> reader_;
    std::vector<std::byte> payload_;
    StreamHash hash_;
    /// The tail has been read; whoever asks again gets nothing again.
    bool done_ = false;
  };

  std::string path_;
  std::uint32_t num_links_;
  std::uint64_t hash_;
  std::uint64_t bytes_;
};

struct Head {
  Collective collective;
  LinkModel link_model = LinkModel::kHold;
  std::string engine;
  std::uint64_t seed = 0;
};

Result<std::vector<NodeId>> participants_of(const Json& ranges, std::uint32_t num_npus) {
  std::vector<NodeId> nodes;
  for (const Json& range : ranges) {
    const auto first = range.at(0).get<std::uint64_t>();
    const auto last = range.at(1).get<std::uint64_t>();
    if (first > last || last >= num_npus) {
      return input_error(fmt::format(
          "participants {}-{} do not exist; NPUs are 0 to {}", first, last, num_npus - 1));
    }
    for (std::uint64_t node = first; node <= last; ++node) {
      nodes.emplace_back(static_cast<std::uint32_t>(node));
    }
  }
  return nodes;
}

/// These throw Json::exception on a missing or mistyped member; read_bundle turns that into an
/// Error.
Result<Collective> read_collective(const Json& described, std::uint32_t num_npus) {
  const auto name = described.at("kind").get<std::string>();
  if (name == to_string(CollectiveKind::kCustom)) {
    return parse_collective_json(described.at("custom").dump(), "collective", num_npus);
  }
  const Result<CollectiveKind> kind = parse_collective_kind(name);
  if (!kind) {
    return kind.error();
  }
  Result<std::vector<NodeId>> participants =
      participants_of(described.at("participants"), num_npus);
  if (!participants) {
    return participants.error();
  }
  std::optional<NodeId> root;
  if (is_rooted(*kind)) {
    root = NodeId(described.at("root").get<std::uint32_t>());
  }
  return Collective::make(*kind,
                          Bytes{described.at("size_bytes").get<std::int64_t>()},
                          described.at("chunk_argument").get<std::int64_t>(),
                          *std::move(participants),
                          root);
}

Result<Head> read_head(const Json& json, std::uint32_t num_npus) {
  if (json.at("format") != "tacos-schedule") {
    return input_error("its format is not tacos-schedule");
  }
  if (json.at("version") != kVersion) {
    return input_error(fmt::format("its format version is {}; this program reads version {}",
                                   json.at("version").dump(),
                                   kVersion));
  }
  Result<Collective> collective = read_collective(json.at("collective"), num_npus);
  if (!collective) {
    return collective.error();
  }
  const auto model = json.at("link_model").get<std::string>();
  if (model != to_string(LinkModel::kHold) && model != to_string(LinkModel::kPipelined)) {
    return input_error(fmt::format("its link model '{}' is unknown", model));
  }
  return Head{
      .collective = *std::move(collective),
      .link_model = model == to_string(LinkModel::kHold) ? LinkModel::kHold : LinkModel::kPipelined,
      .engine = json.at("engine").get<std::string>(),
      .seed = json.at("seed").get<std::uint64_t>()};
}

Schedule::Totals read_tail(const Json& json) {
  return {.transfers = json.at("transfers").get<std::uint64_t>(),
          .moves = json.at("moves").get<std::uint64_t>(),
          .collective_time = {json.at("collective_time_ps").get<std::int64_t>()},
          .hash = std::stoull(json.at("schedule_hash").get<std::string>(), nullptr, 16)};
}

PatternLimits pattern_limits(const Topology& topology, const Collective& collective) {
  return {.npus = topology.num_npus(),
          .links = topology.num_links(),
          .chunks = collective.num_chunks()};
}

/// Nothing when the section makes no sense.
std::shared_ptr<const TransferSource> read_pattern(SectionTag tag,
                                                   std::span<const std::byte> payload,
                                                   const PatternLimits& limits) {
  if (tag == SectionTag::kPattern) {
    Result<Pattern> pattern = decode_pattern(payload, limits);
    return pattern ? make_pattern_source(*std::move(pattern)) : nullptr;
  }
  Result<OrbitPattern> pattern = decode_orbits(payload, limits);
  return pattern ? make_orbit_source(*std::move(pattern)) : nullptr;
}

/// What comes after the topology: blocks or a pattern, and the tail.
Result<Schedule> read_schedule(SectionReader& reader,
                               const std::string& path,
                               const PatternLimits& limits) {
  std::vector<std::byte> payload;
  std::uint64_t blocks = 0;
  std::shared_ptr<const TransferSource> source;
  std::uint64_t hash = 0;
  Result<SectionTag> tag = reader.next_but_blocks(payload, blocks);
  if (tag && (*tag == SectionTag::kPattern || *tag == SectionTag::kOrbits) && blocks == 0) {
    source = read_pattern(*tag, payload, limits);
    if (source == nullptr) {
      return reader.damaged("its pattern makes no sense");
    }
    StreamHash stream;
    stream.add(payload);
    hash = stream.value();
    tag = reader.next(payload);
  }
  if (!tag || *tag != SectionTag::kTail) {
    return tag ? reader.damaged("a section is unknown") : tag.error();
  }
  if (!reader.at_end()) {
    return reader.damaged("bytes follow its end");
  }
  const Schedule::Totals totals = read_tail(Json::parse(text_of(payload)));
  if (source == nullptr) {
    source = std::make_shared<FileSource>(path, limits.links, totals.hash, reader.size());
  } else if (hash != totals.hash) {
    return reader.damaged("its pattern does not match its hash");
  }
  return Schedule(std::move(source), totals);
}

Result<Bundle> read_sections(SectionReader& reader, const std::string& path) {
  std::vector<std::byte> head;
  std::vector<std::byte> payload;
  Result<SectionTag> tag = reader.next(head);
  if (!tag || *tag != SectionTag::kHead) {
    return tag ? reader.damaged("it has no head") : tag.error();
  }
  tag = reader.next(payload);
  if (!tag || *tag != SectionTag::kTopology) {
    return tag ? reader.damaged("it has no topology") : tag.error();
  }
  Result<Topology> topology = parse_topology_json(text_of(payload), path + " (topology)");
  if (!topology) {
    return topology.error();
  }
  Result<Head> parsed = read_head(Json::parse(text_of(head)), topology->num_npus());
  if (!parsed) {
    return input_error(parsed.error().message, path);
  }
  Result<Schedule> schedule =
      read_schedule(reader, path, pattern_limits(*topology, parsed->collective));
  if (!schedule) {
    return schedule.error();
  }
  return Bundle{.topology = std::move(*topology),
                .collective = std::move(parsed->collective),
                .link_model = parsed->link_model,
                .schedule = std::move(*schedule),
                .engine = parsed->engine,
                .seed = parsed->seed};
}

/// A file holds what was verified or is not written.
Status check_written(bool same) {
  return same ? ok()
              : Status(Error{.code = ErrorCode::kInternal,
                             .message = "the file would not hold the schedule; nothing was written",
                             .where = {}});
}

/// All blocks of the schedule.
Status write_blocks(const Bundle& bundle, const WriteOptions& options, AtomicFile& file) {
  BlockReader blocks(bundle.schedule, bundle.topology.num_links(), options.threads);
  WriteProgress progress(options, bundle.schedule);
  StreamHash hash;
  for (;;) {
    if (Status read = blocks.next(); !read) {
      return read;
    }
    if (blocks.size() == 0) {
      return check_written(hash.value() == bundle.schedule.hash());
    }
    hash.add(blocks.bytes());
    if (Status written = write_section(file, SectionTag::kBlock, blocks.bytes()); !written) {
      return written;
    }
    progress.add(blocks.size());
  }
}

/// Only what read_pattern makes something of.
Status write_pattern(const Bundle& bundle,
                     SectionTag tag,
                     std::span<const std::byte> payload,
                     AtomicFile& file) {
  StreamHash hash;
  hash.add(payload);
  const bool readable =
      read_pattern(tag, payload, pattern_limits(bundle.topology, bundle.collective)) != nullptr;
  const Status same = check_written(readable && hash.value() == bundle.schedule.hash());
  return same ? write_section(file, tag, payload) : same;
}

/// The transfers, in as few words as the schedule has for them.
Status write_transfers(const Bundle& bundle, const WriteOptions& options, AtomicFile& file) {
  std::vector<std::byte> payload;
  if (const Pattern* pattern = bundle.schedule.pattern()) {
    encode_pattern(*pattern, payload);
    return write_pattern(bundle, SectionTag::kPattern, payload, file);
  }
  if (const OrbitPattern* pattern = bundle.schedule.orbits()) {
    encode_orbits(*pattern, payload);
    return write_pattern(bundle, SectionTag::kOrbits, payload, file);
  }
  return write_blocks(bundle, options, file);
}

}  // namespace

Status write_bundle(const Bundle& bundle, const std::string& path, const WriteOptions& options) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) {
    return file.error();
  }
  if (Status room = file->check_room(bundle.schedule.encoded_bytes()); !room) {
    return room;
  }
  Status written = file->write(kMagic);
  const auto section = [&](SectionTag tag, std::span<const std::byte> payload) {
    if (written) {
      written = write_section(*file, tag, payload);
    }
  };
  section(SectionTag::kHead, bytes_of(head_of(bundle).dump()));
  const bool short_form =
      bundle.schedule.pattern() != nullptr && has_product_structure(bundle.topology);
  section(
      SectionTag::kTopology,
      bytes_of(short_form ? product_to_json(bundle.topology) : topology_to_json(bundle.topology)));
  if (written) {
    written = write_transfers(bundle, options, *file);
  }
  section(SectionTag::kTail, bytes_of(tail_of(bundle.schedule.totals()).dump()));
  return written ? file->commit() : written;
}

Result<Bundle> read_bundle(const std::string& path) {
  Result<SectionReader> reader = SectionReader::open(path);
  if (!reader) {
    return reader.error();
  }
  try {
    return read_sections(*reader, path);
  } catch (const Json::exception& error) {
    return reader->damaged(error.what());
  } catch (const std::logic_error&) {
    return reader->damaged("its hash is not a number");
  }
}

}  // namespace tacos
