// SPDX-License-Identifier: MIT
// Lists of NPUs as --group takes them, and collectives as they are named on the command line.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "tacos/collective.h"

#include "fuzz/target.h"

namespace {

using namespace tacos;  // NOLINT(google-build-using-namespace)

void check_group(std::string_view text) {
  constexpr std::uint32_t kNpus = 70;
  const Result<std::vector<NodeId>> group = parse_group(text, kNpus);
  if (!group) {
    fuzz::require_input_error(group.error());
    return;
  }
  fuzz::require(!group->empty() && group->back() < NodeId(kNpus), "a group is of NPUs");
  std::string listed;
  for (std::size_t i = 0; i < group->size(); ++i) {
    fuzz::require(i == 0 || (*group)[i - 1] < (*group)[i], "a group is increasing");
    listed += fmt::format("{}{}", i == 0 ? "" : ",", (*group)[i].value());
  }
  const Result<std::vector<NodeId>> again = parse_group(listed, kNpus);
  fuzz::require(again && *again == *group, "a group that is written down comes back");
}

void check_name(std::string_view text) {
  const Result<CollectiveName> name = parse_collective_name(text);
  if (!name) {
    fuzz::require_input_error(name.error());
    return;
  }
  const std::string written =
      std::string(to_string(name->kind)) +
      (name->root ? fmt::format(":{}", name->root->value()) : std::string());
  const Result<CollectiveName> again = parse_collective_name(written);
  fuzz::require(again && *again == *name, "the name of a collective comes back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  check_group(text);
  check_name(text);
  return 0;
}
