// SPDX-License-Identifier: MIT
// Every call is checked here, put into the words of a job, and asked for. Copies are made only
// where tensors of a list do not follow each other in memory.
#include "c10d/process_group.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <torch/extension.h>

namespace tacos::torch_backend {
namespace {

using Tensors = std::vector<at::Tensor>;

[[noreturn]] void refuse(const std::string& sentence) {
  throw std::invalid_argument("tacos: " + sentence);
}

/// Both directions of a buffer that may be a copy: collected before, dealt out after.
void collect(Job& job, const std::shared_ptr<FlatTensors>& flat) {
  if (flat->copies()) {
    job.before = [flat] { flat->collect(); };
  }
}
void deal(Job& job, const std::shared_ptr<FlatTensors>& flat) {
  if (flat->copies()) {
    job.after = [flat] { flat->deal(); };
  }
}

void check_alike(const Tensors& tensors) {
  for (const at::Tensor& tensor : tensors) {
    check_tensor(tensor, false);
    if (tensor.scalar_type() != tensors.front().scalar_type()) {
      refuse("tensors of one call must be of one type; call it once for each type");
    }
  }
}

std::int64_t elements(const Tensors& tensors) {
  return std::accumulate(
      tensors.begin(), tensors.end(), std::int64_t{0}, [](std::int64_t sum, const at::Tensor& one) {
        return sum + one.numel();
      });
}

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
  const std::int64_t all = std::accumulate(splits.begin(), splits.end(), std::int64_t{0});
  const bool negative =
      std::any_of(splits.begin(), splits.end(), [](std::int64_t one) { return one < 0; });
  if (splits.size() != static_cast<std::size_t>(ranks) || all != rows || negative) {
    refuse(fmt::format("{} parts of {} rows in all do not fit {} ranks and a tensor of {} rows",
                       splits.size(),
                       all,
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

std::vector<std::int64_t> sizes_of(const Tensors& tensors) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    sizes.push_back(tensor.numel());
  }
  return sizes;
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

ProcessGroupTacos::ProcessGroupTacos(c10::intrusive_ptr<c10d::Store> store,
                                     int rank,
                                     int size,
                                     GroupOptions options)
    : BackendBase(rank, size) {
  options.describe = describe;
  group_ = std::make_shared<Group>(std::move(store), rank, size, std::move(options));
  init();
}

ProcessGroupTacos::~ProcessGroupTacos() {
  // Whoever destroys us from Python may hold what our thread needs to let go of tensors.
  std::optional<pybind11::gil_scoped_release> released;
  if (Py_IsInitialized() != 0 && PyGILState_Check() != 0) {
    released.emplace();
  }
  group_->leave();
}

int ProcessGroupTacos::root(std::int64_t rank) const {
  if (rank < 0 || rank >= getSize()) {
    refuse(fmt::format("rank {} does not exist; the group has ranks 0 to {}", rank, getSize() - 1));
  }
  return static_cast<int>(rank);
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::ask(const char* title,
                                                      const std::function<void(Call&)>& make) {
  Call call;
  call.job.title = title;
  try {
    make(call);
  } catch (const std::exception& error) {
    Job refused;
    refused.title = title;
    refused.refusal = error.what();
    refused.finish = [](const Error*) {};
    group_->ask(std::move(refused));
    throw;
  }
  auto work = c10::make_intrusive<GroupWork>(
      group_, getRank(), call.type, title, call.inputs, call.results);
  // Tensors must last as long as the job.
  call.job.finish = [work, inputs = call.inputs](const Error* error) { work->end(error); };
  group_->ask(std::move(call.job));
  return work;
}

void ProcessGroupTacos::fill_reduction(Call& call,
                                       const at::Tensor& tensor,
                                       const c10d::ReduceOp& op) const {
  Reducing how = reducing(tensor.scalar_type(), op, static_cast<std::size_t>(getSize()));
  call.job.call.type = how.type;
  call.job.call.op = how.op;
  call.job.unserved = std::move(how.unserved);
  call.job.combine = std::move(how.combine);
  call.job.signature =
      signature(call.type, tensor, call.job.call.count, call.job.root, static_cast<int>(op));
}

void ProcessGroupTacos::fill_copy(Call& call, const at::Tensor& tensor, std::int64_t count) const {
  call.job.call.type = ElementType::kUint8;
  call.job.call.count = static_cast<std::size_t>(count) * tensor.element_size();
  call.job.signature =
      signature(call.type, tensor, static_cast<std::uint64_t>(count), call.job.root, 0xff);
}

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

ProcessGroupTacos::WorkPointer ProcessGroupTacos::allgather_coalesced(
    std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions&) {
  return ask("tacos:all_gather_coalesced", [&](Call& call) {
    if (inputs.empty() || outputs.size() != static_cast<std::size_t>(getSize())) {
      refuse(fmt::format("give a list of outputs for each of {} ranks", getSize()));
    }
    check_alike(inputs);
    Tensors all;
    for (const Tensors& list : outputs) {
      if (sizes_of(list) != sizes_of(inputs)) {
        refuse("lists of outputs must have tensors of the sizes of the inputs");
      }
      all.insert(all.end(), list.begin(), list.end());
    }
    check_alike(all);
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
  fill_copy(call, tensor, first);
  if (!exchange.plain) {
    call.job.sent_bytes = in_bytes(exchange.sent, tensor.element_size());
    call.job.received_bytes = in_bytes(exchange.received, tensor.element_size());
    call.job.signature.count = alike ? call.job.signature.count : kUnequal;
  }
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

ProcessGroupTacos::WorkPointer ProcessGroupTacos::barrier(const c10d::BarrierOptions&) {
  return ask("tacos:barrier", [&](Call& call) {
    call.type = c10d::OpType::BARRIER;
    call.job.barrier = true;
    call.job.signature = signature(call.type, {}, 0, 0, 0xff);
  });
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::message(Tensors& tensors,
                                                          bool sends,
                                                          std::uint32_t peer,
                                                          int tag) {
  const at::Tensor& tensor = only(tensors);
  check_tensor(tensor);
  if (peer != Messenger::kAnybody && root(peer) == getRank()) {
    refuse("a rank cannot send to itself, nor receive from itself");
  }
  if (tag < 0) {
    refuse("tags are not negative");
  }
  const bool anybody = peer == Messenger::kAnybody;
  const char* const title = sends ? "tacos:send" : "tacos:recv";
  auto work = c10::make_intrusive<GroupWork>(group_,
                                             getRank(),
                                             sends     ? c10d::OpType::SEND
                                             : anybody ? c10d::OpType::RECVANYSOURCE
                                                       : c10d::OpType::RECV,
                                             title,
                                             tensors,
                                             tensors);
  Post post;
  post.title = title;
  post.sends = sends;
  post.peer = peer;
  post.key = static_cast<std::uint64_t>(tag);
  post.bytes = static_cast<std::byte*>(tensor.data_ptr());
  post.size = tensor.nbytes();
  post.finish = [work, tensor](const Error* error, std::uint32_t from) {
    work->end(error, static_cast<int>(from));
  };
  group_->ask(std::move(post));
  return work;
}

ProcessGroupTacos::WorkPointer ProcessGroupTacos::send(Tensors& tensors, int to, int tag) {
  return message(tensors, true, static_cast<std::uint32_t>(root(to)), tag);
}
ProcessGroupTacos::WorkPointer ProcessGroupTacos::recv(Tensors& tensors, int from, int tag) {
  return message(tensors, false, static_cast<std::uint32_t>(root(from)), tag);
}
ProcessGroupTacos::WorkPointer ProcessGroupTacos::recvAnysource(Tensors& tensors, int tag) {
  return message(tensors, false, Messenger::kAnybody, tag);
}

}  // namespace tacos::torch_backend
