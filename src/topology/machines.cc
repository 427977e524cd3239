// SPDX-License-Identifier: MIT
// Machines that can be bought, as a table: how the NPUs of a box are wired, and how boxes are
// joined.
//
// Boxes meet at one InfiniBand switch, which a single box does not have. On a100, h100 and mi250
// every NPU has a NIC. Where a box has fewer NICs than NPUs we follow the networks that TACCL and
// TE-CCL publish results for, so that figures compare:
// - ndv2: the one NIC of a box is fed by NPU 1 and delivers to NPU 0;
// - dgx2: the eight NICs are fed by the odd NPUs and deliver to the even ones. For two boxes TE-CCL
//   has eight direct links instead (1 to 0, 3 to 2, ...) at 2.6 us; a switch with half of that on
//   each side gives the same bandwidth and latency and holds for any number of boxes.
// Latencies are per hop. TE-CCL counts 0.35 us on either side of the NVSwitch of a dgx2; machines
// without a published figure get the 0.5 us of the paper's links, a quarter on each side of a
// switch.
#include <array>
#include <span>

#include <fmt/format.h>

#include "topology/generators.h"

namespace tacos {
namespace {

/// Links both ways between two NPUs of a box.
struct Wire {
  std::uint8_t a;
  std::uint8_t b;
  std::uint8_t count;
};

constexpr std::array kCubeMesh{Wire{0, 1, 2},
                               Wire{0, 4, 2},
                               Wire{1, 3, 2},
                               Wire{2, 3, 2},
                               Wire{2, 6, 2},
                               Wire{4, 5, 2},
                               Wire{5, 7, 2},
                               Wire{6, 7, 2},
                               Wire{0, 2, 1},
                               Wire{0, 3, 1},
                               Wire{1, 2, 1},
                               Wire{1, 5, 1},
                               Wire{3, 7, 1},
                               Wire{4, 6, 1},
                               Wire{4, 7, 1},
                               Wire{5, 6, 1}};
constexpr std::array kMi250{Wire{0, 1, 4},   Wire{2, 3, 4},   Wire{4, 5, 4},   Wire{6, 7, 4},
                            Wire{8, 9, 4},   Wire{10, 11, 4}, Wire{12, 13, 4}, Wire{14, 15, 4},
                            Wire{0, 4, 2},   Wire{3, 7, 2},   Wire{8, 12, 2},  Wire{11, 15, 2},
                            Wire{0, 8, 1},   Wire{1, 5, 1},   Wire{1, 9, 1},   Wire{1, 10, 1},
                            Wire{2, 6, 1},   Wire{2, 9, 1},   Wire{2, 10, 1},  Wire{3, 11, 1},
                            Wire{4, 6, 1},   Wire{5, 6, 1},   Wire{5, 7, 1},   Wire{9, 13, 1},
                            Wire{10, 14, 1}, Wire{12, 14, 1}, Wire{13, 14, 1}, Wire{13, 15, 1}};

/// A link of one hop.
struct Hop {
  Bandwidth bandwidth;
  Ticks latency;
};

constexpr Hop hop(std::int64_t megabytes_per_second, std::int64_t nanoseconds) {
  return {{megabytes_per_second * 1'000'000}, {nanoseconds * 1'000}};
}

/// Which NPUs of a box send to the InfiniBand switch, and which receive from it.
enum class Nics {
  kNone,       ///< boxes cannot be joined
  kEach,       ///< every NPU sends and receives
  kOddToEven,  ///< odd NPUs send, even NPUs receive
  kOneToZero,  ///< NPU 1 sends, NPU 0 receives
};

enum class Strands {
  kParallel,  ///< n links between two NPUs are n links
  kBonded,    ///< they are one link, n times as fast
};

struct Machine {
  std::string_view name;
  std::uint32_t npus_per_box;
  /// Wires of `inside`; with none, the NPUs of a box hang on one switch by it.
  std::span<const Wire> wires;
  Strands strands;
  Hop inside;
  Nics nics;
  Hop infiniband;
};

constexpr std::array kMachines{
    Machine{"dgx1", 8, kCubeMesh, Strands::kParallel, hop(25'000, 500), Nics::kNone, {}},
    Machine{"ndv2",
            8,
            kCubeMesh,
            Strands::kBonded,
            hop(25'000, 700),
            Nics::kOneToZero,
            hop(12'500, 1'300)},
    Machine{"dgx2",
            16,
            {},
            Strands::kParallel,
            hop(125'000, 350),
            Nics::kOddToEven,
            hop(12'500, 1'300)},
    Machine{"a100", 8, {}, Strands::kParallel, hop(300'000, 250), Nics::kEach, hop(25'000, 250)},
    Machine{"h100", 8, {}, Strands::kParallel, hop(450'000, 250), Nics::kEach, hop(50'000, 250)},
    Machine{
        "mi250", 16, kMi250, Strands::kParallel, hop(50'000, 500), Nics::kEach, hop(16'000, 250)},
};

const Machine* find_machine(std::string_view kind) {
  for (const Machine& machine : kMachines) {
    if (machine.name == kind) {
      return &machine;
    }
  }
  return nullptr;
}

bool sends(Nics nics, std::uint32_t npu) {
  return nics == Nics::kEach || (nics == Nics::kOddToEven && npu % 2 == 1) ||
         (nics == Nics::kOneToZero && npu == 1);
}

bool receives(Nics nics, std::uint32_t npu) {
  return nics == Nics::kEach || (nics == Nics::kOddToEven && npu % 2 == 0) ||
         (nics == Nics::kOneToZero && npu == 0);
}

Link make_link(std::uint32_t src, std::uint32_t dst, const Hop& hop) {
  return {
      .src = NodeId(src), .dst = NodeId(dst), .bandwidth = hop.bandwidth, .latency = hop.latency};
}

void add_box(const Machine& machine,
             std::uint32_t first,
             std::uint32_t box_switch,
             TopologyBuilder& builder) {
  for (const Wire& wire : machine.wires) {
    Link link = make_link(first + wire.a, first + wire.b, machine.inside);
    if (machine.strands == Strands::kBonded) {
      link.bandwidth.bytes_per_second *= wire.count;
    }
    for (int i = 0; i < (machine.strands == Strands::kBonded ? 1 : wire.count); ++i) {
      builder.add_both(link);
    }
  }
  for (std::uint32_t npu = 0; machine.wires.empty() && npu < machine.npus_per_box; ++npu) {
    builder.add_both(make_link(first + npu, box_switch, machine.inside));
  }
}

Result<std::uint32_t> number_of_boxes(const Machine& machine,
                                      const std::vector<std::uint32_t>& dims) {
  if (machine.nics == Nics::kNone) {
    if (!dims.empty()) {
      return input_error(fmt::format("'{}' is a single box and takes no number", machine.name));
    }
    return std::uint32_t{1};
  }
  if (dims.size() != 1) {
    return input_error(
        fmt::format("'{}' takes the number of boxes, such as {}:2", machine.name, machine.name));
  }
  const std::uint64_t nodes = (machine.npus_per_box + std::uint64_t{1}) * dims[0] + 1;
  // To each NPU and from it: what is inside a box, and a NIC.
  std::uint64_t links = std::uint64_t{4} * machine.npus_per_box;
  for (const Wire& wire : machine.wires) {
    links += std::uint64_t{2} * wire.count;
  }
  if (Status fits = check_network_size(nodes, links * dims[0]); !fits) {
    return fits.error();
  }
  return dims[0];
}

}  // namespace

Result<Topology> make_machine(std::string name,
                              std::string_view kind,
                              const std::vector<std::uint32_t>& dims) {
  const Machine& machine = *find_machine(kind);
  const Result<std::uint32_t> boxes = number_of_boxes(machine, dims);
  if (!boxes) {
    return boxes.error();
  }
  const std::uint32_t num_npus = *boxes * machine.npus_per_box;
  const std::uint32_t box_switches = machine.wires.empty() ? *boxes : 0;
  const bool joined = *boxes > 1;
  TopologyBuilder builder(std::move(name), num_npus, box_switches + (joined ? 1 : 0));
  for (std::uint32_t box = 0; box < *boxes; ++box) {
    add_box(machine, box * machine.npus_per_box, num_npus + box, builder);
  }
  const std::uint32_t infiniband = num_npus + box_switches;
  for (std::uint32_t npu = 0; joined && npu < num_npus; ++npu) {
    if (sends(machine.nics, npu % machine.npus_per_box)) {
      builder.add_link(make_link(npu, infiniband, machine.infiniband));
    }
    if (receives(machine.nics, npu % machine.npus_per_box)) {
      builder.add_link(make_link(infiniband, npu, machine.infiniband));
    }
  }
  return std::move(builder).build();
}

std::uint32_t npus_per_box(std::string_view kind) {
  const Machine* const machine = find_machine(kind);
  return machine == nullptr ? 0 : machine->npus_per_box;
}

}  // namespace tacos
