// SPDX-License-Identifier: MIT
// What one NPU does, in time order: which lane sends or receives which chunk.
#pragma once

#include <cstdint>
#include <vector>

#include "tacos/program.h"

namespace tacos::lowering {

enum class NoteKind : std::uint8_t {
  kSend,
  kReceive,
  kReceiveSum,  ///< to be added to what is there, if something is
  kGrant,
  kAwait,
};

/// Small, as there are two for every move.
class Note {
 public:
  Note(std::uint32_t lane, NoteKind kind, bool waits, std::uint32_t chunk)
      : what_(lane << kLaneShift | static_cast<std::uint32_t>(kind) << 1U | (waits ? 1U : 0U)),
        chunk_(chunk) {}

  [[nodiscard]] std::uint32_t lane() const { return what_ >> kLaneShift; }
  [[nodiscard]] NoteKind kind() const { return static_cast<NoteKind>(what_ >> 1U & 7U); }
  /// Whether it waits for the next of NpuNotes::waits().
  [[nodiscard]] bool waits() const { return (what_ & 1U) != 0; }
  /// Meaningless for messages without data.
  [[nodiscard]] std::uint32_t chunk() const { return chunk_; }

 private:
  static constexpr unsigned kLaneShift = 4;
  std::uint32_t what_;
  std::uint32_t chunk_;
};

class NpuNotes {
 public:
  /// A lane with its number of steps, which is what is noted so far.
  struct NotedLane {
    LaneRole role = LaneRole::kLocal;
    NodeId peer;
    std::uint32_t channel = 0;
    std::uint32_t steps = 0;
  };

  [[nodiscard]] std::uint32_t add_lane(LaneRole role, NodeId peer, std::uint32_t channel) {
    lanes_.push_back({.role = role, .peer = peer, .channel = channel});
    return static_cast<std::uint32_t>(lanes_.size()) - 1;
  }
  /// Of few: the one that there is, or a new one.
  [[nodiscard]] std::uint32_t find_lane(LaneRole role, NodeId peer, std::uint32_t channel) {
    for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
      if (lanes_[lane].role == role && lanes_[lane].peer == peer &&
          lanes_[lane].channel == channel) {
        return lane;
      }
    }
    return add_lane(role, peer, channel);
  }

  void add(std::uint32_t lane, NoteKind kind, std::uint32_t chunk) {
    ++lanes_[lane].steps;
    notes_.emplace_back(lane, kind, false, chunk);
  }
  /// The same, once another step is complete.
  void add_after(const Dependency& other, std::uint32_t lane, NoteKind kind, std::uint32_t chunk) {
    ++lanes_[lane].steps;
    notes_.emplace_back(lane, kind, true, chunk);
    waits_.push_back(other);
  }
  /// The last step of a lane that has some.
  [[nodiscard]] Dependency last(std::uint32_t lane) const {
    return {.lane = lane, .step = lanes_[lane].steps - 1};
  }

  [[nodiscard]] const std::vector<NotedLane>& lanes() const { return lanes_; }
  [[nodiscard]] const std::vector<Note>& notes() const { return notes_; }
  [[nodiscard]] const std::vector<Dependency>& waits() const { return waits_; }

 private:
  std::vector<NotedLane> lanes_;
  std::vector<Note> notes_;
  std::vector<Dependency> waits_;
};

}  // namespace tacos::lowering
