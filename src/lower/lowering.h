// SPDX-License-Identifier: MIT
// Follows a schedule in time order and notes what each NPU does; then writes each NPU's program.
//
// What is sent is the value when the transfer starts, and what arrives at an instant is there for
// what starts then. So a send is noted when its transfer starts and a receive when it ends, what
// ends before what starts: every wait is for something earlier, and nothing can wait for itself.
// With as many messages in a FIFO as were ever on the way, that holds for full FIFOs too. With
// fewer a program may get stuck, for want of scratch above all: then scratch is not used twice.
//
// Between two NPUs messages arrive in the order of their sending: one that would overtake another
// takes another channel. With credits, a receiver tells a sender that what comes before through its
// port has arrived. Both are noted when the transfer starts, so this too is a wait for something
// earlier.
//
// What goes where is found NPU by NPU (npu_writer.h), so that what is looked at again and again,
// places of chunks and uses of slots, is that of one NPU and stays in the cache. Transfers are only
// noted, 16 bytes for each chunk.
//
// O(moves x kinds of duration).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tacos/collective.h"
#include "tacos/lower.h"
#include "tacos/program.h"
#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "lower/lines.h"
#include "lower/npu_lowering.h"
#include "lower/npu_notes.h"
#include "lower/underway.h"

namespace tacos::lowering {

/// One chunk on a line.
struct Message {
  std::uint32_t line = 0;
  Ticks start;
  Ticks end;
};

class Lowering {
 public:
  Lowering(const Topology& topology, const Collective& collective, const LowerOptions& options);

  /// The whole schedule.
  [[nodiscard]] Status follow(const Schedule& schedule);
  /// Whether no FIFO ever had more messages than the options say: then the program ends with such
  /// FIFOs, as the steps in the order of their notes show.
  [[nodiscard]] bool fifos_suffice() const { return fifos_suffice_; }
  [[nodiscard]] Program write(bool in_place, Scratch scratch) const;

  /// To be called first, by those who want to know when messages go: they are kept in the order of
  /// their sending.
  void keep_messages() { keeps_messages_ = true; }
  [[nodiscard]] std::span<const Message> messages() const { return messages_; }
  [[nodiscard]] const Line& line(std::uint32_t number) const { return lines_[number]; }
  [[nodiscard]] std::uint32_t num_lines() const { return lines_.size(); }

 private:
  /// What came last through a port into an NPU, and who was told last that it has.
  struct Arrival {
    NodeId src;
    Dependency receive;
    NodeId told;
  };
  struct Cargo {
    std::uint32_t line = 0;
    LinkId port;
  };
  /// How long a link takes for so many bytes.
  struct Duration {
    Bytes bytes{-1};
    Ticks time;
  };

  void start(const Transfer& transfer);
  void arrive_until(Ticks now);
  void arrive(const Cargo& cargo, Op op, std::span<const ChunkId> chunks);
  [[nodiscard]] Ticks time_of(const Transfer& transfer);
  /// What a send must await of who receives it: that what somebody else sent through the same port
  /// has arrived, if the schedule has it so. Of what arrives later nothing is said, so that nothing
  /// waits for what comes after it.
  [[nodiscard]] std::optional<Dependency> admission(const Line& line, LinkId port);
  /// After those of data.
  void name_credit_channels(std::uint32_t npu, NpuProgram& program) const;

  const Topology& topology_;
  const Collective& collective_;
  LowerOptions options_;
  /// Of every chunk, where they are equal.
  std::optional<Bytes> chunk_bytes_;
  std::vector<NpuNotes> notes_;
  Lines lines_;
  /// By link: what was asked last.
  std::vector<Duration> durations_;
  /// By link, if there are to be credits.
  std::vector<std::optional<Arrival>> arrivals_;
  Underway<Cargo> underway_;
  bool fifos_suffice_ = true;
  bool keeps_messages_ = false;
  std::vector<Message> messages_;
};

}  // namespace tacos::lowering
