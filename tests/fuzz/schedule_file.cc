// SPDX-License-Identifier: MIT
// Schedule files: read, verified, and where they are small judged by the naive reference as well,
// which must say the same. A valid schedule comes back when it is written.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tacos/bundle.h"
#include "tacos/verify.h"

#include "fuzz/target.h"
#include "support/listed_schedule.h"
#include "support/reference_verify.h"

namespace {

using namespace tacos;  // NOLINT(google-build-using-namespace)

// Beyond these an input finds nothing new, only later.
constexpr std::uint64_t kMostPlaces = std::uint64_t{1} << 16U;
constexpr std::size_t kMostJudged = 200;
/// The reference adds times without looking.
constexpr Ticks kMostTime{std::int64_t{1} << 50U};

/// A file without a name: readers open it by path.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("fuzz", 0)) {
    fuzz::require(descriptor_ >= 0, "memory has room for a file");
  }
  void assign(const std::uint8_t* data, std::size_t size) const {
    fuzz::require(::ftruncate(descriptor_, 0) == 0 &&
                      ::pwrite(descriptor_, data, size, 0) == static_cast<ssize_t>(size),
                  "memory has room for a file");
  }
  [[nodiscard]] std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

bool is_small(const Bundle& bundle) {
  const std::uint64_t chunks = bundle.collective.num_chunks();
  return chunks * bundle.topology.num_npus() <= kMostPlaces &&
         bundle.topology.num_links() <= kMostPlaces;
}

bool has_small_times(const Bundle& bundle) {
  for (const Link& link : bundle.topology.links()) {
    if (link.latency > kMostTime || link.bandwidth.bytes_per_second < 1'000'000) {
      return false;
    }
  }
  return bundle.collective.size() <= Bytes{std::int64_t{1} << 40U};
}

/// The transfers one by one; nothing when they are too many, too late or cannot be read.
std::optional<std::vector<test::ListedTransfer>> listed(const Schedule& schedule) {
  std::vector<test::ListedTransfer> transfers;
  TransferBatch batch;
  for (const auto cursor = schedule.cursor(); cursor->next(batch) && !batch.empty();) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Transfer transfer = batch[i];
      if (transfers.size() == kMostJudged || transfer.start > kMostTime ||
          transfer.links.size() + transfer.chunks.size() > kMostJudged) {
        return std::nullopt;
      }
      transfers.push_back(test::listed(transfer));
    }
  }
  return transfers;
}

/// Whatever the file says about its totals, its transfers are right or wrong.
void check_verdict(const Bundle& bundle, const VerifyReport& report, const VerifyOptions& options) {
  const auto transfers = listed(bundle.schedule);
  if (!transfers || !has_small_times(bundle)) {
    return;
  }
  const bool valid =
      test::reference_valid(bundle.topology, bundle.collective, *transfers, bundle.link_model);
  fuzz::require(valid || !report.valid(), "what the referee accepts the reference accepts");
  const Schedule as_is = test::listed_schedule(
      *transfers, test::totals_of(*transfers, bundle.topology, bundle.collective.chunks()));
  const Result<VerifyReport> again = verify(bundle.topology, bundle.collective, as_is, options);
  fuzz::require(again && again->valid() == valid, "the referee and the reference say the same");
}

void check_round_trip(const Bundle& bundle) {
  const std::filesystem::path memory = "/dev/shm";
  const std::string path =
      (std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path()) /
      fmt::format("tacos-fuzz-{}", ::getpid());
  fuzz::require(write_bundle(bundle, path), "a valid schedule can be written");
  const Result<Bundle> again = read_bundle(path);
  std::filesystem::remove(path);
  fuzz::require(
      again && again->topology == bundle.topology && again->collective == bundle.collective &&
          again->link_model == bundle.link_model && again->engine == bundle.engine &&
          again->seed == bundle.seed && again->schedule.totals() == bundle.schedule.totals(),
      "a valid schedule comes back from its file");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (fuzz::says_large_network(fuzz::text_of(data, size))) {
    return -1;
  }
  static const MemoryFile kFile;
  kFile.assign(data, size);
  const Result<Bundle> bundle = read_bundle(kFile.path());
  if (!bundle) {
    fuzz::require_input_error(bundle.error());
    return 0;
  }
  if (!is_small(*bundle)) {
    return 0;
  }
  const VerifyOptions options{
      .link_model = bundle->link_model, .max_violations = 3, .memory_bytes = std::size_t{1} << 16U};
  const Result<VerifyReport> report =
      verify(bundle->topology, bundle->collective, bundle->schedule, options);
  if (!report) {
    fuzz::require_input_error(report.error());
    return 0;
  }
  check_verdict(*bundle, *report, options);
  if (report->valid()) {
    check_round_trip(*bundle);
  }
  return 0;
}
