// SPDX-License-Identifier: MIT
// All-to-All, of parts that may be of different sizes.
#include <algorithm>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "c10d/process_group.h"

namespace tacos::torch_backend {
namespace {

/// Elements that go to, or come from, each rank.
std::vector<std::int64_t> parts_of(const at::Tensor& tensor,
                                   const std::vector<std::int64_t>& splits,
                                   int ranks) {
  const std::int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
  if (splits.empty()) {
    if (rows % ranks != 0) {
      refuse(fmt::format(
          "{} rows cannot be dealt out to {} ranks alike; give the sizes of parts", rows, ranks));
    }
    return std::vector<std::int64_t>(static_cast<std::size_t>(ranks), tensor.numel() / ranks);
  }
  const bool impossible = std::any_of(
      splits.begin(), splits.end(), [&](std::int64_t one) { return one < 0 || one > rows; });
  if (splits.size() != static_cast<std::size_t>(ranks) || impossible ||
      std::accumulate(splits.begin(), splits.end(), std::int64_t{0}) != rows) {
    refuse(fmt::format("the sizes of {} parts do not fit {} ranks and a tensor of {} rows",
                       splits.size(),
                       ranks,
                       rows));
  }
  std::vector<std::int64_t> counts;
  counts.reserve(splits.size());
  for (const std::int64_t split : splits) {
    counts.push_back(rows == 0 ? 0 : split * (tensor.numel() / rows));
  }
  return counts;
}

std::vector<std::size_t> in_bytes(const std::vector<std::int64_t>& counts, std::size_t element) {
  std::vector<std::size_t> bytes;
  bytes.reserve(counts.size());
  for (const std::int64_t count : counts) {
    bytes.push_back(static_cast<std::size_t>(count) * element);
  }
  return bytes;
}

}  // namespace

void ProcessGroupTacos::fill_all_to_all(Call& call,
                                        const Exchange& exchange,
                                        const at::Tensor& tensor) const {
  // Where nobody gave sizes, all have the same; else they must tell each other.
  call.type = exchange.plain ? c10d::OpType::ALLTOALL_BASE : c10d::OpType::ALLTOALL;
  call.job.kind = CollectiveKind::kAllToAll;
  call.job.call.input = exchange.input;
  call.job.call.output = exchange.output;
  const std::int64_t first = exchange.sent.front();
  const auto same = [&](std::int64_t count) { return count == first; };
  const bool alike = std::all_of(exchange.sent.begin(), exchange.sent.end(), same) &&
                     std::all_of(exchange.received.begin(), exchange.received.end(), same);
  if (exchange.plain && !alike) {
    refuse("input and output must have the same number of elements");
  }
  const auto self = static_cast<std::size_t>(getRank());
  if (exchange.sent[self] != exchange.received[self]) {
    refuse(fmt::format("this rank keeps {} elements, but expects {} of itself",
                       exchange.sent[self],
                       exchange.received[self]));
  }
  fill_copy(call, tensor, first);
  if (!exchange.plain) {
    call.job.sent_bytes = in_bytes(exchange.sent, tensor.element_size());
    call.job.received_bytes = in_bytes(exchange.received, tensor.element_size());
    call.job.signature.count = alike ? call.job.signature.count : kUnequal;
  }
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::alltoall_base(
    at::Tensor& output,
    at::Tensor& input,
    std::vector<std::int64_t>& output_splits,
    std::vector<std::int64_t>& input_splits,
    const c10d::AllToAllOptions&) {
  return ask("tacos:all_to_all_single", [&](Call& call) {
    check_tensor(input);
    check_tensor(output);
    if (output.scalar_type() != input.scalar_type()) {
      refuse("input and output must be of one type");
    }
    fill_all_to_all(call,
                    {.input = input.data_ptr(),
                     .output = output.data_ptr(),
                     .sent = parts_of(input, input_splits, getSize()),
                     .received = parts_of(output, output_splits, getSize()),
                     .plain = input_splits.empty() && output_splits.empty()},
                    input);
    call.inputs = {input};
    call.results = {output};
  });
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::alltoall(Tensors& outputs,
                                                           Tensors& inputs,
                                                           const c10d::AllToAllOptions&) {
  return ask("tacos:all_to_all", [&](Call& call) {
    const auto ranks = static_cast<std::size_t>(getSize());
    if (inputs.size() != ranks || outputs.size() != ranks) {
      refuse(fmt::format("give an input and an output for each of {} ranks", ranks));
    }
    check_alike(inputs);
    check_alike(outputs);
    if (inputs.front().scalar_type() != outputs.front().scalar_type()) {
      refuse("inputs and outputs must be of one type");
    }
    const auto from = std::make_shared<FlatTensors>(inputs);
    const auto to = std::make_shared<FlatTensors>(outputs);
    collect(call.job, from);
    deal(call.job, to);
    fill_all_to_all(call,
                    {.input = from->data(),
                     .output = to->data(),
                     .sent = sizes_of(inputs),
                     .received = sizes_of(outputs),
                     .plain = false},
                    inputs.front());
    call.inputs = inputs;
    call.results = outputs;
  });
}

}  // namespace tacos::torch_backend
