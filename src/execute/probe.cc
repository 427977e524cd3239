// SPDX-License-Identifier: MIT
// A test of a wire is some messages of one size and an answer to the last of them; before it the
// sender says how many there are and how long, so that the receiver is ready for them. One small
// message and its answer take two latencies. What a long one takes beyond a shorter one is all
// bandwidth, whatever buffers swallow in the beginning. What many take beyond one, and beyond their
// bytes, is gaps; the larger of those on one wire and of those on all at once.
#include "execute/probe.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/numbers/median.h"

namespace tacos::execution {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kAnswers = 1U << 16U;
constexpr std::uint32_t kDepth = 64;
constexpr std::size_t kSmall = 8;
constexpr std::size_t kLongest = std::size_t{8} << 20U;
constexpr std::chrono::seconds kLimit{20};

/// What follows on a wire; no messages are the end.
struct Test {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

/// This process's ends of all wires.
class Ends {
 public:
  Ends(Team& team, std::span<const Wire> wires)
      : self_(static_cast<std::uint32_t>(team.member())),
        wires_(wires),
        data_(wires.size(), kNone),
        answer_(wires.size(), kNone),
        buffer_(kLongest) {}

  Status open(Transport& transport) {
    std::vector<LaneEnd> ends;
    for (std::size_t w = 0; w < wires_.size(); ++w) {
      const Wire& wire = wires_[w];
      if (wire.from != self_ && wire.to != self_) {
        continue;
      }
      const bool sends = wire.from == self_;
      const std::uint32_t peer = sends ? wire.to : wire.from;
      data_[w] = static_cast<std::uint32_t>(ends.size());
      ends.push_back({.role = sends ? LaneRole::kSend : LaneRole::kReceive,
                      .peer = peer,
                      .channel = wire.channel,
                      .depth = kDepth});
      answer_[w] = static_cast<std::uint32_t>(ends.size());
      ends.push_back({.role = sends ? LaneRole::kReceive : LaneRole::kSend,
                      .peer = peer,
                      .channel = kAnswers + wire.channel,
                      .depth = 1});
    }
    Result<std::unique_ptr<Connection>> opened = transport.open(ends);
    if (!opened) {
      return opened.error();
    }
    connection_ = *std::move(opened);
    done_.assign(ends.size(), 0);
    return ok();
  }

  [[nodiscard]] bool sends(std::size_t wire) const { return wires_[wire].from == self_; }
  [[nodiscard]] bool receives(std::size_t wire) const { return wires_[wire].to == self_; }
  [[nodiscard]] std::uint32_t data(std::size_t wire) const { return data_[wire]; }
  [[nodiscard]] std::uint32_t answer(std::size_t wire) const { return answer_[wire]; }

  /// Messages of that length are posted on an end, as many as fit, and waited for.
  Status move(std::uint32_t end, bool sends, const Test& test) {
    for (std::uint64_t posted = 0; posted < test.messages;) {
      const std::uint64_t some = std::min<std::uint64_t>(kDepth, test.messages - posted);
      for (std::uint64_t i = 0; i < some; ++i) {
        post(end, sends, test.bytes);
      }
      if (Status moved = wait_for(end, some); !moved) {
        return moved;
      }
      posted += some;
    }
    return ok();
  }
  void post(std::uint32_t end, bool sends, std::size_t bytes) {
    const std::span<std::byte> room(buffer_.data(), bytes);
    if (sends) {
      connection_->post_send(end, room);
    } else {
      connection_->post_receive(end, room);
    }
  }
  /// Until so many messages more have moved on an end.
  Status wait_for(std::uint32_t end, std::uint64_t messages) {
    const auto start = Clock::now();
    while (done_[end] < messages) {
      const Result<bool> any = look();
      if (!any) {
        return any.error();
      }
      if (!*any && looks_ % kSeldom == 0 && Clock::now() - start > kLimit) {
        return Error{.code = ErrorCode::kInternal,
                     .message = fmt::format("process {} waited in vain", self_),
                     .where = "probe"};
      }
    }
    done_[end] -= messages;
    return ok();
  }
  /// Whether anything moved.
  Result<bool> look() {
    const Result<std::span<const std::uint32_t>> moved = connection_->progress();
    if (!moved) {
      return moved.error();
    }
    for (const std::uint32_t end : *moved) {
      ++done_[end];
    }
    looks_ = moved->empty() ? looks_ + 1 : 0;
    if (looks_ > kSpins) {
      connection_->wait(looks_);
    }
    return !moved->empty();
  }
  /// Takes a message that has moved on an end off the count.
  [[nodiscard]] bool take(std::uint32_t end) { return done_[end] > 0 && done_[end]-- > 0; }
  [[nodiscard]] std::vector<std::byte>& buffer() { return buffer_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint32_t kSpins = 64;
  static constexpr std::uint32_t kSeldom = 256;
  std::uint32_t self_;
  std::span<const Wire> wires_;
  /// By wire.
  std::vector<std::uint32_t> data_;
  std::vector<std::uint32_t> answer_;
  std::vector<std::byte> buffer_;
  std::unique_ptr<Connection> connection_;
  /// By end: messages that have moved and nobody has waited for.
  std::vector<std::uint64_t> done_;
  std::uint32_t looks_ = 0;
};

/// The sender's side of one wire.
class Sender {
 public:
  Sender(Ends& ends, std::size_t wire) : ends_(ends), wire_(wire) {}

  Result<WireSpeed> measure() {
    constexpr int kPings = 15;
    constexpr int kRuns = 3;
    constexpr std::uint64_t kMany = 64;
    constexpr std::size_t kShort = 1024;
    const double two_ways = run({1, kSmall}, kPings);
    Test longest{1, std::size_t{16} << 10U};
    double time = run(longest, 1);
    // Long enough for what a shaper saved up while it was idle (with 0.03 a wire of 1.5 MB/s seemed
    // 6% faster than it is), short enough for people.
    constexpr double kEnough = 0.1;
    while (!failure_ && time < kEnough && longest.bytes < kLongest) {
      longest.bytes *= 4;
      time = run(longest, 1);
    }
    longest.bytes = std::min<std::uint64_t>(longest.bytes, kLongest);
    const double whole = run(longest, kRuns);
    const double part = run({1, longest.bytes / 4}, kRuns);
    const double many = run({kMany, kShort}, kRuns);
    const double one = run({1, kShort}, kRuns);
    (void)run({0, 0}, 1);
    if (failure_) {
      return *failure_;
    }
    const double bytes = static_cast<double>(longest.bytes) * 3 / 4;
    WireSpeed speed{.latency = two_ways / 2, .bandwidth = bytes / std::max(whole - part, 1e-9)};
    speed.gap = std::max(0.0,
                         (many - one) / static_cast<double>(kMany - 1) -
                             static_cast<double>(kShort) / speed.bandwidth);
    return speed;
  }

 private:
  /// The median time of some tests.
  double run(const Test& test, int times) {
    std::vector<double> seconds;
    for (int i = 0; i < times && !failure_; ++i) {
      std::memcpy(ends_.buffer().data(), &test, sizeof test);
      note(ends_.move(ends_.data(wire_), true, {1, sizeof test}));
      note(ends_.move(ends_.answer(wire_), false, {1, kSmall}));
      const auto start = Clock::now();
      note(ends_.move(ends_.data(wire_), true, test));
      note(test.messages == 0 ? ok() : ends_.move(ends_.answer(wire_), false, {1, kSmall}));
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    return failure_ ? 0 : median(std::move(seconds));
  }
  void note(const Status& status) {
    if (!status && !failure_) {
      failure_ = status.error();
    }
  }

  Ends& ends_;
  std::size_t wire_;
  std::optional<Error> failure_;
};

/// The receiver's side: does as it is told until it is told to end.
Status answer(Ends& ends, std::size_t wire) {
  while (true) {
    Test test;
    Status moved = ends.move(ends.data(wire), false, {1, sizeof test});
    if (!moved) {
      return moved;
    }
    std::memcpy(&test, ends.buffer().data(), sizeof test);
    if (test.bytes > kLongest) {
      return Error{
          .code = ErrorCode::kInternal, .message = "a test makes no sense", .where = "probe"};
    }
    moved = ends.move(ends.answer(wire), true, {1, kSmall});
    if (!moved || test.messages == 0) {
      return moved;
    }
    moved = ends.move(ends.data(wire), false, test);
    if (moved) {
      moved = ends.move(ends.answer(wire), true, {1, kSmall});
    }
    if (!moved) {
      return moved;
    }
  }
}

/// The same messages on all wires at once.
class AllAtOnce {
 public:
  /// By wire.
  AllAtOnce(Ends& ends, std::vector<Test> tests)
      : ends_(ends),
        tests_(std::move(tests)),
        arrived_(tests_.size(), 0),
        seconds_(tests_.size(), 0) {}

  Status run() {
    for (std::size_t w = 0; w < tests_.size(); ++w) {
      begin(w);
    }
    start_ = Clock::now();
    while (left_ > 0) {
      if (const Result<bool> any = ends_.look(); !any) {
        return any.error();
      }
      if (Clock::now() - start_ > kLimit) {
        return Error{.code = ErrorCode::kInternal,
                     .message = "all wires at once get stuck",
                     .where = "probe"};
      }
      for (std::size_t w = 0; w < tests_.size(); ++w) {
        note(w);
      }
    }
    return ok();
  }
  /// From the beginning until the answer; of those that this process sends.
  [[nodiscard]] double seconds(std::size_t wire) const { return seconds_[wire]; }

 private:
  void begin(std::size_t w) {
    if (!ends_.sends(w) && !ends_.receives(w)) {
      return;
    }
    for (std::uint64_t i = 0; i < tests_[w].messages; ++i) {
      ends_.post(ends_.data(w), ends_.sends(w), tests_[w].bytes);
    }
    if (ends_.sends(w)) {
      ends_.post(ends_.answer(w), false, kSmall);
    }
    left_ += tests_[w].messages + 1;
  }
  /// What has moved on a wire: the messages, then the answer to the last of them.
  void note(std::size_t w) {
    if (!ends_.sends(w) && !ends_.receives(w)) {
      return;
    }
    while (ends_.take(ends_.data(w))) {
      --left_;
      if (++arrived_[w] == tests_[w].messages && ends_.receives(w)) {
        ends_.post(ends_.answer(w), true, kSmall);
      }
    }
    if (ends_.take(ends_.answer(w))) {
      --left_;
      seconds_[w] = std::chrono::duration<double>(Clock::now() - start_).count();
    }
  }

  Ends& ends_;
  std::vector<Test> tests_;
  std::vector<std::uint64_t> arrived_;
  std::vector<double> seconds_;
  Clock::time_point start_;
  std::size_t left_ = 0;
};

/// A long message on every wire, about a tenth of a second each.
Status measure_bandwidth_together(Ends& ends, std::vector<WireSpeed>& speeds) {
  constexpr double kSeconds = 0.1;
  std::vector<Test> tests;
  tests.reserve(speeds.size());
  for (const WireSpeed& speed : speeds) {
    tests.push_back(
        {1,
         std::clamp(
             static_cast<std::size_t>(speed.bandwidth * kSeconds), std::size_t{4096}, kLongest)});
  }
  AllAtOnce all(ends, tests);
  Status moved = all.run();
  for (std::size_t w = 0; moved && w < speeds.size(); ++w) {
    const double seconds = std::max(all.seconds(w) - 2 * speeds[w].latency, 1e-9);
    speeds[w].bandwidth_together = static_cast<double>(tests[w].bytes) / seconds;
  }
  return moved;
}

/// Many short messages on every wire: what they cost the processes counts then, who have more to do
/// than one wire gives them.
Status measure_gaps(Ends& ends, std::vector<WireSpeed>& speeds) {
  constexpr Test kMany{kDepth, 64};
  AllAtOnce all(ends, std::vector<Test>(speeds.size(), kMany));
  Status moved = all.run();
  for (std::size_t w = 0; moved && w < speeds.size(); ++w) {
    const double each = (all.seconds(w) - 2 * speeds[w].latency) / static_cast<double>(kDepth) -
                        static_cast<double>(kMany.bytes) / speeds[w].bandwidth;
    speeds[w].gap = std::max(speeds[w].gap, each);
  }
  return moved;
}

/// Of every wire what its sender found.
void share(Team& team, std::span<const Wire> wires, std::vector<WireSpeed>& speeds) {
  Packet mine;
  for (std::size_t w = 0; w < wires.size(); ++w) {
    if (wires[w].from == static_cast<std::uint32_t>(team.member())) {
      put(mine, speeds[w]);
    }
  }
  const std::vector<Packet> all = all_gather(team, mine);
  for (std::size_t member = 0; member < all.size(); ++member) {
    PacketReader reader(all[member]);
    for (std::size_t w = 0; w < wires.size(); ++w) {
      if (wires[w].from == member) {
        speeds[w] = reader.get<WireSpeed>();
      }
    }
  }
}

}  // namespace

std::vector<std::vector<std::uint32_t>> disjoint_rounds(std::span<const Wire> wires) {
  std::vector<std::vector<std::uint32_t>> rounds;
  std::vector<bool> placed(wires.size(), false);
  for (std::size_t left = wires.size(); left > 0;) {
    std::vector<std::uint32_t>& round = rounds.emplace_back();
    std::vector<std::uint32_t> busy;
    const auto is_busy = [&](std::uint32_t process) {
      return std::find(busy.begin(), busy.end(), process) != busy.end();
    };
    for (std::uint32_t w = 0; w < wires.size(); ++w) {
      if (!placed[w] && !is_busy(wires[w].from) && !is_busy(wires[w].to)) {
        placed[w] = true;
        round.push_back(w);
        busy.push_back(wires[w].from);
        busy.push_back(wires[w].to);
        --left;
      }
    }
  }
  return rounds;
}

Result<std::vector<WireSpeed>> probe(Team& team,
                                     Transport& transport,
                                     std::span<const Wire> wires,
                                     const std::function<void(double)>& progress) {
  Ends ends(team, wires);
  const Status opened = ends.open(transport);
  if (const auto error = first_error(team, opened ? std::nullopt : std::optional(opened.error()))) {
    return *error;
  }
  std::vector<WireSpeed> speeds(wires.size());
  const std::vector<std::vector<std::uint32_t>> rounds = disjoint_rounds(wires);
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    Status done = ok();
    for (const std::uint32_t w : rounds[r]) {
      if (ends.sends(w)) {
        const Result<WireSpeed> speed = Sender(ends, w).measure();
        if (speed) {
          speeds[w] = *speed;
        } else {
          done = speed.error();
        }
      } else if (ends.receives(w)) {
        done = answer(ends, w);
      }
    }
    if (const auto error = first_error(team, done ? std::nullopt : std::optional(done.error()))) {
      return *error;
    }
    if (progress) {
      progress(static_cast<double>(r + 1) / static_cast<double>(rounds.size() + 1));
    }
  }
  share(team, wires, speeds);
  Status busy = measure_bandwidth_together(ends, speeds);
  if (busy) {
    busy = measure_gaps(ends, speeds);
  }
  if (const auto error = first_error(team, busy ? std::nullopt : std::optional(busy.error()))) {
    return *error;
  }
  share(team, wires, speeds);
  return speeds;
}

}  // namespace tacos::execution
