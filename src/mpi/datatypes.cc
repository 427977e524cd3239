// SPDX-License-Identifier: MIT
#include "mpi/datatypes.h"

#include <array>
#include <cstddef>

#include "execute/reduce.h"

namespace tacos {
namespace {

// MPI hands an operation nothing but elements.
execution::Reduction current;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void reduce_ours(void* from, void* to, int* count, MPI_Datatype* /*type*/) {
  current.add(to, from, static_cast<std::size_t>(*count));
}

bool is_half(ElementType type) {
  return type == ElementType::kBfloat16 || type == ElementType::kFloat16;
}

struct TypeRow {
  MPI_Datatype mpi;
  ElementType type;
};

}  // namespace

MPI_Datatype mpi_datatype(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return MPI_FLOAT;
    case ElementType::kFloat64:
      return MPI_DOUBLE;
    case ElementType::kBfloat16:
    case ElementType::kFloat16:
      return MPI_UINT16_T;
    case ElementType::kInt8:
      return MPI_INT8_T;
    case ElementType::kUint8:
      return MPI_UINT8_T;
    case ElementType::kInt32:
      return MPI_INT32_T;
    case ElementType::kInt64:
      return MPI_INT64_T;
    case ElementType::kComplex64:
      return MPI_C_FLOAT_COMPLEX;
    case ElementType::kComplex128:
      return MPI_C_DOUBLE_COMPLEX;
  }
  return MPI_DATATYPE_NULL;
}

std::optional<ElementType> element_type(MPI_Datatype type) {
  const std::array rows{
      TypeRow{MPI_FLOAT, ElementType::kFloat32},
      TypeRow{MPI_DOUBLE, ElementType::kFloat64},
      TypeRow{MPI_INT8_T, ElementType::kInt8},
      TypeRow{MPI_SIGNED_CHAR, ElementType::kInt8},
      TypeRow{MPI_UINT8_T, ElementType::kUint8},
      TypeRow{MPI_UNSIGNED_CHAR, ElementType::kUint8},
      TypeRow{MPI_BYTE, ElementType::kUint8},
      TypeRow{MPI_INT32_T, ElementType::kInt32},
      TypeRow{MPI_INT, ElementType::kInt32},
      TypeRow{MPI_INT64_T, ElementType::kInt64},
      TypeRow{MPI_LONG_LONG, ElementType::kInt64},
      TypeRow{MPI_LONG,
              sizeof(long) == sizeof(std::int64_t) ? ElementType::kInt64 : ElementType::kInt32},
      TypeRow{MPI_C_FLOAT_COMPLEX, ElementType::kComplex64},
      TypeRow{MPI_C_DOUBLE_COMPLEX, ElementType::kComplex128},
      // Fortran's.
      TypeRow{MPI_REAL, ElementType::kFloat32},
      TypeRow{MPI_REAL4, ElementType::kFloat32},
      TypeRow{MPI_DOUBLE_PRECISION, ElementType::kFloat64},
      TypeRow{MPI_REAL8, ElementType::kFloat64},
      TypeRow{MPI_INTEGER, ElementType::kInt32},
      TypeRow{MPI_INTEGER4, ElementType::kInt32},
      TypeRow{MPI_INTEGER8, ElementType::kInt64},
      TypeRow{MPI_COMPLEX, ElementType::kComplex64},
      TypeRow{MPI_DOUBLE_COMPLEX, ElementType::kComplex128}};
  for (const TypeRow& row : rows) {
    if (row.mpi == type) {
      // A Fortran compiler may be told what a real is.
      int bytes = 0;
      MPI_Type_size(type, &bytes);
      return static_cast<std::size_t>(bytes) == element_bytes(row.type) ? std::optional(row.type)
                                                                        : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<ReduceOp> reduce_op(MPI_Op op) {
  if (op == MPI_SUM) {
    return ReduceOp::kSum;
  }
  if (op == MPI_MIN) {
    return ReduceOp::kMin;
  }
  if (op == MPI_MAX) {
    return ReduceOp::kMax;
  }
  if (op == MPI_PROD) {
    return ReduceOp::kProd;
  }
  return std::nullopt;
}

MpiOp::MpiOp(ElementType type, ReduceOp op) : ours_(is_half(type)) {
  if (ours_) {
    current = execution::reduction(type, op);
    MPI_Op_create(reduce_ours, 1, &op_);
    return;
  }
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAverage:
      op_ = MPI_SUM;
      break;
    case ReduceOp::kMin:
      op_ = MPI_MIN;
      break;
    case ReduceOp::kMax:
      op_ = MPI_MAX;
      break;
    case ReduceOp::kProd:
      op_ = MPI_PROD;
      break;
  }
}

MpiOp::~MpiOp() {
  if (ours_) {
    MPI_Op_free(&op_);
  }
}

}  // namespace tacos
