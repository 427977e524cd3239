// SPDX-License-Identifier: MIT
// Broadcast, All-Gather, Gather, Scatter: bytes that nobody looks at.
#include <memory>

#include <fmt/format.h>

#include "c10d/process_group.h"

namespace tacos::torch_backend {

ProcessGroupTacos::WorkPointer ProcessGroupTacos::broadcast(Tensors& tensors,
                                                            const c10d::BroadcastOptions& options) {
  return ask("tacos:broadcast", [&](Call& call) {
    const at::Tensor& tensor = only(tensors);
    check_tensor(tensor);
    call.type = c10d::OpType::BROADCAST;
    call.job.kind = CollectiveKind::kBroadcast;
    call.job.root = root(options.rootRank);
    call.job.call.output = tensor.data_ptr();
    call.job.call.in_place = true;
    fill_copy(call, tensor, tensor.numel());
    call.inputs = call.results = tensors;
  });
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::allgather(std::vector<Tensors>& outputs,
                                                            Tensors& inputs,
                                                            const c10d::AllgatherOptions&) {
  return ask("tacos:all_gather", [&](Call& call) {
    const at::Tensor& input = only(inputs);
    const Tensors& parts = only(outputs);
    check_tensor(input);
    check_parts(parts, input, getSize());
    const auto flat = std::make_shared<FlatTensors>(parts);
    deal(call.job, flat);
    call.type = c10d::OpType::ALLGATHER;
    call.job.kind = CollectiveKind::kAllGather;
    call.job.call.input = input.data_ptr();
    call.job.call.output = flat->data();
    fill_copy(call, input, input.numel());
    call.inputs = inputs;
    call.results = parts;
  });
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::_allgather_base(at::Tensor& output,
                                                                  at::Tensor& input,
                                                                  const c10d::AllgatherOptions&) {
  return ask("tacos:all_gather_into_tensor", [&](Call& call) {
    check_tensor(input);
    check_tensor(output);
    if (output.numel() != input.numel() * getSize() ||
        output.scalar_type() != input.scalar_type()) {
      refuse(fmt::format("the output has {} elements, but must have {} of the input's type",
                         output.numel(),
                         input.numel() * getSize()));
    }
    call.type = c10d::OpType::_ALLGATHER_BASE;
    call.job.kind = CollectiveKind::kAllGather;
    call.job.call.input = input.data_ptr();
    call.job.call.output = output.data_ptr();
    fill_copy(call, input, input.numel());
    call.inputs = {input};
    call.results = {output};
    // In place, a rank's part is at its place in the whole.
    call.job.call.in_place =
        input.numel() > 0 && static_cast<std::byte*>(output.data_ptr()) +
                                     static_cast<std::size_t>(getRank()) * input.nbytes() ==
                                 input.data_ptr();
  });
}

void ProcessGroupTacos::fill_all_gather(Call& call,
                                        const std::vector<Tensors>& outputs,
                                        const Tensors& inputs) const {
  if (inputs.empty() || outputs.size() != static_cast<std::size_t>(getSize())) {
    refuse(fmt::format("give a list of outputs for each of {} ranks", getSize()));
  }
  check_alike(inputs);
  Tensors all{inputs.front()};
  for (const Tensors& list : outputs) {
    if (sizes_of(list) != sizes_of(inputs)) {
      refuse("lists of outputs must have tensors of the sizes of the inputs");
    }
    all.insert(all.end(), list.begin(), list.end());
  }
  check_alike(all);
  all.erase(all.begin());
  const auto from = std::make_shared<FlatTensors>(inputs);
  const auto to = std::make_shared<FlatTensors>(all);
  collect(call.job, from);
  deal(call.job, to);
  call.type = c10d::OpType::ALLGATHER_COALESCED;
  call.job.kind = CollectiveKind::kAllGather;
  call.job.call.input = from->data();
  call.job.call.output = to->data();
  fill_copy(call, inputs.front(), elements(inputs));
  call.inputs = inputs;
  call.results = all;
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::allgather_coalesced(
    std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions&) {
  return ask("tacos:all_gather_coalesced",
             [&](Call& call) { fill_all_gather(call, outputs, inputs); });
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::allgather_into_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions&) {
  return ask("tacos:all_gather_into_tensor_coalesced", [&](Call& call) {
    fill_all_gather(call, parts_by_rank(outputs, getSize()), inputs);
    call.results = outputs;
  });
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::gather(std::vector<Tensors>& outputs,
                                                         Tensors& inputs,
                                                         const c10d::GatherOptions& options) {
  return ask("tacos:gather", [&](Call& call) {
    const at::Tensor& input = only(inputs);
    check_tensor(input);
    call.type = c10d::OpType::GATHER;
    call.job.kind = CollectiveKind::kGather;
    call.job.root = root(options.rootRank);
    call.job.call.input = input.data_ptr();
    if (call.job.root == getRank()) {
      const Tensors& parts = only(outputs);
      check_parts(parts, input, getSize());
      const auto flat = std::make_shared<FlatTensors>(parts);
      deal(call.job, flat);
      call.job.call.output = flat->data();
      call.results = parts;
    } else if (!outputs.empty()) {
      refuse("only the root of gather has outputs; give none elsewhere");
    }
    fill_copy(call, input, input.numel());
    call.inputs = inputs;
  });
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::scatter(Tensors& outputs,
                                                          std::vector<Tensors>& inputs,
                                                          const c10d::ScatterOptions& options) {
  return ask("tacos:scatter", [&](Call& call) {
    const at::Tensor& output = only(outputs);
    check_tensor(output);
    call.type = c10d::OpType::SCATTER;
    call.job.kind = CollectiveKind::kScatter;
    call.job.root = root(options.rootRank);
    call.job.call.output = output.data_ptr();
    if (call.job.root == getRank()) {
      const Tensors& parts = only(inputs);
      check_parts(parts, output, getSize());
      const auto flat = std::make_shared<FlatTensors>(parts);
      collect(call.job, flat);
      call.job.call.input = flat->data();
      call.inputs = parts;
    } else if (!inputs.empty()) {
      refuse("only the root of scatter has inputs; give none elsewhere");
    }
    fill_copy(call, output, output.numel());
    call.results = outputs;
  });
}

}  // namespace tacos::torch_backend
