// SPDX-License-Identifier: MIT
// Nonblocking messages, tested all at once. MPI may complete those of a lane in any order; they are
// told in that of the lane.
//
// O(messages under way) for a look at them.
#include "mpi/mpi_transport.h"

#include <climits>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace tacos {
namespace {

class MpiConnection final : public Connection {
 public:
  MpiConnection(MPI_Comm comm, std::span<const LaneEnd> ends) : comm_(comm) {
    std::size_t most = 0;
    ends_.reserve(ends.size());
    for (const LaneEnd& end : ends) {
      ends_.push_back({.peer = static_cast<int>(end.peer),
                       .tag = static_cast<int>(end.channel),
                       .depth = end.depth,
                       .first_flag = static_cast<std::uint32_t>(most)});
      most += end.depth;
    }
    through_.resize(most, 0);
    requests_.reserve(most);
    owners_.reserve(most);
    indices_.resize(most);
    completed_.reserve(most);
  }
  ~MpiConnection() override {
    // Left over only when a run has failed.
    for (MPI_Request& request : requests_) {
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
  }

  void post_send(std::uint32_t end, std::span<const std::byte> bytes) override {
    if (MPI_Request* const request = new_request(end, bytes.size())) {
      check(MPI_Isend(bytes.data(),
                      static_cast<int>(bytes.size()),
                      MPI_BYTE,
                      ends_[end].peer,
                      ends_[end].tag,
                      comm_,
                      request));
    }
  }
  void post_receive(std::uint32_t end, std::span<std::byte> bytes) override {
    if (MPI_Request* const request = new_request(end, bytes.size())) {
      check(MPI_Irecv(bytes.data(),
                      static_cast<int>(bytes.size()),
                      MPI_BYTE,
                      ends_[end].peer,
                      ends_[end].tag,
                      comm_,
                      request));
    }
  }

  Result<std::span<const std::uint32_t>> progress() override {
    completed_.clear();
    int count = 0;
    if (!requests_.empty()) {
      check(MPI_Testsome(static_cast<int>(requests_.size()),
                         requests_.data(),
                         &count,
                         indices_.data(),
                         MPI_STATUSES_IGNORE));
    }
    if (!failure_.empty()) {
      return Error{.code = ErrorCode::kInternal, .message = failure_, .where = "MPI"};
    }
    if (count > 0) {
      for (int i = 0; i < count; ++i) {
        const Owner& owner =
            owners_[static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)])];
        through_[flag(ends_[owner.end], owner.number)] = 1;
        tell(owner.end);
      }
      forget_completed();
    }
    return std::span<const std::uint32_t>(completed_);
  }

 private:
  struct End {
    int peer = 0;
    int tag = 0;
    std::uint32_t depth = 1;
    /// Its flags in `through_`, one for each message that may be under way.
    std::uint32_t first_flag = 0;
    /// Messages posted and told, in all.
    std::uint32_t posted = 0;
    std::uint32_t told = 0;
  };
  struct Owner {
    std::uint32_t end = 0;
    std::uint32_t number = 0;
  };

  [[nodiscard]] static std::size_t flag(const End& end, std::uint32_t number) {
    return end.first_flag + number % end.depth;
  }

  /// Null when MPI cannot take the message.
  MPI_Request* new_request(std::uint32_t end, std::size_t bytes) {
    if (bytes > INT_MAX) {
      failure_ = fmt::format("{} bytes are more than one message takes; use more chunks", bytes);
      return nullptr;
    }
    owners_.push_back({.end = end, .number = ends_[end].posted++});
    requests_.push_back(MPI_REQUEST_NULL);
    return &requests_.back();
  }

  void check(int code) {
    if (code != MPI_SUCCESS && failure_.empty()) {
      char text[MPI_MAX_ERROR_STRING] = {};
      int length = 0;
      MPI_Error_string(code, text, &length);
      failure_ = text;
    }
  }

  /// Those of an end that are through, up to the first that is not.
  void tell(std::uint32_t number) {
    End& end = ends_[number];
    while (end.told != end.posted && through_[flag(end, end.told)] != 0) {
      through_[flag(end, end.told)] = 0;
      ++end.told;
      completed_.push_back(number);
    }
  }

  void forget_completed() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] != MPI_REQUEST_NULL) {
        requests_[kept] = requests_[i];
        owners_[kept] = owners_[i];
        ++kept;
      }
    }
    requests_.resize(kept);
    owners_.resize(kept);
  }

  MPI_Comm comm_;
  std::vector<End> ends_;
  std::vector<std::uint8_t> through_;
  /// Under way, in no order, and whose they are.
  std::vector<MPI_Request> requests_;
  std::vector<Owner> owners_;
  std::vector<int> indices_;
  std::vector<std::uint32_t> completed_;
  std::string failure_;
};

}  // namespace

MpiTransport::MpiTransport(MPI_Comm comm) {
  MPI_Comm_dup(comm, &comm_);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

MpiTransport::~MpiTransport() {
  int over = 0;
  MPI_Finalized(&over);
  if (over == 0) {
    MPI_Comm_free(&comm_);
  }
}

Result<std::unique_ptr<Connection>> MpiTransport::open(std::span<const LaneEnd> ends) {
  return std::unique_ptr<Connection>(std::make_unique<MpiConnection>(comm_, ends));
}

}  // namespace tacos
