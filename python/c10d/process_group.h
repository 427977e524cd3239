// SPDX-License-Identifier: MIT
// torch.distributed's face of a group of ranks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "c10d/group.h"
#include "c10d/shim.h"
#include "c10d/tensors.h"
#include "c10d/work.h"

namespace tacos::torch_backend {

class ProcessGroupTacos final : public BackendBase {
 public:
  using WorkPointer = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;

  ProcessGroupTacos(c10::intrusive_ptr<c10d::Store> store,
                    int rank,
                    int size,
                    GroupOptions options);
  ~ProcessGroupTacos() override;

  [[nodiscard]] const std::string getBackendName() const override { return "tacos"; }
  /// Others may go on without this rank, which cannot do anything more. With Python's lock or
  /// without it.
  void leave();
  /// Called by destroy_process_group since 2.6.
  void shutdown() { leave(); }
  [[nodiscard]] const std::shared_ptr<Group>& group() const { return group_; }
  [[nodiscard]] std::map<std::string, std::uint64_t> counts() const { return group_->counts(); }
  [[nodiscard]] const std::vector<NodeId>& npus() const { return group_->npus(); }

  WorkPointer broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  WorkPointer allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkPointer allreduce_coalesced(Tensors& tensors,
                                  const c10d::AllreduceCoalescedOptions& options) override;
  WorkPointer reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  WorkPointer allgather(std::vector<Tensors>& outputs,
                        Tensors& inputs,
                        const c10d::AllgatherOptions& options) override;
  WorkPointer _allgather_base(at::Tensor& output,
                              at::Tensor& input,
                              const c10d::AllgatherOptions& options) override;
  WorkPointer allgather_coalesced(std::vector<Tensors>& outputs,
                                  Tensors& inputs,
                                  const c10d::AllgatherOptions& options) override;
  /// This one, and that of reduce_scatter, are asked for since 2.1.
  WorkPointer allgather_into_tensor_coalesced(Tensors& outputs,
                                              Tensors& inputs,
                                              const c10d::AllgatherOptions& options);
  WorkPointer gather(std::vector<Tensors>& outputs,
                     Tensors& inputs,
                     const c10d::GatherOptions& options) override;
  WorkPointer scatter(Tensors& outputs,
                      std::vector<Tensors>& inputs,
                      const c10d::ScatterOptions& options) override;
  WorkPointer reduce_scatter(Tensors& outputs,
                             std::vector<Tensors>& inputs,
                             const c10d::ReduceScatterOptions& options) override;
  WorkPointer _reduce_scatter_base(at::Tensor& output,
                                   at::Tensor& input,
                                   const c10d::ReduceScatterOptions& options) override;
  WorkPointer reduce_scatter_tensor_coalesced(Tensors& outputs,
                                              Tensors& inputs,
                                              const c10d::ReduceScatterOptions& options);
  WorkPointer alltoall_base(at::Tensor& output,
                            at::Tensor& input,
                            std::vector<std::int64_t>& output_splits,
                            std::vector<std::int64_t>& input_splits,
                            const c10d::AllToAllOptions& options) override;
  WorkPointer alltoall(Tensors& outputs,
                       Tensors& inputs,
                       const c10d::AllToAllOptions& options) override;
  WorkPointer send(Tensors& tensors, int to, int tag) override;
  WorkPointer recv(Tensors& tensors, int from, int tag) override;
  WorkPointer recvAnysource(Tensors& tensors, int tag) override;
  WorkPointer barrier(const c10d::BarrierOptions& options) override;
  void setSequenceNumberForGroup() override {}
  std::uint64_t getSequenceNumberForGroup() override { return group_->calls(); }

 private:
  /// What a call is: the job without its end, and the tensors for the one who waits.
  struct Call {
    Job job;
    c10d::OpType type = c10d::OpType::UNKNOWN;
    Tensors inputs;
    Tensors results;
  };

  /// Asks the group for what `make` makes; if that fails, the others learn of it.
  WorkPointer ask(const char* title, const std::function<void(Call&)>& make);
  WorkPointer message(Tensors& tensors, bool sends, std::uint32_t peer, int tag);
  [[nodiscard]] int root(std::int64_t rank) const;
  void fill_reduction(Call& call, const at::Tensor& tensor, const c10d::ReduceOp& op) const;
  /// Of what is only copied: so many elements of the tensor's type are a part.
  void fill_copy(Call& call, const at::Tensor& tensor, std::int64_t count) const;

  /// Inputs of this rank, to the outputs of all: a list for each.
  void fill_all_gather(Call& call,
                       const std::vector<Tensors>& outputs,
                       const Tensors& inputs) const;

  /// Elements for and from each rank; plain where they cannot but be alike.
  struct Exchange {
    const void* input = nullptr;
    void* output = nullptr;
    std::vector<std::int64_t> sent;
    std::vector<std::int64_t> received;
    bool plain = true;
  };
  void fill_all_to_all(Call& call, const Exchange& exchange, const at::Tensor& tensor) const;

  std::shared_ptr<Group> group_;
};

}  // namespace tacos::torch_backend
