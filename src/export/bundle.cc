// SPDX-License-Identifier: MIT
// HEAD and TOPO say what the schedule is for, blocks hold its transfers, TAIL its totals. Blocks
// are written as a cursor gives them and read as a cursor asks: memory is one block, whatever the
// size. A pattern or a timetable is written and read as it is, and the network of a pattern as the
// product that it is.
#include "tacos/bundle.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/numbers/hash.h"
#include "base/parallel/cancel.h"
#include "base/text/json_reader.h"
#include "export/file_source.h"
#include "export/head.h"
#include "export/sections.h"
#include "export/write_progress.h"
#include "schedule/blocks/block.h"
#include "schedule/blocks/block_reader.h"
#include "schedule/patterns/orbits.h"
#include "schedule/patterns/pattern.h"
#include "schedule/periodic/timetable.h"
#include "schedule/source.h"

namespace tacos {
namespace {

constexpr std::size_t kHashDigits = 16;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Json tail_of(const Schedule::Totals& totals) {
  return {{"transfers", totals.transfers},
          {"moves", totals.moves},
          {"collective_time_ps", totals.collective_time.ps},
          {"schedule_hash", fmt::format("{:0{}x}", totals.hash, kHashDigits)}};
}

Result<Schedule::Totals> read_tail(const Json& json, const std::string& where) {
  if (!json.is_object()) {
    return json_error(where, "", "must be a JSON object");
  }
  ObjectReader reader(json, where, "");
  Schedule::Totals totals{.transfers = reader.word("transfers"),
                          .moves = reader.word("moves"),
                          .collective_time = {reader.required("collective_time_ps", kMaxTime.ps)},
                          .hash = 0};
  const std::string hash = reader.text("schedule_hash");
  if (reader.failure()) {
    return *reader.failure();
  }
  constexpr int kHex = 16;
  const char* const end = hash.data() + hash.size();
  const auto [last, failure] = std::from_chars(hash.data(), end, totals.hash, kHex);
  if (hash.size() != kHashDigits || failure != std::errc() || last != end) {
    return json_error(where, "schedule_hash", "must be 16 hex digits");
  }
  return totals;
}

PatternLimits pattern_limits(const Topology& topology, const Collective& collective) {
  return {.npus = topology.num_npus(),
          .links = topology.num_links(),
          .chunks = collective.num_chunks()};
}

/// Whether a section stands for all transfers without listing them.
bool is_short_form(SectionTag tag) {
  return tag == SectionTag::kPattern || tag == SectionTag::kOrbits || tag == SectionTag::kPeriodic;
}

/// Null unless `payload` is what writing `form`, read from it, makes: one thing is said in one way.
template <typename Form>
std::shared_ptr<const TransferSource> source_of(
    Result<Form> form,
    std::span<const std::byte> payload,
    void (*encode)(const Form&, std::vector<std::byte>&),
    std::shared_ptr<const TransferSource> (*make_source)(Form)) {
  if (!form) {
    return nullptr;
  }
  std::vector<std::byte> again;
  encode(*form, again);
  return std::ranges::equal(again, payload) ? make_source(*std::move(form)) : nullptr;
}

/// Nothing when the section makes no sense, or is not in its shortest form.
std::shared_ptr<const TransferSource> read_short_form(SectionTag tag,
                                                      std::span<const std::byte> payload,
                                                      const PatternLimits& limits) {
  switch (tag) {
    case SectionTag::kPattern:
      return source_of(
          decode_pattern(payload, limits), payload, encode_pattern, make_pattern_source);
    case SectionTag::kPeriodic:
      return source_of(
          decode_timetable(payload, limits), payload, encode_timetable, make_periodic_source);
    default:
      return source_of(decode_orbits(payload, limits), payload, encode_orbits, make_orbit_source);
  }
}

/// What comes after the topology: blocks or a short form, and the tail.
Result<Schedule> read_schedule(SectionReader& reader,
                               const std::string& path,
                               const PatternLimits& limits) {
  std::vector<std::byte> payload;
  std::uint64_t blocks = 0;
  std::shared_ptr<const TransferSource> source;
  std::uint64_t hash = 0;
  Result<SectionTag> tag = reader.next_but_blocks(payload, blocks);
  if (tag && blocks == 0 && is_short_form(*tag)) {
    source = read_short_form(*tag, payload, limits);
    if (source == nullptr) {
      return reader.damaged(*tag == SectionTag::kPeriodic ? "its timetable makes no sense"
                                                          : "its pattern makes no sense");
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
  const std::string where = path + " (tail)";
  const Result<Schedule::Totals> totals = read_json<Schedule::Totals>(
      text_of(payload), where, [&](const Json& json) { return read_tail(json, where); });
  if (!totals) {
    return totals.error();
  }
  if (source == nullptr) {
    source = std::make_shared<FileSource>(path, limits.links, totals->hash, reader.size());
  } else if (hash != totals->hash) {
    return reader.damaged("its transfers do not match their hash");
  }
  return make_schedule(std::move(source), *totals);
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
  Result<Head> parsed = read_head(text_of(head), path + " (head)", topology->num_npus());
  if (!parsed) {
    return parsed.error();
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
    check_cancel();
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

/// Only what read_short_form makes something of.
Status write_short_form(const Bundle& bundle,
                        SectionTag tag,
                        std::span<const std::byte> payload,
                        AtomicFile& file) {
  StreamHash hash;
  hash.add(payload);
  const bool readable =
      read_short_form(tag, payload, pattern_limits(bundle.topology, bundle.collective)) != nullptr;
  const Status same = check_written(readable && hash.value() == bundle.schedule.hash());
  return same ? write_section(file, tag, payload) : same;
}

/// The transfers, in as few words as the schedule has for them.
Status write_transfers(const Bundle& bundle, const WriteOptions& options, AtomicFile& file) {
  std::vector<std::byte> payload;
  const auto write_as = [&](SectionTag tag) {
    return write_short_form(bundle, tag, payload, file);
  };
  return std::visit(Overloaded{[&](const Pattern* pattern) {
                                 encode_pattern(*pattern, payload);
                                 return write_as(SectionTag::kPattern);
                               },
                               [&](const OrbitPattern* pattern) {
                                 encode_orbits(*pattern, payload);
                                 return write_as(SectionTag::kOrbits);
                               },
                               [&](const Timetable* timetable) {
                                 encode_timetable(*timetable, payload);
                                 return write_as(SectionTag::kPeriodic);
                               },
                               [&](Listed) { return write_blocks(bundle, options, file); }},
                    source_of(bundle.schedule).form());
}

}  // namespace

Status write_bundle(const Bundle& bundle, const std::string& path, const WriteOptions& options) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) {
    return file.error();
  }
  if (Status room = file->check_room(source_of(bundle.schedule).encoded_bytes()); !room) {
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
      std::holds_alternative<const Pattern*>(source_of(bundle.schedule).form()) &&
      has_product_structure(bundle.topology);
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
  return read_sections(*reader, path);
}

}  // namespace tacos
