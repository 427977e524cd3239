// SPDX-License-Identifier: MIT
// The ranks of one process group, and what they are asked for: collectives one after the other, in
// the order in which they were called, messages beside them.
//
// Whatever a rank calls it tells all others, beside the data and without waiting for them: what
// does not fit together is found out by everybody. A rank that cannot go on says so as well.
//
// All is done by whoever holds the wheel: the group's own thread, or, if so wished, one that has
// nothing to do but wait for the result.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tacos/execute.h"

#include "c10d/direct.h"
#include "c10d/job.h"
#include "c10d/store_team.h"
#include "c10d/trace.h"
#include "serve/messenger.h"
#include "serve/schedules.h"

namespace tacos::torch_backend {

struct GroupOptions {
  /// Schedules::Options has them.
  std::string plan;
  std::string topology;
  /// A map, or the NPUs of the ranks of this group.
  std::string map;
  std::vector<std::uint32_t> npus;
  /// So many NPUs the network, or the plan, must have; 0: any number.
  std::uint32_t world = 0;
  /// "auto", "shm" or "tcp".
  std::string transport = "auto";
  std::string trace;
  /// For traces: which group it is; empty for that of all ranks.
  std::string name;
  int effort = kDefaultEffort;
  std::chrono::milliseconds timeout{1'800'000};
  /// Whether the first rank says at the end what was done.
  bool verbose = false;
  /// Whether those who wait help.
  bool helps = false;
  /// Names what a signature says.
  std::function<std::string(const Signature&)> describe;
};

class Group {
 public:
  /// By all ranks together; throws at all of them where one fails.
  Group(c10::intrusive_ptr<c10d::Store> store, int rank, int size, GroupOptions options);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group();

  void ask(Job job);
  void ask(Post post);
  /// Does what is to be done until `done` says so, unless somebody else does it already.
  void help(const std::function<bool()>& done);
  /// Ends the thread, after what was asked for is done. Others may go on without this rank.
  void leave();

  [[nodiscard]] std::uint64_t calls() const { return asked_; }
  [[nodiscard]] const std::vector<NodeId>& npus() const { return npus_; }
  /// How often what was done, and how: by a schedule, or directly and why.
  [[nodiscard]] std::map<std::string, std::uint64_t> counts() const;

 private:
  /// What others have said of their calls.
  struct Peer {
    std::deque<Messenger::Word> words;
    /// So many of its calls have been compared with ours.
    std::uint64_t matched = 0;
    bool left = false;
  };
  struct Sent {
    Post post;
    std::shared_ptr<Receipt> receipt;
    std::chrono::steady_clock::time_point started;
  };
  /// The collective at hand.
  struct Current {
    Job job;
    LoadedSchedule* schedule = nullptr;
    std::unique_ptr<DirectRun> direct;
    /// To be loaded once all ranks have called the same.
    std::optional<Schedules::Use> loads;
    /// How it is done follows from what all ranks say.
    bool undecided = false;
    bool moved = false;
    bool done = false;
    std::string by;
    std::chrono::steady_clock::time_point started;
  };

  void connect();
  [[nodiscard]] Result<Transport*> choose_transport();
  void find_npus();
  void hear(const Messenger::Word& word);
  void match(std::uint32_t member);
  void fail(const Error& error);
  void run();
  /// One look at everything; whether there is still something to do.
  bool turn();
  void accept();
  void begin(Job job);
  void start_current();
  void choose();
  void go_directly(std::string reason);
  void load_current();
  void advance_current();
  void finish_current(const Error* error);
  [[nodiscard]] bool words_are_in() const;
  void advance_posts();
  void refuse_all(const Error& error);
  void flush(std::chrono::milliseconds time);
  void pause();
  void linger();
  void report() const;
  void say_all(const Messenger::Word& word);
  void count(const std::string& title, const std::string& by);
  void record(const Trace::Event& event);

  GroupOptions options_;
  std::uint32_t rank_;
  std::uint32_t ranks_;
  StoreTeam team_;
  std::vector<std::unique_ptr<Transport>> transports_;
  Transport* transport_ = nullptr;
  std::vector<NodeId> npus_;
  std::optional<Schedules> schedules_;
  std::unique_ptr<Messenger> messenger_;
  std::unique_ptr<Trace> trace_;

  /// Of whoever holds the wheel.
  std::mutex wheel_;
  std::atomic<std::thread::id> driver_;
  std::optional<Current> current_;
  std::deque<Job> jobs_;
  std::list<Sent> posts_;
  std::vector<Peer> peers_;
  /// Our own calls that not everybody has spoken of, and the number of the first.
  std::deque<Messenger::Word> history_;
  std::uint64_t first_known_ = 0;
  std::uint64_t started_ = 0;
  /// Numbers of calls of which some said that their parts are of other sizes.
  std::set<std::uint64_t> unequal_;
  std::optional<Error> failure_;
  bool flushed_ = false;
  std::uint32_t idle_ = 0;

  /// Of everybody.
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> new_jobs_;
  std::deque<Post> new_posts_;
  std::atomic<std::uint64_t> asked_ = 0;
  std::map<std::string, std::uint64_t> counts_;
  bool busy_ = false;
  /// Somebody who waits holds the wheel, and our thread need not.
  bool helped_ = false;
  bool stop_ = false;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace tacos::torch_backend
