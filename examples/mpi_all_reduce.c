/* SPDX-License-Identifier: MIT */
/* Adds up numbers of all ranks by a schedule of tacos, and compares with what MPI makes of them:
 *   tacos synth ring:4 all-reduce --size 1MiB -o ring.tacos
 *   mpirun -np 4 mpi_all_reduce ring.tacos */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tacos/mpi.h"

#define COUNT 100000

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  tacos_mpi_plan* plan = NULL;
  int code = tacos_mpi_load(argc > 1 ? argv[1] : "ring.tacos", MPI_COMM_WORLD, &plan);
  if (code == TACOS_MPI_GOOD) {
    float* input = malloc(COUNT * sizeof(float));
    float* output = malloc(COUNT * sizeof(float));
    float* expected = malloc(COUNT * sizeof(float));
    for (int i = 0; i < COUNT; ++i) {
      input[i] = (float)((i + rank) % 7);
    }
    MPI_Allreduce(input, expected, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    code = tacos_mpi_run(plan, input, output, COUNT, MPI_FLOAT, MPI_SUM);
    /* The same in place. */
    if (code == TACOS_MPI_GOOD) {
      code = tacos_mpi_run(plan, MPI_IN_PLACE, input, COUNT, MPI_FLOAT, MPI_SUM);
    }
    if (code == TACOS_MPI_GOOD && rank == 0) {
      const int same = memcmp(output, expected, COUNT * sizeof(float)) == 0 &&
                       memcmp(input, expected, COUNT * sizeof(float)) == 0;
      printf("%s\n", same ? "the same as MPI" : "not the same as MPI");
    }
    free(input);
    free(output);
    free(expected);
  }
  if (code != TACOS_MPI_GOOD && rank == 0) {
    fprintf(stderr, "%s\n", tacos_mpi_error());
  }
  tacos_mpi_free(plan);
  MPI_Finalize();
  return code;
}
