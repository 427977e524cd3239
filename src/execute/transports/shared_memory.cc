// SPDX-License-Identifier: MIT
// A sender makes a file without a name, in memory, with a ring for every lane; receivers find it by
// the number of its process and of the file. So nothing is left behind, whatever happens.
//
// A ring has one writer and one reader: each owns one of two counters, and reads the other's. Both
// copy, so that a send is complete as soon as its bytes are in the ring.
#include "execute/transports/shared_memory.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "execute/layout.h"
#include "execute/transports/streams.h"

namespace tacos::execution {
namespace {

/// Small enough to stay in a core's cache, large enough for both ends to take turns seldom.
constexpr std::size_t kRingBytes = std::size_t{256} << 10U;

/// Bytes written and read, in all.
struct Counters {
  alignas(Layout::kLine) std::atomic<std::uint64_t> written;
  alignas(Layout::kLine) std::atomic<std::uint64_t> read;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

struct Ring {
  Counters counters;
  alignas(Layout::kLine) std::byte bytes[kRingBytes];
};

/// What a sender tells of a lane.
struct LaneInfo {
  std::uint32_t receiver = 0;
  std::uint32_t channel = 0;
};
/// And of all of them: its process, its file, and how many lanes follow, in the order of rings.
struct FileInfo {
  std::int64_t process = 0;
  std::int32_t file = -1;
  std::uint32_t lanes = 0;
};

/// Memory that is mapped, shared by the streams on it.
class Mapping {
 public:
  Mapping(void* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { (void)::munmap(memory_, bytes_); }
  [[nodiscard]] Ring* rings() const { return static_cast<Ring*>(memory_); }

 private:
  void* memory_;
  std::size_t bytes_;
};

/// A process that may end.
class Process {
 public:
  explicit Process(std::int64_t number)
      : number_(number), file_(static_cast<int>(::syscall(SYS_pidfd_open, number, 0))) {}
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (file_ >= 0) {
      (void)::close(file_);
    }
  }
  [[nodiscard]] std::int64_t number() const { return number_; }
  [[nodiscard]] bool gone() const {
    if (file_ < 0) {
      // An old kernel, or one that does not let us; then the dead are alive until somebody waits
      // for them.
      return ::kill(static_cast<pid_t>(number_), 0) != 0 && errno == ESRCH;
    }
    pollfd one{.fd = file_, .events = POLLIN, .revents = 0};
    return ::poll(&one, 1, 0) > 0;
  }

 private:
  std::int64_t number_;
  int file_;
};

class RingStream final : public Stream {
 public:
  RingStream(std::shared_ptr<Mapping> mapping,
             std::size_t number,
             std::uint32_t peer,
             std::shared_ptr<Process> other)
      : mapping_(std::move(mapping)),
        ring_(mapping_->rings() + number),
        peer_(peer),
        other_(std::move(other)) {}

  Result<std::size_t> write(std::span<const std::byte> bytes) override {
    Counters& counters = ring_->counters;
    const std::uint64_t written = counters.written.load(std::memory_order_relaxed);
    const std::uint64_t read = counters.read.load(std::memory_order_acquire);
    const std::size_t now = std::min<std::size_t>(kRingBytes - (written - read), bytes.size());
    const std::size_t at = written % kRingBytes;
    const std::size_t first = std::min(now, kRingBytes - at);
    std::memcpy(ring_->bytes + at, bytes.data(), first);
    std::memcpy(ring_->bytes, bytes.data() + first, now - first);
    counters.written.store(written + now, std::memory_order_release);
    return now;
  }
  Result<std::size_t> read(std::span<std::byte> bytes) override {
    Counters& counters = ring_->counters;
    const std::uint64_t read = counters.read.load(std::memory_order_relaxed);
    const std::uint64_t written = counters.written.load(std::memory_order_acquire);
    const std::size_t now = std::min<std::size_t>(written - read, bytes.size());
    const std::size_t at = read % kRingBytes;
    const std::size_t first = std::min(now, kRingBytes - at);
    std::memcpy(bytes.data(), ring_->bytes + at, first);
    std::memcpy(bytes.data() + first, ring_->bytes, now - first);
    counters.read.store(read + now, std::memory_order_release);
    return now;
  }
  Status check_other_end() override {
    if (other_->gone()) {
      return Error{.code = ErrorCode::kInternal,
                   .message = fmt::format("rank {} (process {}) is gone", peer_, other_->number()),
                   .where = "shared memory"};
    }
    return ok();
  }

 private:
  std::shared_ptr<Mapping> mapping_;
  Ring* ring_;
  /// At the other end.
  std::uint32_t peer_;
  std::shared_ptr<Process> other_;
};

Error system_error(const std::string& what) {
  return {.code = ErrorCode::kInternal,
          .message = fmt::format("{}: {}", what, std::strerror(errno)),
          .where = "shared memory"};
}

Result<std::shared_ptr<Mapping>> map(int file, std::size_t rings) {
  const std::size_t bytes = std::max<std::size_t>(rings, 1) * sizeof(Ring);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    return system_error("cannot be mapped");
  }
  return std::make_shared<Mapping>(memory, bytes);
}

/// A file for the lanes that this process sends on; new memory is zero, as counters are at first.
Result<int> make_file(std::size_t rings) {
  const int file = ::memfd_create("tacos", MFD_CLOEXEC);
  if (file < 0) {
    return system_error("cannot be made");
  }
  if (::ftruncate(file, static_cast<off_t>(std::max<std::size_t>(rings, 1) * sizeof(Ring))) != 0) {
    const Error failure = system_error("cannot be made");
    (void)::close(file);
    return failure;
  }
  return file;
}

/// What members said of the lanes that they send on.
struct Offer {
  FileInfo file;
  std::vector<LaneInfo> lanes;
};

Packet pack(const Offer& offer) {
  Packet packet;
  put(packet, offer.file);
  put_all(packet, std::span<const LaneInfo>(offer.lanes));
  return packet;
}
Offer offer_of(const Packet& packet) {
  PacketReader reader(packet);
  Offer offer{.file = reader.get<FileInfo>(), .lanes = {}};
  offer.lanes.resize(offer.file.lanes);
  reader.get_all(std::span(offer.lanes));
  return offer;
}

/// The streams of one process.
class Opening {
 public:
  Opening(Team& team, std::span<const LaneEnd> ends) : team_(team), ends_(ends) {
    mine_.file.process = ::getpid();
    for (const LaneEnd& end : ends) {
      if (end.role == LaneRole::kSend) {
        mine_.lanes.push_back({.receiver = end.peer, .channel = end.channel});
      }
    }
    mine_.file.lanes = static_cast<std::uint32_t>(mine_.lanes.size());
  }
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;
  ~Opening() {
    if (mine_.file.file >= 0) {
      (void)::close(mine_.file.file);
    }
  }

  Result<std::vector<std::unique_ptr<Stream>>> run() {
    const Result<int> file = make_file(mine_.lanes.size());
    mine_.file.file = file ? *file : -1;
    for (const Packet& packet : all_gather(team_, pack(mine_))) {
      offers_.push_back(offer_of(packet));
    }
    Result<std::vector<std::unique_ptr<Stream>>> made =
        file ? attach() : Result<std::vector<std::unique_ptr<Stream>>>(file.error());
    // Files stay open until everybody has found them; and all fail, or none does.
    const std::optional<Error> failure =
        first_error(team_, made ? std::nullopt : std::optional(made.error()));
    if (failure) {
      return *failure;
    }
    return made;
  }

 private:
  Result<std::vector<std::unique_ptr<Stream>>> attach() {
    std::vector<std::unique_ptr<Stream>> streams;
    std::size_t sent = 0;
    mappings_.resize(offers_.size());
    processes_.resize(offers_.size());
    for (const LaneEnd& end : ends_) {
      const bool sends = end.role == LaneRole::kSend;
      const auto owner = sends ? static_cast<std::uint32_t>(team_.member()) : end.peer;
      const Result<std::shared_ptr<Mapping>> mapping = mapping_of(owner);
      if (!mapping) {
        return mapping.error();
      }
      const std::size_t ring = sends ? sent++ : ring_of(end);
      if (ring == offers_[owner].lanes.size()) {
        return Error{.code = ErrorCode::kInternal,
                     .message = fmt::format("rank {} has no such lane", end.peer),
                     .where = "shared memory"};
      }
      streams.push_back(
          std::make_unique<RingStream>(*mapping, ring, end.peer, process_of(end.peer)));
    }
    return streams;
  }

  /// The ring of a lane that somebody else sends on.
  [[nodiscard]] std::size_t ring_of(const LaneEnd& end) const {
    const std::vector<LaneInfo>& lanes = offers_[end.peer].lanes;
    const auto found = std::find_if(lanes.begin(), lanes.end(), [&](const LaneInfo& lane) {
      return lane.receiver == static_cast<std::uint32_t>(team_.member()) &&
             lane.channel == end.channel;
    });
    return static_cast<std::size_t>(found - lanes.begin());
  }

  [[nodiscard]] std::shared_ptr<Process> process_of(std::uint32_t member) {
    if (!processes_[member]) {
      processes_[member] = std::make_shared<Process>(offers_[member].file.process);
    }
    return processes_[member];
  }

  Result<std::shared_ptr<Mapping>> mapping_of(std::uint32_t owner) {
    if (mappings_[owner]) {
      return mappings_[owner];
    }
    const FileInfo& info = offers_[owner].file;
    const std::string path = fmt::format("/proc/{}/fd/{}", info.process, info.file);
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) {
      return system_error(fmt::format("that of rank {} cannot be opened", owner));
    }
    Result<std::shared_ptr<Mapping>> mapping = map(file, info.lanes);
    (void)::close(file);
    if (mapping) {
      mappings_[owner] = *mapping;
    }
    return mapping;
  }

  Team& team_;
  std::span<const LaneEnd> ends_;
  Offer mine_;
  std::vector<Offer> offers_;
  /// By member, those that were needed.
  std::vector<std::shared_ptr<Mapping>> mappings_;
  std::vector<std::shared_ptr<Process>> processes_;
};

}  // namespace

Result<std::unique_ptr<Connection>> SharedMemoryTransport::open(std::span<const LaneEnd> ends) {
  Result<std::vector<std::unique_ptr<Stream>>> streams = Opening(team_, ends).run();
  if (!streams) {
    return streams.error();
  }
  return std::unique_ptr<Connection>(std::make_unique<StreamConnection>(ends, *std::move(streams)));
}

}  // namespace tacos::execution
