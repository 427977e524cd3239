// SPDX-License-Identifier: MIT
// O(ranks) words for a collective.
#include "c10d/group.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/parallel/agree.h"
#include "execute/mapping.h"
#include "execute/transports/shared_memory.h"
#include "execute/transports/split.h"
#include "execute/transports/tcp.h"

namespace tacos::torch_backend {
namespace {

using Clock = std::chrono::steady_clock;

enum WordKind : std::uint32_t {
  kCall,     ///< a collective, by its number in the group
  kRefusal,  ///< the same, but this rank cannot do it
  kPerhaps,  ///< the same, with parts that may be of different sizes
  kFailure,  ///< nothing more will work
  kBye,      ///< this rank leaves
};

/// With which the words of calls are compared; nothing is compared with one that was refused.
bool fits(const Messenger::Word& mine, const Messenger::Word& theirs) {
  return mine.kind == kRefusal || (mine.kind == theirs.kind && mine.value == theirs.value &&
                                   (mine.kind == kPerhaps || mine.count == theirs.count));
}

template <class T>
T must(Result<T> result) {
  if (!result) {
    throw std::runtime_error("tacos: " + result.error().to_string());
  }
  return *std::move(result);
}

Error failed(std::string sentence) {
  return {.code = ErrorCode::kInternal, .message = std::move(sentence), .where = {}};
}

/// Whether a rank has its result before everybody has called: those of the root's choosing have.
bool waits_for_all(const Job& job, std::uint32_t rank) {
  const CollectiveTraits& of = traits(job.kind);
  return !of.rooted() ||
         (of.after == Holder::kRoot && rank == static_cast<std::uint32_t>(job.root));
}

}  // namespace

Group::Group(c10::intrusive_ptr<c10d::Store> store, int rank, int size, GroupOptions options)
    : options_(std::move(options)),
      rank_(static_cast<std::uint32_t>(rank)),
      ranks_(static_cast<std::uint32_t>(size)),
      team_(std::move(store), rank, size, options_.timeout),
      peers_(ranks_) {
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
  Result<Transport*> transport = choose_transport();
  (void)must(agree(team_, transport));
  transport_ = *transport;
  find_npus();
  Schedules::Options wanted{.plan = options_.plan,
                            .topology = options_.topology,
                            .npus = npus_,
                            .world = std::nullopt,
                            .effort = options_.effort};
  if (options_.world > 0) {
    wanted.world = options_.world;
  }
  schedules_ = must(Schedules::open(team_, std::move(wanted)));
  messenger_ = must(Messenger::open(team_, *transport_));
  messenger_->listen([this](const Messenger::Word& word) { hear(word); });
  if (!options_.trace.empty()) {
    Result<std::unique_ptr<Trace>> trace =
        Trace::open(options_.trace, options_.name, static_cast<int>(rank_));
    (void)must(agree(team_, trace));
    trace_ = *std::move(trace);
  }
  // From now on who waits for others sees it when they are gone.
  team_.watch([this] {
    const Result<bool> moved = messenger_->progress();
    if (!moved && !failure_) {
      throw std::runtime_error(moved.error().to_string());
    }
    if (failure_) {
      throw std::runtime_error(failure_->to_string());
    }
  });
}

Result<Transport*> Group::choose_transport() {
  const std::vector<int> machines = all_gather(team_, team_.machine());
  const bool one_machine = std::all_of(
      machines.begin(), machines.end(), [&](int machine) { return machine == machines.front(); });
  const std::string& name = options_.transport;
  if (name != "auto" && name != "shm" && name != "tcp") {
    return input_error(fmt::format("'{}' is none of auto, shm and tcp", name), "TACOS_TRANSPORT");
  }
  if (name == "shm" && !one_machine) {
    return input_error("ranks are on several machines; use auto or tcp", "TACOS_TRANSPORT");
  }
  if (name != "tcp") {
    transports_.push_back(std::make_unique<execution::SharedMemoryTransport>(team_));
  }
  if (name == "tcp" || !one_machine) {
    transports_.push_back(std::make_unique<execution::TcpTransport>(team_));
  }
  if (transports_.size() == 1) {
    return transports_.front().get();
  }
  std::vector<std::uint32_t> choice;
  choice.reserve(machines.size());
  for (const int machine : machines) {
    choice.push_back(machine == team_.machine() ? 0 : 1);
  }
  transports_.push_back(std::make_unique<execution::SplitTransport>(
      std::vector<Transport*>{transports_[0].get(), transports_[1].get()}, choice));
  return transports_.back().get();
}

void Group::find_npus() {
  std::vector<NodeId> npus;
  npus.reserve(ranks_);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    npus.emplace_back(options_.npus.empty() ? rank : options_.npus[rank]);
  }
  if (options_.map.empty()) {
    npus_ = std::move(npus);
    return;
  }
  Result<std::vector<NodeId>> mapped = execution::map_members(team_, npus, options_.map);
  if (!mapped) {
    Error error = std::move(mapped).error();
    error.where = "TACOS_MAP " + error.where;
    mapped = std::move(error);
  }
  (void)must(agree(team_, mapped));
  npus_ = *std::move(mapped);
}

void Group::ask(Job job) {
  job.asked = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    job.number = asked_++;
    new_jobs_.push_back(std::move(job));
    busy_ = true;
  }
  wake_.notify_one();
}

void Group::ask(Post post) {
  post.asked = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    new_posts_.push_back(std::move(post));
    busy_ = true;
  }
  wake_.notify_one();
}

void Group::help(const std::function<bool()>& done) {
  if (driver_.load() == std::this_thread::get_id()) {
    throw std::runtime_error(
        "tacos: wait() inside a callback of the same group would wait forever; use then() instead");
  }
  if (!options_.helps || !wheel_.try_lock()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    helped_ = true;
  }
  {
    const std::lock_guard wheel(wheel_, std::adopt_lock);
    driver_ = std::this_thread::get_id();
    while (!done() && turn()) {
      pause();
    }
    driver_ = std::thread::id();
  }
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    helped_ = false;
    more = busy_ || stop_;
  }
  if (more) {
    wake_.notify_one();
  }
}

void Group::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return (stop_ || busy_) && !helped_; });
    if (!busy_) {
      return;
    }
    lock.unlock();
    {
      const std::lock_guard wheel(wheel_);
      driver_ = std::this_thread::get_id();
      while (turn()) {
        pause();
      }
      driver_ = std::thread::id();
    }
    lock.lock();
  }
}

void Group::leave() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) {
      return;
    }
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
  const std::lock_guard wheel(wheel_);
  linger();
  team_.settle();
  report();
  refuse_all(failed("the process group was destroyed"));
  failure_ = failed("the process group was destroyed");
  trace_.reset();
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

void Group::linger() {
  // What others still say of calls that we have done must be heard, or they would find nobody.
  constexpr std::chrono::seconds kPatience{5};
  const Clock::time_point end = Clock::now() + kPatience;
  const auto waits = [&] {
    for (std::uint32_t other = 0; other < ranks_; ++other) {
      if (other != rank_ && !peers_[other].left && peers_[other].matched < started_) {
        return true;
      }
    }
    return false;
  };
  for (std::uint32_t looks = 0; !failure_ && waits() && Clock::now() < end; ++looks) {
    const Result<bool> moved = messenger_->progress();
    if (!moved) {
      return;
    }
    looks = *moved ? 0 : looks;
    messenger_->pause(looks);
  }
  say_all({.from = rank_, .kind = kBye, .number = 0, .value = 0, .count = 0, .text = {}});
  flush(kPatience);
}

void Group::flush(std::chrono::milliseconds time) {
  const Clock::time_point end = Clock::now() + time;
  for (std::uint32_t looks = 0; !messenger_->quiet() && Clock::now() < end; ++looks) {
    const Result<bool> moved = messenger_->progress();
    if (!moved) {
      return;
    }
    messenger_->pause(looks);
  }
}

std::map<std::string, std::uint64_t> Group::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void Group::count(const std::string& title, const std::string& by) {
  const std::lock_guard lock(mutex_);
  ++counts_[title + (by.empty() ? " by schedule" : " directly (" + by + ")")];
}

void Group::record(const Trace::Event& event) {
  if (trace_) {
    trace_->add(event);
  }
}

void Group::say_all(const Messenger::Word& word) {
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    if (other != rank_) {
      messenger_->say(other, word);
    }
  }
}

void Group::hear(const Messenger::Word& word) {
  Peer& peer = peers_[word.from];
  switch (word.kind) {
    case kCall:
    case kRefusal:
    case kPerhaps:
      peer.words.push_back(word);
      match(word.from);
      break;
    case kFailure:
      if (!failure_) {
        fail(failed(fmt::format("rank {} says: {}", word.from, word.text)));
      }
      break;
    case kBye:
      peer.left = true;
      messenger_->forget(word.from);
      break;
    default:
      break;
  }
}

void Group::match(std::uint32_t member) {
  Peer& peer = peers_[member];
  while (!failure_ && peer.matched < started_ && !peer.words.empty()) {
    const Messenger::Word theirs = std::move(peer.words.front());
    const Messenger::Word& mine = history_[peer.matched - first_known_];
    peer.words.pop_front();
    ++peer.matched;
    if (fits(mine, theirs)) {
      if (mine.count != theirs.count && mine.kind == kPerhaps) {
        unequal_.insert(mine.number);
      }
      continue;
    }
    const Signature own{.value = mine.value, .count = mine.count};
    const Signature other{.value = theirs.value, .count = theirs.count};
    fail(theirs.kind == kRefusal
             ? input_error(fmt::format("rank {} cannot do its part: {}", member, theirs.text))
             : input_error(fmt::format(
                   "rank {} calls {} where rank {} calls {}; all ranks must call the same "
                   "collectives in the same order, with the same sizes and types",
                   member,
                   options_.describe(other),
                   rank_,
                   options_.describe(own))));
  }
  const auto behind = [&](const Peer& one) {
    return &one != &peers_[rank_] && !one.left && one.matched <= first_known_;
  };
  while (!history_.empty() && std::none_of(peers_.begin(), peers_.end(), behind)) {
    history_.pop_front();
    ++first_known_;
  }
}

void Group::fail(const Error& error) {
  failure_ = error;
  say_all({.from = rank_,
           .kind = kFailure,
           .number = 0,
           .value = 0,
           .count = 0,
           .text = error.to_string()});
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
    if (!failure_) {
      receipt = post.sends ? messenger_->send(post.peer, post.key, bytes)
                           : messenger_->receive(post.peer, post.key, bytes);
    }
    posts_.push_back({.post = std::move(post), .receipt = std::move(receipt), .started = {}});
    posts_.back().started = Clock::now();
  }
}

bool Group::turn() {
  accept();
  if (!failure_ && !current_ && !jobs_.empty()) {
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    begin(std::move(job));
  }
  bool moved = false;
  if (!failure_) {
    const Result<bool> looked = messenger_->progress();
    moved = looked && *looked;
    if (!looked && !failure_) {
      fail(looked.error());
    }
  }
  if (!failure_ && current_) {
    advance_current();
  }
  if (!failure_) {
    advance_posts();
  }
  if (failure_) {
    // Those who read what we say learn more than by finding us gone.
    constexpr std::chrono::milliseconds kWords{100};
    if (!std::exchange(flushed_, true)) {
      flush(kWords);
    }
    refuse_all(*failure_);
  }
  idle_ = moved ? 0 : idle_ + 1;
  if (current_ || !jobs_.empty() || !posts_.empty() || (!failure_ && !messenger_->quiet())) {
    return true;
  }
  const std::lock_guard lock(mutex_);
  busy_ = !new_jobs_.empty() || !new_posts_.empty();
  return busy_;
}

void Group::pause() {
  constexpr std::uint32_t kSpins = 16;
  if (current_ && current_->schedule != nullptr && !current_->done) {
    current_->schedule->pause();
  } else if (idle_ > kSpins) {
    messenger_->pause(idle_);
  }
}

void Group::begin(Job job) {
  Messenger::Word word{.from = rank_,
                       .kind = !job.refusal.empty()   ? kRefusal
                               : job.may_be_unequal() ? kPerhaps
                                                      : kCall,
                       .number = job.number,
                       .value = job.signature.value,
                       .count = job.signature.count,
                       .text = job.refusal};
  say_all(word);
  history_.push_back(std::move(word));
  ++started_;
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    if (other != rank_) {
      match(other);
    }
  }
  current_.emplace();
  current_->job = std::move(job);
  current_->started = Clock::now();
  if (failure_) {
    return;
  }
  if (!current_->job.refusal.empty()) {
    finish_current(nullptr);
    return;
  }
  start_current();
}

void Group::start_current() {
  Current& now = *current_;
  if (now.job.before) {
    now.job.before();
  }
  if (now.job.barrier) {
    now.by = "barrier";
    now.moved = true;
    return;
  }
  if (now.job.may_be_unequal()) {
    now.undecided = true;
    return;
  }
  choose();
}

void Group::choose() {
  Current& now = *current_;
  const bool unequal = now.job.may_be_unequal() &&
                       (now.job.signature.count == kUnequal || unequal_.erase(now.job.number) > 0);
  if (unequal) {
    go_directly("unequal parts");
    return;
  }
  now.job.sent_bytes.clear();
  now.job.received_bytes.clear();
  if (!now.job.unserved.empty() || ranks_ == 1 || now.job.call.count == 0) {
    go_directly(!now.job.unserved.empty() ? now.job.unserved : ranks_ == 1 ? "one rank" : "empty");
    return;
  }
  const std::optional<Schedules::Use> use =
      schedules_->find(now.job.kind, now.job.root, now.job.call);
  if (!use) {
    go_directly("no schedule for it");
    return;
  }
  now.schedule = schedules_->loaded(*use);
  if (now.schedule == nullptr) {
    now.loads = use;
  } else if (const Status started = now.schedule->start(now.job.call); !started) {
    fail(started.error());
  }
}

void Group::go_directly(std::string reason) {
  current_->by = std::move(reason);
  current_->direct = std::make_unique<DirectRun>(current_->job, *messenger_, rank_, ranks_);
}

bool Group::words_are_in() const {
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    if (other != rank_ && peers_[other].matched < started_) {
      return false;
    }
  }
  return true;
}

void Group::load_current() {
  Current& now = *current_;
  try {
    now.schedule = schedules_->load(*now.loads, team_, *transport_);
  } catch (const std::exception& error) {
    fail(failed(error.what()));
    return;
  }
  now.loads.reset();
  if (now.schedule == nullptr) {
    go_directly(schedules_->reason());
    return;
  }
  if (const Status started = now.schedule->start(now.job.call); !started) {
    fail(started.error());
  }
}

void Group::advance_current() {
  Current& now = *current_;
  for (std::uint32_t other = 0; other < ranks_; ++other) {
    if (other != rank_ && peers_[other].left && peers_[other].matched < started_) {
      fail(failed(fmt::format("rank {} has left the group", other)));
      return;
    }
  }
  if (Clock::now() - now.started > options_.timeout) {
    fail(failed(fmt::format("{} did not end within {} s",
                            now.job.title,
                            std::chrono::duration<double>(options_.timeout).count())));
    return;
  }
  if ((now.loads || now.undecided) && !words_are_in()) {
    return;
  }
  if (std::exchange(now.undecided, false)) {
    choose();
  }
  if (now.loads) {
    load_current();
  }
  if (failure_) {
    return;
  }
  if (!now.moved) {
    const Result<bool> done =
        now.schedule != nullptr ? now.schedule->advance() : now.direct->advance();
    if (!done) {
      fail(done.error());
      return;
    }
    now.moved = *done;
  }
  now.done = now.moved;
  if (now.moved && (!waits_for_all(now.job, rank_) || words_are_in())) {
    finish_current(nullptr);
  }
}

void Group::finish_current(const Error* error) {
  Current now = *std::move(current_);
  current_.reset();
  if (error == nullptr && now.job.refusal.empty()) {
    if (now.job.after) {
      now.job.after();
    }
    count(now.job.title, now.by);
    record({.title = now.job.title,
            .by = now.by,
            .bytes = now.job.call.count * element_bytes(now.job.call.type),
            .aside = false,
            .asked = now.job.asked,
            .started = now.started,
            .ended = Clock::now()});
  }
  now.job.finish(error);
}

void Group::advance_posts() {
  for (auto at = posts_.begin(); at != posts_.end();) {
    const Post& post = at->post;
    const bool nobody = !post.sends && post.peer != Messenger::kAnybody && peers_[post.peer].left;
    if (!at->receipt->done && nobody) {
      at->receipt->error = failed(fmt::format("rank {} has left the group", post.peer));
    } else if (!at->receipt->done) {
      ++at;
      continue;
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
