// SPDX-License-Identifier: MIT
// What must arrive where: pre- and postconditions as functions of (chunk, participant).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tacos/chunk_table.h"
#include "tacos/ids.h"
#include "tacos/result.h"
#include "tacos/units.h"

namespace tacos {

enum class CollectiveKind {
  kAllGather,
  kReduceScatter,
  kAllReduce,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kAllToAll,
  kCustom,  ///< from a file; not among collective_kinds()
};
[[nodiscard]] std::string_view to_string(CollectiveKind kind);
/// Names as on the command line, with "did you mean" on failure.
[[nodiscard]] Result<CollectiveKind> parse_collective_kind(std::string_view name);
/// All but custom ones.
[[nodiscard]] std::span<const CollectiveKind> collective_kinds();

/// Where sums are made: on the way, or by those who need them, out of contributions that travel as
/// they are: N times the bytes and scratch of N buffers, but data crosses the network once.
enum class CollectiveForm { kDirect, kGathered };
[[nodiscard]] std::string_view to_string(CollectiveForm form);
/// "direct" or "gathered", with "did you mean" on failure.
[[nodiscard]] Result<CollectiveForm> parse_collective_form(std::string_view name);

/// What `chunks` counts: those of the buffer, of each participant's part, or of each pair's.
enum class ChunksPer { kBuffer, kParticipant, kPair };

/// Who has a chunk before or after. The destination is that of All-to-All; custom collectives list
/// those of each chunk.
enum class Holder { kEveryone, kOwner, kRoot, kDestination, kListed };

/// A buffer that participants have: the whole of `size`, or their part of it; everybody, or the
/// root alone.
struct BufferExtent {
  bool whole = true;
  bool root_only = false;
};

/// All that is fixed by what a collective is. A new one is a row in collective.cc.
struct CollectiveTraits {
  CollectiveKind kind = CollectiveKind::kCustom;
  std::string_view name;
  ChunksPer chunks_per = ChunksPer::kBuffer;
  Holder before = Holder::kListed;
  Holder after = Holder::kListed;
  bool reduces = false;
  /// What it becomes when time runs backwards on the network with every link turned round.
  CollectiveKind reverse = CollectiveKind::kCustom;
  /// What its contributions make when they are gathered; nothing where it has no such form.
  std::optional<CollectiveKind> gathered = std::nullopt;
  BufferExtent input;
  BufferExtent output;
  /// busbw = algbw x this factor, as in nccl-tests, for n participants.
  double (*bus_factor)(double n) = nullptr;

  /// Whether one participant differs from the others.
  [[nodiscard]] bool rooted() const { return before == Holder::kRoot || after == Holder::kRoot; }
  /// Whether a chunk goes to everybody, or comes from everybody, rather than from one to one.
  [[nodiscard]] bool spreads() const {
    return before == Holder::kEveryone || after == Holder::kEveryone;
  }
  /// Whether it is a reduction followed by a copy to everybody.
  [[nodiscard]] bool has_two_phases() const {
    return before == Holder::kEveryone && after == Holder::kEveryone;
  }
};
[[nodiscard]] const CollectiveTraits& traits(CollectiveKind kind);
[[nodiscard]] inline bool is_rooted(CollectiveKind kind) {
  return traits(kind).rooted();
}

/// A collective as written on the command line: `all-gather`, `broadcast`, `broadcast:3`.
struct CollectiveName {
  CollectiveKind kind = CollectiveKind::kAllGather;
  /// Nothing means the first participant.
  std::optional<NodeId> root;

  friend bool operator==(const CollectiveName&, const CollectiveName&) = default;
};
[[nodiscard]] Result<CollectiveName> parse_collective_name(std::string_view text);

/// `0-3,8,9` as increasing NPU ids; fails on an NPU that is listed twice or does not exist.
[[nodiscard]] Result<std::vector<NodeId>> parse_group(std::string_view text,
                                                      std::uint32_t num_npus);

/// One chunk of a custom collective.
struct CustomChunk {
  Bytes bytes;
  /// Who has it, each the same; of a sum, who has a share of it.
  std::vector<NodeId> sources;
  std::vector<NodeId> destinations;
  /// Whether it is the sum of what its sources have.
  bool reduces = false;
};
struct CustomTable;

/// A collective over a list of participants, its buffer cut into chunks.
///
/// Participants are numbered 0..n-1 in increasing NPU order; participant number and NPU id differ
/// as soon as an NPU takes no part.
class Collective {
 public:
  /// `chunks` is chunks per participant (All-Gather, Reduce-Scatter, Gather, Scatter), per pair
  /// (All-to-All), or the number the buffer is cut into (All-Reduce, Broadcast, Reduce). `root` is
  /// a participant, by default the first, and only for collectives that have one. Gathered, each of
  /// the N contributions is cut into `chunks`, and chunk p * chunks + c is that of participant p to
  /// chunk c of the buffer.
  static Result<Collective> make(CollectiveKind kind,
                                 Bytes size,
                                 std::int64_t chunks,
                                 std::vector<NodeId> participants,
                                 std::optional<NodeId> root = std::nullopt,
                                 CollectiveForm form = CollectiveForm::kDirect);
  /// Over NPUs 0..npus-1.
  static Result<Collective> over_all(CollectiveKind kind,
                                     Bytes size,
                                     std::int64_t chunks,
                                     std::uint32_t npus,
                                     std::optional<NodeId> root = std::nullopt);
  /// What the chunks say; the participants are the NPUs that they name.
  static Result<Collective> custom(std::string name, std::vector<CustomChunk> chunks);

  [[nodiscard]] CollectiveKind kind() const { return kind_; }
  [[nodiscard]] CollectiveForm form() const { return form_; }
  /// The kind that its chunks make, which is what a schedule has to do: of a gathered All-Reduce an
  /// All-Gather, of a gathered Reduce a Gather.
  [[nodiscard]] CollectiveKind chunk_kind() const;
  /// The same with sums made on the way.
  [[nodiscard]] Collective direct() const;
  /// The whole buffer, counted as nccl-tests does; of each NPU for All-to-All and in the gathered
  /// form, whose chunk tables cover the buffers of all of them.
  [[nodiscard]] Bytes size() const { return size_; }
  [[nodiscard]] std::span<const NodeId> participants() const { return participants_; }
  [[nodiscard]] std::uint32_t num_participants() const {
    return static_cast<std::uint32_t>(participants_.size());
  }
  [[nodiscard]] std::uint32_t num_chunks() const { return table_.count(); }
  [[nodiscard]] const ChunkTable& chunks() const { return table_; }
  /// What `make` was given.
  [[nodiscard]] std::int64_t chunk_argument() const;
  /// Meaningful when is_rooted(kind()), else the first participant.
  [[nodiscard]] NodeId root() const { return participants_[root_]; }

  /// Precondition: this participant starts with the chunk, or with a share of its sum.
  [[nodiscard]] bool starts_with(ChunkId chunk, std::uint32_t participant) const;
  /// Postcondition: this participant ends with the complete chunk.
  [[nodiscard]] bool ends_with(ChunkId chunk, std::uint32_t participant) const;
  /// Whether a complete chunk is the sum of what participants started with; never when gathered.
  [[nodiscard]] bool reduces(ChunkId chunk) const;
  /// Whether any chunk is such a sum.
  [[nodiscard]] bool reduces() const;
  /// The one participant that starts (All-Gather, Gather, All-to-All) or ends (Reduce-Scatter,
  /// Scatter) with the chunk. The other kinds have no owners.
  [[nodiscard]] std::uint32_t owner(ChunkId chunk) const;

  /// Of custom collectives: the numbers of the participants that start and end with the chunk,
  /// increasing.
  [[nodiscard]] std::span<const std::uint32_t> sources(ChunkId chunk) const;
  [[nodiscard]] std::span<const std::uint32_t> destinations(ChunkId chunk) const;
  /// What a custom collective is called; of the others, their kind.
  [[nodiscard]] std::string_view name() const;

  /// busbw = algbw x this factor, as in nccl-tests.
  [[nodiscard]] double bus_factor() const;

  friend bool operator==(const Collective& a, const Collective& b);

 private:
  CollectiveKind kind_ = CollectiveKind::kAllGather;
  CollectiveForm form_ = CollectiveForm::kDirect;
  Bytes size_;
  ChunkTable table_;
  std::vector<NodeId> participants_;
  /// Number of a participant.
  std::uint32_t root_ = 0;
  /// Of custom collectives. Shared, since it never changes.
  std::shared_ptr<const CustomTable> custom_;
};

/// A custom collective from the text of a file (docs/collective-format.md). `where` names the text
/// in errors; `size` is for files that leave the sizes of chunks open.
[[nodiscard]] Result<Collective> parse_collective_json(std::string_view text,
                                                       const std::string& where,
                                                       std::uint32_t num_npus,
                                                       std::optional<Bytes> size = std::nullopt);
[[nodiscard]] Result<Collective> load_collective(const std::string& path,
                                                 std::uint32_t num_npus,
                                                 std::optional<Bytes> size = std::nullopt);
/// The same collective as the text of a file.
[[nodiscard]] std::string collective_to_json(const Collective& collective);
/// Whether a COLLECTIVE on the command line is a file: it ends in .json, or exists.
[[nodiscard]] bool names_collective_file(const std::string& text);

/// Chunk ids are 32-bit, and a chunk of no bytes has nothing to move.
inline constexpr std::int64_t kMaxChunks = 1LL << 31U;
inline constexpr std::int64_t kMaxSizeBytes = 1LL << 60U;

}  // namespace tacos
