// SPDX-License-Identifier: MIT
// The ranks of one process group, and what they are asked for: collectives one after the other, in
// the order in which they were called, messages beside them. All is done by a thread of the group,
// which sleeps when there is nothing to do.
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
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "tacos/execute.h"

#include "c10d/job.h"
#include "c10d/running_job.h"
#include "c10d/store_team.h"
#include "c10d/trace.h"
#include "c10d/transports.h"
#include "c10d/words.h"
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
  /// Which ranks are in it, in words that must be the same at all of them.
  std::string members;
  /// What is wrong with the options of this rank, of which the others must learn; empty: nothing.
  std::string mistake;
  int effort = kDefaultEffort;
  std::chrono::milliseconds timeout{1'800'000};
  /// Whether the first rank says at the end what was done.
  bool verbose = false;
  Words::Describe describe;
};

class Group {
 public:
  /// By all ranks together; throws at all of them where one fails.
  Group(c10::intrusive_ptr<c10d::Store> store, int rank, int size, GroupOptions options);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group();

  /// What is asked for after this rank has left, or by a process that was forked from it, fails.
  void ask(Job job);
  void ask(Post post);
  /// Throws where waiting would never end: on the thread that does the work.
  void check_may_wait() const;
  [[nodiscard]] bool is_own_thread() const { return driver_.load() == std::this_thread::get_id(); }
  /// Ends the thread, after what was asked for is done but for messages that did not come. Others
  /// may go on without this rank.
  void leave();

  [[nodiscard]] std::uint64_t calls() const { return asked_; }
  [[nodiscard]] const std::vector<NodeId>& npus() const { return npus_; }
  /// How often what was done, and how: by a schedule, or directly and why.
  [[nodiscard]] std::map<std::string, std::uint64_t> counts() const;

 private:
  struct Sent {
    Post post;
    std::shared_ptr<Receipt> receipt;
    std::chrono::steady_clock::time_point started;
  };

  void connect();
  void run();
  /// One look at everything; whether there is still something to do.
  bool turn();
  void move();
  void accept();
  void advance_current();
  void finish_current(const Error* error);
  void advance_posts();
  void refuse_all(const Error& error);
  void pause();
  void report() const;
  void count(const std::string& title, const std::string& why_directly);
  void record(const Trace::Event& event);
  /// Lets `add` put something into the queues; or says why nothing can be asked for.
  [[nodiscard]] std::optional<Error> queue(const std::function<void()>& add);

  GroupOptions options_;
  std::uint32_t rank_;
  std::uint32_t ranks_;
  StoreTeam team_;
  Transports transports_;
  std::vector<NodeId> npus_;
  std::optional<Schedules> schedules_;
  std::unique_ptr<Messenger> messenger_;
  std::optional<Words> words_;
  std::optional<Tools> tools_;
  std::unique_ptr<Trace> trace_;

  /// Of the thread, and after its end of whoever leaves.
  std::unique_ptr<RunningJob> current_;
  std::deque<Job> jobs_;
  std::list<Sent> posts_;
  bool flushed_ = false;
  std::uint32_t idle_ = 0;
  std::atomic<std::thread::id> driver_;

  /// Of everybody.
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> new_jobs_;
  std::deque<Post> new_posts_;
  std::atomic<std::uint64_t> asked_ = 0;
  std::map<std::string, std::uint64_t> counts_;
  bool busy_ = false;
  bool stop_ = false;
  /// Threads are those of the process that made them.
  pid_t process_;
  std::thread thread_;
};

}  // namespace tacos::torch_backend
