// SPDX-License-Identifier: MIT
// Machines as NCCL, RCCL, hwloc, nvidia-smi and rocm-smi describe them.
#include <algorithm>
#include <utility>

#include <gmock/gmock.h>

#include "import/support.h"
#include "support/problems.h"

namespace tacos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::imported;
using ::testing::IsEmpty;
using testing::machine_file;
using testing::megabytes_between;
using testing::refusal;

std::string text_of(const std::string& name) {
  return read_text_file(machine_file(name)).value();
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

TEST(Nccl, CountsBandwidthAsTheRuntimeDoes) {
  const ImportedTopology ncv4 = imported("nccl_ncv4_topo.xml");
  EXPECT_THAT(ncv4.warnings, IsEmpty());
  EXPECT_EQ(ncv4.topology.num_npus(), 2U);
  EXPECT_EQ(megabytes_between(ncv4.topology, "gpu0", "gpu1"), 12 * 20'000);
  EXPECT_EQ(megabytes_between(ncv4.topology, "gpu0", "cpu0"), 12'000);
  EXPECT_EQ(megabytes_between(ncv4.topology, "cpu0", "cpu1"), 16'000);
  EXPECT_EQ(megabytes_between(ncv4.topology, "cpu0", "nic0"), 12'500);
  const Topology rccl = imported("rccl_topo_8p_940.xml").topology;
  EXPECT_EQ(megabytes_between(rccl, "gpu0", "gpu7"), 48'000);
  EXPECT_EQ(megabytes_between(rccl, "cpu0", "cpu1"), 22'000);
  const Topology ts1 = imported("rccl_topo_8p_ts1.xml").topology;
  EXPECT_EQ(megabytes_between(ts1, "gpu0", "gpu1"), 24'000);
  EXPECT_EQ(megabytes_between(ts1, "gpu0", "gpu3"), 24'000);
  EXPECT_EQ(megabytes_between(ts1, "gpu0", "gpu2"), 0);
  EXPECT_EQ(megabytes_between(ts1, "gpu4", "gpu6"), 24'000);
}

TEST(Nccl, AllNvswitchesAreOne) {
  std::string text = "<system version=\"1\"><cpu numaid=\"0\" arch=\"arm64\">";
  for (int gpu = 0; gpu < 4; ++gpu) {
    text += fmt::format(
        "<pci busid=\"000{}:00:00.0\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" "
        "link_width=\"8\"><gpu dev=\"{}\" sm=\"90\" rank=\"{}\">"
        "<nvlink target=\"fffffff:ff:ff.0\" count=\"12\" tclass=\"0x068000\"/>"
        "<nvlink target=\"0009:00:00.0\" count=\"6\" tclass=\"0x068000\"/>"
        "<c2c bw=\"44712\" count=\"10\"/></gpu></pci>",
        gpu,
        gpu,
        3 - gpu);
  }
  const Topology made = import_topology(text + "</cpu></system>", "h100").value().topology;
  EXPECT_EQ(megabytes_between(made, "gpu0", "nvswitch"), 18 * 20'600);
  EXPECT_EQ(megabytes_between(made, "nvswitch", "gpu3"), 18 * 20'600);
  EXPECT_EQ(megabytes_between(made, "gpu0", "cpu0"), 24'000 + 447'120);
  // NPUs are numbered by rank, and called by device.
  EXPECT_EQ(made.node_name(NodeId(0)), "gpu3");
}

TEST(Nccl, WarnsOfWhatItDoesNotKnow) {
  const std::string text = text_of("nccl_ncv4_topo.xml");
  const auto warnings = [](const std::string& changed) {
    const Result<ImportedTopology> made = import_topology(changed, "f.xml");
    return made ? made->warnings : std::vector<std::string>{made.error().to_string()};
  };
  EXPECT_THAT(warnings(replaced(text, "target=\"0002:", "target=\"0007:")),
              ElementsAre(HasSubstr("f.xml:5: <nvlink> to 0007:00:00.0, which is no GPU"),
                          HasSubstr("f.xml:15: gpu1 has a link to gpu0, which lists none back")));
  EXPECT_THAT(warnings(replaced(text,
                                "target=\"0002:00:00.0\" count=\"12\" tclass=\"0x030200\"",
                                "target=\"0007:00:00.0\" count=\"12\" tclass=\"0x0b4000\"")),
              ::testing::Contains(HasSubstr("f.xml:5: <nvlink> to a device of class '0x0b4000'")));
  EXPECT_THAT(warnings(replaced(text, "link_speed=\"\"", "link_speed=\"9 GT/s\"")),
              ElementsAre(HasSubstr("PCIe speed '9 GT/s' is not known")));
  EXPECT_THAT(warnings(replaced(text, "<nvlink", "<quantumlink")),
              ::testing::Contains(HasSubstr("<quantumlink> of a GPU is not known")));
}

TEST(Nccl, RefusesWhatMakesNoNetwork) {
  EXPECT_THAT(refusal("<system version=\"1\"></system>"), HasSubstr("lists no NPU"));
  EXPECT_THAT(refusal("<graphs/>", "nccl"), HasSubstr("file:1: begins with <graphs>"));
  const std::string text = text_of("nccl_ncv4_topo.xml");
  EXPECT_THAT(refusal(replaced(text, "count=\"12\"", "count=\"-1\"")),
              HasSubstr("file:5: <nvlink> needs a count"));
  EXPECT_THAT(refusal(text.substr(0, text.size() / 2)), HasSubstr("file:"));
}

TEST(Hwloc, JoinsIslandsBySockets) {
  const ImportedTopology power8 = imported("hwloc_power8gpudistances.xml");
  EXPECT_THAT(power8.warnings, IsEmpty());
  const Topology& made = power8.topology;
  EXPECT_EQ(made.num_npus(), 4U);
  EXPECT_EQ(megabytes_between(made, "gpu0", "gpu1"), 40'000);
  EXPECT_EQ(megabytes_between(made, "gpu0", "gpu2"), 0);
  EXPECT_EQ(megabytes_between(made, "gpu2", "cpu1"), 40'000 + 7'876);
  EXPECT_EQ(megabytes_between(made, "cpu0", "cpu1"), 32'000);
}

TEST(Hwloc, AllNvswitchesAreOne) {
  const Topology dgx2 = imported("hwloc_nvidiaDGX2.xml").topology;
  EXPECT_EQ(dgx2.num_npus(), 16U);
  for (const char* gpu : {"gpu0", "gpu8", "gpu15"}) {
    EXPECT_EQ(megabytes_between(dgx2, gpu, "nvswitch"), 150'000);
    EXPECT_EQ(megabytes_between(dgx2, "nvswitch", gpu), 150'000);
  }
}

/// The words that hwloc has for GPUs of other makers, in a file of NVIDIA's.
TEST(Hwloc, KnowsTheLinksOfAllMakers) {
  const std::string text = text_of("hwloc_power8gpudistances.xml");
  for (const auto& [matrix, device] :
       {std::pair("XeLinkBandwidth", "\"ze"), std::pair("XGMIBandwidth", "\"rsmi")}) {
    std::string other = replaced(text, "NVLinkBandwidth", matrix);
    for (int gpu = 0; gpu < 4; ++gpu) {
      other = replaced(other, "\"nvml", device);
    }
    const Result<ImportedTopology> made = import_topology(other, "file", {});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->topology.num_npus(), 4U);
    EXPECT_EQ(megabytes_between(made->topology, "gpu0", "gpu1"), 40'000);
    EXPECT_EQ(megabytes_between(made->topology, "gpu0", "gpu2"), 0);
  }
}

TEST(Hwloc, RefusesMatricesThatAreNotSquare) {
  const std::string text = text_of("hwloc_power8gpudistances.xml");
  EXPECT_THAT(refusal(replaced(text, "40000 0 0 0 1000000 40000 0 40000 0 0 ", "40000 0 ")),
              HasSubstr("file:194: the matrix NVLinkBandwidth has 28 values for 6 objects"));
  EXPECT_THAT(refusal(replaced(text, "40000 0 0 0 1000000", "40000 0 0 x 1000000")),
              HasSubstr("'x' is no bandwidth"));
  EXPECT_THAT(refusal(replaced(text, "OSDev:332 OSDev:333", "OSDev:999 OSDev:333")),
              HasSubstr("OSDev:999, which is not there"));
}

TEST(NvidiaSmi, NvlinksOfAllPairsLeadIntoASwitch) {
  const ImportedTopology a100 = imported("nvidia_smi_dgxa100.txt");
  EXPECT_THAT(a100.warnings, IsEmpty());
  EXPECT_EQ(a100.topology.num_npus(), 8U);
  EXPECT_EQ(megabytes_between(a100.topology, "gpu0", "nvswitch"), 240'000);
  EXPECT_EQ(megabytes_between(a100.topology, "gpu0", "gpu1"), 0);
  const ImportedTopology dgx1 = imported("nvidia_smi_dgx1.txt");
  EXPECT_THAT(dgx1.warnings, IsEmpty());
  EXPECT_EQ(megabytes_between(dgx1.topology, "gpu0", "gpu1"), 40'000);
  EXPECT_EQ(megabytes_between(dgx1.topology, "gpu0", "gpu2"), 20'000);
  EXPECT_EQ(megabytes_between(dgx1.topology, "gpu0", "pcie0"), 12'000);
  EXPECT_EQ(megabytes_between(dgx1.topology, "nic0", "pcie0"), 12'000);
  EXPECT_EQ(megabytes_between(dgx1.topology, "cpu0", "cpu1"), 10'000);
}

TEST(NvidiaSmi, RefusesOrWarns) {
  const auto matrix = [](const std::string& cell, const std::string& twin) {
    return "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \t" + cell + "\t0-7\nGPU1\t" + twin +
           "\t X \t0-7\n";
  };
  EXPECT_EQ(import_topology(matrix("NV4", "NV4"), "f").value().topology.num_npus(), 2U);
  EXPECT_THAT(import_topology(matrix("ABC", "ABC"), "f").value().warnings,
              ElementsAre("f:3: 'ABC' between GPU1 and GPU0 is not known and counts as no link"));
  EXPECT_THAT(refusal(matrix("NV4", "NV2")),
              HasSubstr("file:3: GPU1 has 'NV2' for GPU0, which has 'NV4' for it"));
  EXPECT_THAT(refusal("\tGPU0\tGPU1\nGPU0\t X \tNV4\n"), HasSubstr("not square"));
  EXPECT_THAT(refusal("\tGPU0\tGPU1\nGPU0\t X \nGPU1\tNV4\t X \n"),
              HasSubstr("file:2: GPU0 has 1 cells, not the 2 of the header"));
  EXPECT_THAT(refusal("\tGPU0\tGPU1\nGPU1\t X \tNV4\n"), HasSubstr("file:2: is the row of GPU1"));
}

TEST(RocmSmi, TakesWeightsForHops) {
  const ImportedTopology mi250 = imported("rocm_smi_mi250.txt");
  EXPECT_THAT(mi250.warnings, IsEmpty());
  EXPECT_EQ(megabytes_between(mi250.topology, "gpu0", "gpu1"), 36'000);
  EXPECT_EQ(megabytes_between(mi250.topology, "gpu0", "gpu2"), 0);
  EXPECT_EQ(megabytes_between(mi250.topology, "gpu2", "cpu1"), 12'000);
  EXPECT_EQ(megabytes_between(mi250.topology, "cpu0", "cpu1"), 16'000);
  std::string text = text_of("rocm_smi_mi250.txt");
  std::replace(text.begin(), text.end(), 'M', 'N');
  EXPECT_EQ(
      import_topology(text, "f", {.from = "rocm-smi", .latencies = {}}).value().warnings.size(),
      6U);
  EXPECT_THAT(refusal("GPU0 GPU1\n", "rocm-smi"), HasSubstr("has no matrix"));
}

TEST(Import, LatenciesCanBeChanged) {
  const std::string text = text_of("nccl_ncv4_topo.xml");
  const Topology made =
      import_topology(text, "f", {.from = {}, .latencies = {"nvlink=123ns", "pcie=1us"}})
          .value()
          .topology;
  for (const Link& link : made.links()) {
    const bool nvlink = made.is_npu(link.src) && made.is_npu(link.dst);
    EXPECT_TRUE(!nvlink || link.latency == Ticks{123'000});
  }
  const auto failure = [&](const char* change) {
    return import_topology(text, "f", {.from = {}, .latencies = {change}}).error().to_string();
  };
  EXPECT_THAT(failure("nvlnk=1us"), HasSubstr("did you mean 'nvlink'"));
  EXPECT_THAT(failure("nvlink"), HasSubstr("says no time"));
  EXPECT_THAT(failure("nvlink=fast"), HasSubstr("--latency nvlink=fast"));
}

/// Real machines: every collective has a schedule, and it is right.
class Machines : public ::testing::TestWithParam<const char*> {};

TEST_P(Machines, SynthesizeAllCollectives) {
  const Topology topology = imported(GetParam()).topology;
  for (const CollectiveKind kind : {CollectiveKind::kAllGather,
                                    CollectiveKind::kReduceScatter,
                                    CollectiveKind::kAllReduce,
                                    CollectiveKind::kBroadcast,
                                    CollectiveKind::kReduce,
                                    CollectiveKind::kGather,
                                    CollectiveKind::kScatter,
                                    CollectiveKind::kAllToAll}) {
    Problem asked = testing::problem(topology, kind, 1 << 20);
    const bool rooted = kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce ||
                        kind == CollectiveKind::kGather || kind == CollectiveKind::kScatter;
    if (rooted) {
      asked.root = NodeId(0);
    }
    const Synthesis made = testing::synthesize_verified(topology, asked, {.effort = 1});
    EXPECT_EQ(made.status, SynthesisStatus::kFeasible);
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         Machines,
                         ::testing::Values("nccl_ncv4_topo.xml",
                                           "rccl_topo_4p2h.xml",
                                           "rccl_topo_8p_940.xml",
                                           "rccl_topo_8p_pcie.xml",
                                           "rccl_topo_8p_ts1.xml",
                                           "hwloc_nvidiaDGX2.xml",
                                           "hwloc_power8gpudistances.xml",
                                           "nvidia_smi_dgx1.txt",
                                           "nvidia_smi_dgxa100.txt",
                                           "rocm_smi_mi250.txt"));

}  // namespace
}  // namespace tacos
