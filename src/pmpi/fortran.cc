// SPDX-License-Identifier: MIT
// The same for programs in Fortran, whose calls the MPI library does not pass on to MPI_ functions
// that a program could replace. Each becomes the call in C, which is ours (wrappers.cc).
//
// mpif.h and `use mpi` call mpi_allreduce_, as gfortran and most others spell it; `use mpi_f08`
// calls what Open MPI has behind that, so both names are given.
#include <vector>

#include <mpi.h>

// Where a program says MPI_IN_PLACE or MPI_BOTTOM it gives the address of these, in the library.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables,readability-identifier-naming)
extern "C" int mpi_fortran_in_place_;
extern "C" int mpi_fortran_bottom_;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables,readability-identifier-naming)

namespace {

void* buffer(void* address) {
  if (address == &mpi_fortran_in_place_) {
    return MPI_IN_PLACE;
  }
  return address == &mpi_fortran_bottom_ ? MPI_BOTTOM : address;
}

MPI_Datatype type_of(const MPI_Fint* handle) {
  return MPI_Type_f2c(*handle);
}
MPI_Op op_of(const MPI_Fint* handle) {
  return MPI_Op_f2c(*handle);
}
MPI_Comm comm_of(const MPI_Fint* handle) {
  return MPI_Comm_f2c(*handle);
}

/// mpi_f08 may leave the argument out.
void set(MPI_Fint* error, int code) {
  if (error != nullptr) {
    *error = code;
  }
}

// Arguments are those of MPI, by reference.
// NOLINTBEGIN(readability-function-size,readability-non-const-parameter)

/// MPI_Allgather or MPI_Alltoall.
int exchange(decltype(&MPI_Allgather) call,
             void* sendbuf,
             const MPI_Fint* sendcount,
             const MPI_Fint* sendtype,
             void* recvbuf,
             const MPI_Fint* recvcount,
             const MPI_Fint* recvtype,
             const MPI_Fint* comm) {
  return call(buffer(sendbuf),
              *sendcount,
              type_of(sendtype),
              buffer(recvbuf),
              *recvcount,
              type_of(recvtype),
              comm_of(comm));
}

/// MPI_Gather or MPI_Scatter.
int exchange_with_root(decltype(&MPI_Gather) call,
                       void* sendbuf,
                       const MPI_Fint* sendcount,
                       const MPI_Fint* sendtype,
                       void* recvbuf,
                       const MPI_Fint* recvcount,
                       const MPI_Fint* recvtype,
                       const MPI_Fint* root,
                       const MPI_Fint* comm) {
  return call(buffer(sendbuf),
              *sendcount,
              type_of(sendtype),
              buffer(recvbuf),
              *recvcount,
              type_of(recvtype),
              *root,
              comm_of(comm));
}

}  // namespace

// The name that `use mpi_f08` calls.
#define TACOS_FORTRAN(name) [[gnu::alias("mpi_" #name "_")]] decltype(mpi_##name##_) ompi_##name##_f

extern "C" {

void mpi_allreduce_(void* sendbuf,
                    void* recvbuf,
                    MPI_Fint* count,
                    MPI_Fint* datatype,
                    MPI_Fint* op,
                    MPI_Fint* comm,
                    MPI_Fint* error) {
  set(error,
      MPI_Allreduce(
          buffer(sendbuf), buffer(recvbuf), *count, type_of(datatype), op_of(op), comm_of(comm)));
}
TACOS_FORTRAN(allreduce);

void mpi_reduce_(void* sendbuf,
                 void* recvbuf,
                 MPI_Fint* count,
                 MPI_Fint* datatype,
                 MPI_Fint* op,
                 MPI_Fint* root,
                 MPI_Fint* comm,
                 MPI_Fint* error) {
  set(error,
      MPI_Reduce(buffer(sendbuf),
                 buffer(recvbuf),
                 *count,
                 type_of(datatype),
                 op_of(op),
                 *root,
                 comm_of(comm)));
}
TACOS_FORTRAN(reduce);

void mpi_reduce_scatter_block_(void* sendbuf,
                               void* recvbuf,
                               MPI_Fint* recvcount,
                               MPI_Fint* datatype,
                               MPI_Fint* op,
                               MPI_Fint* comm,
                               MPI_Fint* error) {
  set(error,
      MPI_Reduce_scatter_block(buffer(sendbuf),
                               buffer(recvbuf),
                               *recvcount,
                               type_of(datatype),
                               op_of(op),
                               comm_of(comm)));
}
TACOS_FORTRAN(reduce_scatter_block);

void mpi_reduce_scatter_(void* sendbuf,
                         void* recvbuf,
                         MPI_Fint* recvcounts,
                         MPI_Fint* datatype,
                         MPI_Fint* op,
                         MPI_Fint* comm,
                         MPI_Fint* error) {
  int ranks = 0;
  MPI_Comm_size(comm_of(comm), &ranks);
  const std::vector<int> counts(recvcounts, recvcounts + ranks);
  set(error,
      MPI_Reduce_scatter(buffer(sendbuf),
                         buffer(recvbuf),
                         counts.data(),
                         type_of(datatype),
                         op_of(op),
                         comm_of(comm)));
}
TACOS_FORTRAN(reduce_scatter);

void mpi_bcast_(void* data,
                MPI_Fint* count,
                MPI_Fint* datatype,
                MPI_Fint* root,
                MPI_Fint* comm,
                MPI_Fint* error) {
  set(error, MPI_Bcast(buffer(data), *count, type_of(datatype), *root, comm_of(comm)));
}
TACOS_FORTRAN(bcast);

void mpi_allgather_(void* sendbuf,
                    MPI_Fint* sendcount,
                    MPI_Fint* sendtype,
                    void* recvbuf,
                    MPI_Fint* recvcount,
                    MPI_Fint* recvtype,
                    MPI_Fint* comm,
                    MPI_Fint* error) {
  set(error,
      exchange(MPI_Allgather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TACOS_FORTRAN(allgather);

void mpi_gather_(void* sendbuf,
                 MPI_Fint* sendcount,
                 MPI_Fint* sendtype,
                 void* recvbuf,
                 MPI_Fint* recvcount,
                 MPI_Fint* recvtype,
                 MPI_Fint* root,
                 MPI_Fint* comm,
                 MPI_Fint* error) {
  set(error,
      exchange_with_root(
          MPI_Gather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}
TACOS_FORTRAN(gather);

void mpi_scatter_(void* sendbuf,
                  MPI_Fint* sendcount,
                  MPI_Fint* sendtype,
                  void* recvbuf,
                  MPI_Fint* recvcount,
                  MPI_Fint* recvtype,
                  MPI_Fint* root,
                  MPI_Fint* comm,
                  MPI_Fint* error) {
  set(error,
      exchange_with_root(
          MPI_Scatter, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}
TACOS_FORTRAN(scatter);

void mpi_alltoall_(void* sendbuf,
                   MPI_Fint* sendcount,
                   MPI_Fint* sendtype,
                   void* recvbuf,
                   MPI_Fint* recvcount,
                   MPI_Fint* recvtype,
                   MPI_Fint* comm,
                   MPI_Fint* error) {
  set(error,
      exchange(MPI_Alltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}
TACOS_FORTRAN(alltoall);

void mpi_finalize_(MPI_Fint* error) {
  set(error, MPI_Finalize());
}
TACOS_FORTRAN(finalize);

}  // extern "C"
// NOLINTEND(readability-function-size,readability-non-const-parameter)
