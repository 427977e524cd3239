/* SPDX-License-Identifier: MIT */
/*
 * Collectives by a schedule of tacos, in MPI programs, from C and C++.
 *
 * Compile with mpicc or mpicxx and what `pkg-config --cflags --libs tacos-mpi` says. All functions
 * but tacos_mpi_error are collective: every rank of the communicator calls them, in the same order.
 */
#pragma once

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What functions return, and what programs of tacos exit with for the same reason. */
#define TACOS_MPI_GOOD 0
#define TACOS_MPI_INTERNAL 1 /* a mistake of ours, or somebody did not answer */
#define TACOS_MPI_INPUT 3    /* a file, number of ranks, type or operation that cannot be used */

/* A schedule that is ready to run on the ranks of one communicator. */
typedef struct tacos_mpi_plan tacos_mpi_plan;

/*
 * Reads a schedule that `tacos synth -o` wrote, verifies it and prepares everything. There is a
 * rank for every NPU, or for every one that takes part or passes data on; they are in the same
 * order. The communicator is copied. On failure, which all ranks learn of, *plan is null.
 */
int tacos_mpi_load(const char* file, MPI_Comm comm, tacos_mpi_plan** plan);

/*
 * Runs it once and returns when this rank is done. `count` is what the collective of MPI would be
 * told: elements of the buffer (All-Reduce, Broadcast, Reduce), or of one part (All-Gather,
 * Reduce-Scatter, Gather, Scatter, All-to-All). `type` is a predefined type of up to 64 bits or a
 * complex one of C; `op` is MPI_SUM, MPI_MIN, MPI_MAX or MPI_PROD, and of no importance where
 * nothing is reduced.
 *
 * A rank without an input (output) may pass a null pointer. Where `input` is MPI_IN_PLACE, or the
 * same as `output`, input and output are one buffer, as in NCCL: a part is at its place in the
 * whole, also the result of a Reduce-Scatter. An All-to-All cannot be done so.
 *
 * The first run with another count, type or operation than the one before allocates; others do not.
 */
int tacos_mpi_run(tacos_mpi_plan* plan,
                  const void* input,
                  void* output,
                  size_t count,
                  MPI_Datatype type,
                  MPI_Op op);

/* Before MPI_Finalize; null is fine. */
void tacos_mpi_free(tacos_mpi_plan* plan);

/* One sentence about the last failure in this thread; until the next. */
const char* tacos_mpi_error(void);

#ifdef __cplusplus
}
#endif
