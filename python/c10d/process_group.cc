// SPDX-License-Identifier: MIT
// Every call is checked, put into the words of a job, and asked for: reductions.cc, copies.cc and
// exchanges.cc have the collectives. Copies are made only where tensors of a list do not follow
// each other in memory.
#include "c10d/process_group.h"

#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <torch/extension.h>

namespace tacos::torch_backend {

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
  if (group_->is_own_thread()) {
    // A callback had the last reference, and cannot wait for the thread that it is on.
    std::thread([group = group_] { group->leave(); }).detach();
    return;
  }
  leave();
}

void ProcessGroupTacos::leave() {
  // Whoever calls from Python may hold what our thread needs to let go of tensors.
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
