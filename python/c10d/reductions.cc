// SPDX-License-Identifier: MIT
// All-Reduce, Reduce, Reduce-Scatter.
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "c10d/process_group.h"

namespace tacos::torch_backend {

ProcessGroupTacos::WorkPointer ProcessGroupTacos::allreduce(Tensors& tensors,
                                                            const c10d::AllreduceOptions& options) {
  return ask("tacos:all_reduce", [&](Call& call) {
    const at::Tensor& tensor = only(tensors);
    check_tensor(tensor);
    call.type = c10d::OpType::ALLREDUCE;
    call.job.kind = CollectiveKind::kAllReduce;
    call.job.call.output = tensor.data_ptr();
    call.job.call.in_place = true;
    call.job.call.count = static_cast<std::size_t>(tensor.numel());
    fill_reduction(call, tensor, options.reduceOp);
    call.inputs = call.results = tensors;
  });
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::allreduce_coalesced(
    Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) {
  return ask("tacos:all_reduce_coalesced", [&](Call& call) {
    if (tensors.empty()) {
      refuse("no tensors were given");
    }
    check_alike(tensors);
    const auto flat = std::make_shared<FlatTensors>(tensors);
    collect(call.job, flat);
    deal(call.job, flat);
    call.type = c10d::OpType::ALLREDUCE_COALESCED;
    call.job.kind = CollectiveKind::kAllReduce;
    call.job.call.output = flat->data();
    call.job.call.in_place = true;
    call.job.call.count = static_cast<std::size_t>(elements(tensors));
    fill_reduction(call, tensors.front(), options.reduceOp);
    call.inputs = call.results = tensors;
  });
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::reduce(Tensors& tensors,
                                                         const c10d::ReduceOptions& options) {
  return ask("tacos:reduce", [&](Call& call) {
    const at::Tensor& tensor = only(tensors);
    check_tensor(tensor);
    call.type = c10d::OpType::REDUCE;
    call.job.kind = CollectiveKind::kReduce;
    call.job.root = root(options.rootRank);
    call.job.call.output = tensor.data_ptr();
    call.job.call.in_place = true;
    call.job.call.count = static_cast<std::size_t>(tensor.numel());
    fill_reduction(call, tensor, options.reduceOp);
    call.inputs = call.results = tensors;
  });
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::reduce_scatter(
    Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ReduceScatterOptions& options) {
  return ask("tacos:reduce_scatter", [&](Call& call) {
    const at::Tensor& output = only(outputs);
    const Tensors& parts = only(inputs);
    check_tensor(output);
    check_parts(parts, output, getSize());
    const auto flat = std::make_shared<FlatTensors>(parts);
    collect(call.job, flat);
    call.type = c10d::OpType::REDUCE_SCATTER;
    call.job.kind = CollectiveKind::kReduceScatter;
    call.job.call.input = flat->data();
    call.job.call.output = output.data_ptr();
    call.job.call.count = static_cast<std::size_t>(output.numel());
    fill_reduction(call, output, options.reduceOp);
    call.inputs = parts;
    call.results = outputs;
  });
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::_reduce_scatter_base(
    at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options) {
  return ask("tacos:reduce_scatter_tensor", [&](Call& call) {
    check_tensor(input);
    check_tensor(output);
    if (input.numel() != output.numel() * getSize() ||
        output.scalar_type() != input.scalar_type()) {
      refuse(fmt::format("the input has {} elements, but must have {} of the output's type",
                         input.numel(),
                         output.numel() * getSize()));
    }
    call.type = c10d::OpType::_REDUCE_SCATTER_BASE;
    call.job.kind = CollectiveKind::kReduceScatter;
    call.job.call.input = input.data_ptr();
    call.job.call.output = output.data_ptr();
    call.job.call.count = static_cast<std::size_t>(output.numel());
    fill_reduction(call, output, options.reduceOp);
    call.inputs = {input};
    call.results = {output};
  });
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::reduce_scatter_tensor_coalesced(
    Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& options) {
  return ask("tacos:reduce_scatter_tensor_coalesced", [&](Call& call) {
    if (outputs.empty()) {
      refuse("no tensors were given");
    }
    Tensors all = outputs;
    for (const Tensors& list : parts_by_rank(inputs, getSize())) {
      if (sizes_of(list) != sizes_of(outputs)) {
        refuse("inputs must have the elements of the outputs for every rank");
      }
      all.insert(all.end(), list.begin(), list.end());
    }
    check_alike(all);
    const auto from =
        std::make_shared<FlatTensors>(Tensors(all.begin() + std::ssize(outputs), all.end()));
    const auto to = std::make_shared<FlatTensors>(outputs);
    collect(call.job, from);
    deal(call.job, to);
    call.type = c10d::OpType::_REDUCE_SCATTER_BASE;
    call.job.kind = CollectiveKind::kReduceScatter;
    call.job.call.input = from->data();
    call.job.call.output = to->data();
    call.job.call.count = static_cast<std::size_t>(elements(outputs));
    fill_reduction(call, outputs.front(), options.reduceOp);
    call.inputs = inputs;
    call.results = outputs;
  });
}

}  // namespace tacos::torch_backend
