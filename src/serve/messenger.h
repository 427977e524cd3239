// SPDX-License-Identifier: MIT
// Messages between any two members of a team, of any length, found by their keys: what no schedule
// is there for, and the few words that members say to each other beside their data.
//
// There is a lane to and from everybody. A message is a head and, if it has bytes, a body; a body
// that comes before anybody asked for it is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tacos/execute.h"

#include "base/parallel/team.h"

namespace tacos {

/// What becomes of a message at this end.
struct Receipt {
  bool done = false;
  /// The member that it came from, or went to.
  std::uint32_t peer = 0;
  std::optional<Error> error;
};

class Messenger {
 public:
  static constexpr std::uint32_t kAnybody = ~0U;

  /// Words are for the one who listens, in the order in which a member said them.
  struct Word {
    std::uint32_t from = 0;
    std::uint32_t kind = 0;
    std::uint64_t number = 0;
    std::uint64_t value = 0;
    std::uint64_t count = 0;
    std::string text;
  };
  using Listener = std::function<void(const Word&)>;

  /// By all members together.
  [[nodiscard]] static Result<std::unique_ptr<Messenger>> open(Team& team, Transport& transport);

  void listen(Listener listener) { listener_ = std::move(listener); }

  void say(std::uint32_t to, const Word& word);
  /// The bytes must stay until the receipt says that it is done.
  [[nodiscard]] std::shared_ptr<Receipt> send(std::uint32_t to,
                                              std::uint64_t key,
                                              std::span<const std::byte> bytes);
  /// From a member, or from anybody. Fails where the message has another length.
  [[nodiscard]] std::shared_ptr<Receipt> receive(std::uint32_t from,
                                                 std::uint64_t key,
                                                 std::span<std::byte> bytes);
  /// Nothing more will come from this member, and nothing will be sent to it.
  void forget(std::uint32_t member);
  [[nodiscard]] bool forgotten(std::uint32_t member) const { return peers_[member].forgotten; }

  /// Moves what can be moved, and says whether something did. Fails when a member is gone.
  [[nodiscard]] Result<bool> progress();
  /// Whether everything that was to be sent is on its way.
  [[nodiscard]] bool quiet() const { return unsent_ == 0; }
  /// Lets others have the core after so many looks in vain.
  void pause(std::uint32_t looks) { connection_->wait(looks); }

 private:
  struct Head {
    std::uint32_t kind = 0;
    std::uint32_t reserved = 0;
    std::uint64_t number = 0;
    std::uint64_t value = 0;
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };
  struct Outgoing {
    Head head;
    std::span<const std::byte> body;
    Packet own;  ///< the body of a word
    std::shared_ptr<Receipt> receipt;
  };
  /// Somebody waits for a message.
  struct Asked {
    std::uint32_t from = 0;
    std::uint64_t key = 0;
    std::span<std::byte> to;
    std::shared_ptr<Receipt> receipt;
  };
  /// A message that nobody had asked for.
  struct Kept {
    std::uint32_t from = 0;
    std::uint64_t key = 0;
    Packet bytes;
    bool complete = false;
    std::optional<Asked> asked;
  };
  struct Peer {
    std::uint32_t send_end = 0;
    std::uint32_t receive_end = 0;
    bool forgotten = false;
    /// Heads and bodies are posted together, one message at a time.
    std::deque<Outgoing> outgoing;
    std::uint32_t posted = 0;
    Head head;
    bool in_body = false;
    /// Where the body goes: to one who asked, to the kept, or into a word.
    std::optional<Asked> asked;
    std::list<Kept>::iterator kept;
    Packet word;
  };

  Messenger() = default;
  void post(Peer& peer);
  void post_head(std::uint32_t member);
  void sent(std::uint32_t member);
  void received(std::uint32_t member);
  void take_head(std::uint32_t member);
  void take_body(std::uint32_t member);
  void begin_body(std::uint32_t member);
  [[nodiscard]] std::optional<Asked> asked_for(std::uint32_t from, std::uint64_t key);
  void deliver(std::uint32_t member, const Asked& asked, std::span<const std::byte> bytes);
  void hear(std::uint32_t member);

  std::unique_ptr<Connection> connection_;
  Listener listener_;
  std::vector<Peer> peers_;
  std::vector<std::uint32_t> member_of_end_;
  std::list<Asked> asked_;
  std::list<Kept> kept_;
  std::size_t unsent_ = 0;
};

}  // namespace tacos
