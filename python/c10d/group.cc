// SPDX-License-Identifier: MIT
#include "c10d/group.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/parallel/agree.h"
#include "execute/mapping.h"

namespace tacos::torch_backend {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kDestroyed = "the process group was destroyed";

template <class T>
T must(Result<T> result) {
  if (!result) {
    throw std::runtime_error("tacos: " + result.error().to_string());
  }
  return *std::move(result);
}

/// By rank, as the options say.
Result<std::vector<NodeId>> find_npus(Team& team, const GroupOptions& options) {
  std::vector<NodeId> npus;
  for (std::uint32_t rank = 0; rank < static_cast<std::uint32_t>(team.size()); ++rank) {
    npus.emplace_back(options.npus.empty() ? rank : options.npus[rank]);
  }
  if (options.map.empty()) {
    return npus;
  }
  Result<std::vector<NodeId>> mapped = execution::map_members(team, npus, options.map);
  if (!mapped) {
    Error error = std::move(mapped).error();
    error.where = "TACOS_MAP " + error.where;
    return error;
  }
  return mapped;
}

}  // namespace

Group::Group(c10::intrusive_ptr<c10d::Store> store, int rank, int size, GroupOptions options)
    : options_(std::move(options)),
      rank_(static_cast<std::uint32_t>(rank)),
      ranks_(static_cast<std::uint32_t>(size)),
      team_(std::move(store), rank, size, options_.members, options_.timeout),
      process_(::getpid()) {
  try {
    connect();
  } catch (const std::exception&) {
    team_.part();
    throw;
  }
  thread_ = std::thread([this] { run(); });
}

Group::~Group() {
  leave();
}

void Group::connect() {
  (void)must(agree(
      team_, options_.mistake.empty() ? ok() : Status(input_error(std::string(options_.mistake)))));
  Result<Transports> transports = Transports::choose(team_, options_.transport);
  (void)must(agree(team_, transports));
  transports_ = *std::move(transports);
  Result<std::vector<NodeId>> npus = find_npus(team_, options_);
  if (!options_.map.empty()) {
    (void)must(agree(team_, npus));
  }
  npus_ = *std::move(npus);
  Schedules::Options wanted{.plan = options_.plan,
                            .topology = options_.topology,
                            .npus = npus_,
                            .world = std::nullopt,
                            .effort = options_.effort};
  if (options_.world > 0) {
    wanted.world = options_.world;
  }
  schedules_ = must(Schedules::open(team_, std::move(wanted)));
  messenger_ = must(Messenger::open(team_, transports_.used()));
  words_.emplace(*messenger_, rank_, ranks_, options_.describe);
  if (!options_.trace.empty()) {
    Result<std::unique_ptr<Trace>> trace =
        Trace::open(options_.trace, options_.name, static_cast<int>(rank_));
    (void)must(agree(team_, trace));
    trace_ = *std::move(trace);
  }
  // From now on who waits for others sees it when they are gone.
  team_.watch([this] {
    const Result<bool> moved = messenger_->progress();
    if (!moved && !words_->failure()) {
      throw std::runtime_error(moved.error().to_string());
    }
    if (words_->failure()) {
      throw std::runtime_error(words_->failure()->to_string());
    }
  });
  tools_.emplace(Tools{.rank = rank_,
                       .ranks = ranks_,
                       .team = team_,
                       .transport = transports_.used(),
                       .messenger = *messenger_,
                       .schedules = *schedules_,
                       .words = *words_,
                       .timeout = options_.timeout});
}

std::optional<Error> Group::queue(const std::function<void()>& add) {
  // Whoever was forked has the mutex as it was at that moment.
  if (::getpid() != process_) {
    return failed(
        "the process group is of the process that this one was forked from; make another");
  }
  {
    const std::lock_guard lock(mutex_);
    if (stop_) {
      return failed(kDestroyed);
    }
    add();
    busy_ = true;
  }
  wake_.notify_one();
  return std::nullopt;
}

void Group::ask(Job job) {
  job.asked = Clock::now();
  const std::optional<Error> refused = queue([&] {
    job.number = asked_++;
    new_jobs_.push_back(std::move(job));
  });
  if (refused) {
    job.finish(&*refused);
  }
}

void Group::ask(Post post) {
  post.asked = Clock::now();
  const std::optional<Error> refused = queue([&] { new_posts_.push_back(std::move(post)); });
  if (refused) {
    post.finish(&*refused, post.peer);
  }
}

void Group::check_may_wait() const {
  if (is_own_thread()) {
    throw std::runtime_error(
        "tacos: wait() inside a callback of the same group would wait forever; use then() instead");
  }
}

void Group::run() {
  driver_ = std::this_thread::get_id();
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stop_ || busy_; });
    if (!busy_) {
      driver_ = std::thread::id();
      return;
    }
    lock.unlock();
    while (turn()) {
      pause();
    }
    lock.lock();
  }
}

void Group::leave() {
  if (::getpid() != process_) {
    // The thread is not here, and the lanes are the other process's.
    if (thread_.joinable()) {
      thread_.detach();
    }
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stop_, true)) {
      return;
    }
  }
  wake_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
  driver_ = std::this_thread::get_id();
  constexpr std::chrono::seconds kPatience{5};
  words_->take_leave(kPatience);
  team_.settle();
  report();
  refuse_all(failed(kDestroyed));
  words_->close(failed(kDestroyed));
  trace_.reset();
  driver_ = std::thread::id();
}

void Group::report() const {
  if (!options_.verbose || rank_ != 0) {
    return;
  }
  std::string text;
  for (const auto& [what, number] : counts()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, what);
  }
  fmt::print(stderr,
             "tacos: {}{}\n",
             options_.name.empty() ? "" : fmt::format("group {}: ", options_.name),
             text.empty() ? "nothing was done" : text);
}

std::map<std::string, std::uint64_t> Group::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void Group::count(const std::string& title, const std::string& why_directly) {
  const std::lock_guard lock(mutex_);
  ++counts_[title + (why_directly.empty() ? " by schedule" : " directly (" + why_directly + ")")];
}

void Group::record(const Trace::Event& event) {
  if (trace_) {
    trace_->add(event);
  }
}

void Group::refuse_all(const Error& error) {
  accept();
  if (current_) {
    finish_current(&error);
  }
  // What is called may ask for more.
  const std::deque<Job> jobs = std::exchange(jobs_, {});
  const std::list<Sent> posts = std::exchange(posts_, {});
  for (const Job& job : jobs) {
    job.finish(&error);
  }
  for (const Sent& sent : posts) {
    sent.post.finish(&error, sent.post.peer);
  }
}

void Group::accept() {
  std::deque<Post> posts;
  {
    const std::lock_guard lock(mutex_);
    std::move(new_jobs_.begin(), new_jobs_.end(), std::back_inserter(jobs_));
    new_jobs_.clear();
    posts = std::exchange(new_posts_, {});
  }
  for (Post& post : posts) {
    const std::span<std::byte> bytes(post.bytes, post.size);
    std::shared_ptr<Receipt> receipt;
    if (!words_->failure()) {
      receipt = post.sends ? messenger_->send(post.peer, post.key, bytes)
                           : messenger_->receive(post.peer, post.key, bytes);
    }
    posts_.push_back(
        {.post = std::move(post), .receipt = std::move(receipt), .started = Clock::now()});
  }
}

void Group::move() {
  accept();
  if (!words_->failure() && !current_ && !jobs_.empty()) {
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    words_->call(job);
    current_ = std::make_unique<RunningJob>(std::move(job), *tools_);
    if (!words_->failure()) {
      if (const Status started = current_->start(); !started) {
        words_->fail(started.error());
      }
    }
  }
  bool moved = false;
  if (!words_->failure()) {
    const Result<bool> looked = messenger_->progress();
    moved = looked && *looked;
    if (!looked && !words_->failure()) {
      words_->fail(looked.error());
    }
  }
  if (!words_->failure() && current_) {
    advance_current();
  }
  if (!words_->failure()) {
    advance_posts();
  }
  idle_ = moved ? 0 : idle_ + 1;
}

bool Group::turn() {
  try {
    move();
  } catch (const std::exception& error) {
    // Too little memory, or a mistake; others must not wait for us.
    words_->fail(failed(error.what()));
  }
  if (words_->failure()) {
    // Those who read what we say learn more than by finding us gone.
    constexpr std::chrono::milliseconds kWords{100};
    if (!std::exchange(flushed_, true)) {
      words_->flush(kWords);
    }
    refuse_all(*words_->failure());
  }
  const std::lock_guard lock(mutex_);
  // Two ranks that leave would wait for each other's messages for ever.
  const bool waits = std::any_of(
      posts_.begin(), posts_.end(), [&](const Sent& sent) { return sent.post.sends || !stop_; });
  if (current_ || !jobs_.empty() || waits || (!words_->failure() && !messenger_->quiet())) {
    return true;
  }
  busy_ = !new_jobs_.empty() || !new_posts_.empty();
  return busy_;
}

void Group::pause() {
  constexpr std::uint32_t kSpins = 16;
  const bool paused = current_ && current_->pause();
  if (!paused && idle_ > kSpins) {
    messenger_->pause(idle_);
  }
}

void Group::advance_current() {
  const Result<bool> done = current_->advance();
  if (!done) {
    words_->fail(done.error());
  } else if (*done && !words_->failure()) {
    finish_current(nullptr);
  }
}

void Group::finish_current(const Error* error) {
  const std::unique_ptr<RunningJob> now = std::move(current_);
  const Job& job = now->job();
  std::optional<Error> thrown;
  if (error == nullptr && job.after) {
    try {
      job.after();
    } catch (const std::exception& exception) {
      thrown = failed(exception.what());
      words_->fail(*thrown);
      error = &*thrown;
    }
  }
  if (error == nullptr && job.refusal.empty()) {
    count(job.title, now->why_directly());
    record({.title = job.title,
            .by = now->why_directly(),
            .bytes = job.call.count * element_bytes(job.call.type),
            .aside = false,
            .asked = job.asked,
            .started = now->started(),
            .ended = Clock::now()});
  }
  job.finish(error);
}

void Group::advance_posts() {
  for (auto at = posts_.begin(); at != posts_.end();) {
    const Post& post = at->post;
    Receipt& receipt = *at->receipt;
    if (!receipt.done) {
      if (Clock::now() - at->started > options_.timeout) {
        words_->fail(failed(fmt::format("{} did not end within {} s",
                                        post.title,
                                        std::chrono::duration<double>(options_.timeout).count())));
        return;
      }
      if (post.sends || post.peer == Messenger::kAnybody || !words_->left(post.peer)) {
        ++at;
        continue;
      }
      receipt.error = failed(fmt::format("rank {} has left the group", post.peer));
    }
    const Sent sent = std::move(*at);
    at = posts_.erase(at);
    count(sent.post.title, "message");
    record({.title = sent.post.title,
            .by = fmt::format("rank {}", sent.receipt->peer),
            .bytes = sent.post.size,
            .aside = true,
            .asked = sent.post.asked,
            .started = sent.started,
            .ended = Clock::now()});
    sent.post.finish(sent.receipt->error ? &*sent.receipt->error : nullptr, sent.receipt->peer);
  }
}

}  // namespace tacos::torch_backend
