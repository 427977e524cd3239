// SPDX-License-Identifier: MIT
#include "base/team.h"

#include <utility>

namespace tacos {
namespace {

std::vector<Message> to_everybody(const Team& team, const Message& message) {
  return {static_cast<std::size_t>(team.size()), message};
}

std::vector<Message> nothing(const Team& team) {
  return std::vector<Message>(static_cast<std::size_t>(team.size()));
}

}  // namespace

std::vector<Message> all_gather(Team& team, const Message& mine) {
  return team.exchange(to_everybody(team, mine));
}

Message broadcast(Team& team, int from, const Message& message) {
  const bool sends = team.member() == from;
  std::vector<Message> given = team.exchange(sends ? to_everybody(team, message) : nothing(team));
  return std::move(given[static_cast<std::size_t>(from)]);
}

void put_error(Message& message, const Error& error) {
  put(message, error.code);
  put_text(message, error.message);
  put_text(message, error.where);
}

Error get_error(MessageReader& reader) {
  const auto code = reader.get<ErrorCode>();
  std::string message = reader.get_text();
  return {.code = code, .message = std::move(message), .where = reader.get_text()};
}

std::optional<Error> first_error(Team& team, const std::optional<Error>& mine) {
  Message message;
  if (mine) {
    put_error(message, *mine);
  }
  for (const Message& one : all_gather(team, message)) {
    if (!one.empty()) {
      MessageReader reader(one);
      return get_error(reader);
    }
  }
  return std::nullopt;
}

std::vector<Message> ask(Team& team, const Message& request) {
  (void)broadcast(team, 0, request);
  return team.exchange(nothing(team));
}

void dismiss(Team& team) {
  (void)broadcast(team, 0, {});
}

void serve(Team& team, const std::function<Message(std::span<const std::byte>)>& answer) {
  for (;;) {
    const Message request = broadcast(team, 0, {});
    if (request.empty()) {
      return;
    }
    std::vector<Message> answers = nothing(team);
    answers.front() = answer(request);
    (void)team.exchange(std::move(answers));
  }
}

}  // namespace tacos
