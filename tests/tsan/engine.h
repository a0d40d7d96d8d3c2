/* How threads.c uses a rank: the bridge's C and engine.c in a library that is loaded once for each. */
#ifndef ENGINE_H
#define ENGINE_H

#include "../../gobridge/executor/fast.h"
#include "../../mpi.h"

enum { RANKS = 2, THREADS = 4, COMMS = THREADS + 1, RING = 1 << 14, MAX_PAYLOAD = 4096, EAGER = 2048 };

/* Starts the rank. comms[0] is MPI_COMM_WORLD; boards are the memory of their boards. */
typedef void engine_open(struct impi_shm_private *shm, MPI_Comm comms[COMMS], void *boards[COMMS]);

/* How often the engine has been entered, and how many receives it has taken over from C. */
typedef void engine_counts(unsigned long *calls, unsigned long *adopted);

#endif
