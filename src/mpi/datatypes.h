// SPDX-License-Identifier: MIT
// Our types and operations as MPI's, and back.
#pragma once

#include <optional>

#include <mpi.h>

#include "tacos/execute.h"

namespace tacos {

/// Half precision, which MPI does not know, as integers of 16 bits; for MpiOp and for copies.
[[nodiscard]] MPI_Datatype mpi_datatype(ElementType type);
/// Nothing for what executors do not know. No name of MPI stands for half precision.
[[nodiscard]] std::optional<ElementType> element_type(MPI_Datatype type);
[[nodiscard]] std::optional<ReduceOp> reduce_op(MPI_Op op);

/// MPI's own operation where it has one, or else ours. An average is a sum: it is divided by
/// others. One at a time.
class MpiOp {
 public:
  MpiOp(ElementType type, ReduceOp op);
  MpiOp(const MpiOp&) = delete;
  MpiOp& operator=(const MpiOp&) = delete;
  ~MpiOp();
  [[nodiscard]] MPI_Op get() const { return op_; }

 private:
  MPI_Op op_ = MPI_OP_NULL;
  bool ours_ = false;
};

}  // namespace tacos
