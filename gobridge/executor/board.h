/* Short collective operations inside a machine without entering Go: boards.
 *
 * The members of a communicator meet on lines of shared memory (transport/shm/layout.go). In operation s of the
 * communicator, counted from 1, each member whose data others need writes it into a slot of its own and stores the
 * number of the operation last; whoever needs the data waits for that number. A member that has read all it needs
 * stores s as its own `done`. A slot is written again when all members are done with what it held.
 *
 * C moves contributions that fit a slot, or a wide one, if it has plans of their types and the reduction is
 * predefined; Go moves all others, on the same board (libimpi/board.go); each member may use either. Go
 * opens the board, repeats a call from its beginning if C returns IMPI_IN_GO, and waits where polling was in vain.
 *
 * Each function serves the blocking and the nonblocking form. The latter is over if all contributions are there at
 * once, or very soon; if not, Go makes a request for it. Persistent operations meet in slots of their own, lanes
 * (libimpi/board/lane.go), which Go describes and C starts. libimpi/board/layout.go says what the structures mean. */
#ifndef IMPI_BOARD_H
#define IMPI_BOARD_H

#include "fast.h"
#include "direct.h"
#include "../kernel/reduce.h"

__attribute__((visibility("hidden"))) extern struct impi_boards impi_boards;

/* A predefined type and operation that go together. */
struct pair {
    int size;              /* bytes of an element without gaps */
    impi_combine *combine; /* NULL: there is no kernel for them */
};

/* 0 if they are not predefined, or do not go together. */
static inline int paired(MPI_Datatype datatype, MPI_Op op, struct pair *p)
{
    uintptr_t type = (uintptr_t)datatype - (uintptr_t)MPI_DATATYPE_NULL;
    uintptr_t handle = (uintptr_t)op - (uintptr_t)MPI_OP_NULL;
    if (UNLIKELY(type >= IMPI_FAST_TYPES || handle >= IMPI_BOARD_OP_HANDLES)) return 0;
    int code = impi_boards.ops[handle];
    p->size = impi_fast.dense[type];
    p->combine = impi_combines[code][impi_boards.types[type].element];
    return impi_boards.types[type].ops >> code & 1;
}

/* Starts a persistent operation, if not NULL. IMPI_IN_GO: Go has to start it, from the beginning. */
int impi_lane_start(struct impi_lane *l);

#endif
