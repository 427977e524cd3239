// SPDX-License-Identifier: MIT
// O(members) keys for an exchange, each deleted once everybody is past it.
#include "c10d/store_team.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"

namespace tacos::torch_backend {
namespace {

/// How long a member that leaves waits for others.
constexpr std::chrono::milliseconds kPatience{2'000};

/// Processes that have the same one see each other's memory, if they are allowed to: a machine
/// since its start, and a space of process numbers on it.
std::string own_machine() {
  std::array<char, 256> name{};
  (void)::gethostname(name.data(), name.size() - 1);
  const Result<std::string> boot = read_text_file("/proc/sys/kernel/random/boot_id");
  struct stat space {};
  (void)::stat("/proc/self/ns/pid", &space);
  return fmt::format("{} {} {} {}", name.data(), boot ? *boot : "", space.st_ino, ::getuid());
}

/// Who a rank takes for the members: not below a prefix of the group, since others may take it for
/// another.
std::string announcement(std::int64_t turn, int member) {
  return fmt::format("tacos/members/{}/{}", turn, member);
}

}  // namespace

StoreTeam::StoreTeam(c10::intrusive_ptr<c10d::Store> store,
                     int rank,
                     int size,
                     const std::string& members,
                     std::chrono::milliseconds timeout)
    : Team(rank, size), store_(std::move(store)), timeout_(timeout) {
  // A store may have served such a group before, whose keys must not be taken for ours: all members
  // of one count themselves before any of the next do.
  const std::int64_t turn = (store_->add("tacos/count/" + members, 1) - 1) / size;
  prefix_ = fmt::format("tacos/{}/{}", members, turn);
  compare_members(members, turn);
  Packet mine;
  put_text(mine, own_machine());
  const std::vector<Packet> names = all_gather(*this, mine);
  // All have come this far, and so have read it.
  store_->deleteKey(announcement(turn, rank));
  machine_ = static_cast<int>(std::find(names.begin(), names.end(), mine) - names.begin());
}

std::string StoreTeam::key(std::uint64_t exchange, int member) const {
  return fmt::format("{}/{}/{}", prefix_, exchange, member);
}

std::string StoreTeam::past(std::uint64_t exchange) const {
  return fmt::format("{}/past/{}", prefix_, exchange);
}

void StoreTeam::compare_members(const std::string& members, std::int64_t turn) {
  const auto said_by = [&](int member) { return announcement(turn, member); };
  store_->set(said_by(member()), std::vector<std::uint8_t>(members.begin(), members.end()));
  std::vector<bool> heard(static_cast<std::size_t>(size()), false);
  heard[static_cast<std::size_t>(member())] = true;
  wait_until([&] {
    for (int other = 0; other < size(); ++other) {
      const auto at = static_cast<std::size_t>(other);
      if (heard[at] || !store_->check({said_by(other)})) {
        continue;
      }
      const std::vector<std::uint8_t> bytes = store_->get(said_by(other));
      const std::string theirs(bytes.begin(), bytes.end());
      if (theirs != members) {
        part();
        throw std::runtime_error(fmt::format(
            "tacos: what is a group of {} here is one of {} elsewhere; all ranks must make "
            "their groups in the same order",
            members,
            theirs));
      }
      heard[at] = true;
    }
    return std::all_of(heard.begin(), heard.end(), [](bool one) { return one; });
  });
}

void StoreTeam::wait_until(const std::function<bool()>& there) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kFirst{100};
  constexpr std::chrono::microseconds kLongest{5'000};
  const Clock::time_point end = Clock::now() + timeout_;
  for (std::chrono::microseconds pause = kFirst; !there(); pause = std::min(pause * 2, kLongest)) {
    if (watch_) {
      watch_();
    }
    if (Clock::now() > end) {
      throw std::runtime_error(
          fmt::format("not all {} ranks of the group came within {} s; are all of them running?",
                      size(),
                      std::chrono::duration_cast<std::chrono::seconds>(timeout_).count()));
    }
    std::this_thread::sleep_for(pause);
  }
}

void StoreTeam::wait_for(const std::vector<std::string>& keys) {
  wait_until([&] { return store_->check(keys); });
}

void StoreTeam::part() noexcept {
  try {
    std::vector<std::string> keys;
    for (int other = 0; other < size(); ++other) {
      keys.push_back(fmt::format("{}/parted/{}", prefix_, other));
    }
    store_->set(keys[static_cast<std::size_t>(member())], std::vector<std::uint8_t>{1});
    timeout_ = kPatience;
    watch_ = nullptr;
    wait_for(keys);
  } catch (const std::exception&) {
    // Somebody is gone already, and nothing can be done about it.
  }
}

void StoreTeam::settle() noexcept {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause{1};
  if (size() == 1 || exchanges_ == 0) {
    return;
  }
  try {
    const Clock::time_point end = Clock::now() + kPatience;
    while (store_->add(past(exchanges_ - 1), 0) < size() && Clock::now() < end) {
      std::this_thread::sleep_for(kPause);
    }
  } catch (const std::exception&) {
    // The store is gone, and who had it knew that nobody needs it.
  }
}

std::vector<Packet> StoreTeam::exchange(std::vector<Packet> packets) {
  const auto members = static_cast<std::size_t>(size());
  if (members == 1) {
    return packets;
  }
  // What goes to everybody, as most does, is written once.
  const bool same = std::all_of(packets.begin(), packets.end(), [&](const Packet& packet) {
    return packet == packets.front();
  });
  Packet written;
  put(written, same);
  for (std::size_t to = 0; to < (same ? 1 : members); ++to) {
    put(written, packets[to].size());
    put_all(written, std::span<const std::byte>(packets[to]));
  }
  const std::uint64_t now = exchanges_++;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(written.data());
  store_->set(key(now, member()), std::vector<std::uint8_t>(bytes, bytes + written.size()));
  std::vector<std::string> keys;
  keys.reserve(members);
  for (int other = 0; other < size(); ++other) {
    keys.push_back(key(now, other));
  }
  wait_for(keys);
  const Packet own = packets[static_cast<std::size_t>(member())];
  for (std::size_t from = 0; from < members; ++from) {
    if (from == static_cast<std::size_t>(member())) {
      packets[from] = own;
      continue;
    }
    const std::vector<std::uint8_t> text = store_->get(keys[from]);
    PacketReader reader(std::as_bytes(std::span(text)));
    const bool for_all = reader.get<bool>();
    for (std::size_t to = 0; to <= (for_all ? 0 : static_cast<std::size_t>(member())); ++to) {
      const auto read = reader.bytes(reader.get<std::size_t>());
      packets[from].assign(read.begin(), read.end());
    }
  }
  store_->add(past(now), 1);
  if (now > 0) {
    store_->deleteKey(key(now - 1, member()));
    // All have come to this exchange, so nobody asks for the count of the one before.
    if (member() == 0) {
      store_->deleteKey(past(now - 1));
    }
  }
  return packets;
}

}  // namespace tacos::torch_backend
