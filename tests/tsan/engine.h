/* How threads.c uses a rank: the bridge's C and engine.c in a library that is loaded once for each. */
#ifndef ENGINE_H
#define ENGINE_H

#include "../../gobridge/executor/fast.h"
#include "../../gobridge/executor/window.h"
#include "../../mpi.h"

enum { RANKS = 2, THREADS = 4, COMMS = THREADS + 1, RING = 1 << 14, MAX_PAYLOAD = 4096, EAGER = 2048 };

/* Two windows: ONE of which a thread of each rank fences, locks, and begins and ends other epochs, and one that ALL
 * threads have locked. Words of epochs are by who waits for them. */
enum { ONE, ALL, WINDOWS, CELLS = 4 };
struct memory {
    _Alignas(64) struct impi_window_member words[WINDOWS][RANKS];
    _Alignas(64) uint64_t posted[RANKS], completed[RANKS];
    int cells[WINDOWS][RANKS][CELLS];
};

/* Starts the rank. comms[0] is MPI_COMM_WORLD; boards are the memory of their boards, memory that of windows. */
typedef void engine_open(struct impi_shm_private *shm, MPI_Comm comms[COMMS], void *boards[COMMS],
                         struct memory *memory, MPI_Win windows[WINDOWS]);

/* How often the engine has been entered, and how many receives it has taken over from C. */
typedef void engine_counts(unsigned long *calls, unsigned long *adopted);

#endif
