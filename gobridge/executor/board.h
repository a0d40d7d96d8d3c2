/* Short collective operations inside a machine without entering Go: boards.
 *
 * The members of a communicator meet on lines of shared memory (transport/shm/layout.go). In operation s of the
 * communicator, counted from 1, each member whose data others need writes it into a slot of its own and stores the
 * number of the operation last; whoever needs the data waits for that number. A member that has read all it needs
 * stores s as its own `done`. A slot is written again when all members are done with what it held.
 *
 * Parts that fit a slot, or a wide one, are moved here, if C can lay out their types and the reduction is predefined;
 * all others by Go, on the same board (libimpi/board.go). Go begins anew whenever the C code answers IMPI_IN_GO, and
 * decides by arguments that MPI wants to be the same at all members whether an operation takes place on the board: so
 * it does not matter which of the two a member uses. Go opens the board, in the first operation that can use it, and
 * waits where looking has not helped.
 *
 * Each function serves the blocking and the nonblocking form. The latter is over if the others' parts are there at
 * once, or very soon; if not, Go makes a request for it. Persistent operations meet in slots of their own, lanes
 * (libimpi/lane.go). Go lays out the turn of one that is as simple, and C starts it. */
#ifndef IMPI_BOARD_H
#define IMPI_BOARD_H

#include "fast.h"
#include "../../mpi.h"
#include "../kernel/kernels.h"
#include "../kernel/reduce.h"

/* A communicator's board, as this member sees it. Nothing guards it here: collective operations on a communicator are
 * begun one after the other. */
struct impi_board {
    uintptr_t comm;
    int32_t rank, size;
    uint64_t begun; /* operations that this member has begun */
    uint64_t known; /* all members have completed so many, as far as is known */
    uint64_t left;  /* the last one that was begun here and left to Go: if it is `begun`, Go begins it again */
    uint64_t wide_turns, wide_users[IMPI_SHM_BOARD_WIDE_SLOTS]; /* how many used wide slots, and each of them last */
    uint32_t tasks; /* nonblocking ones that are under way in Go, which then carries out all others, too */
    struct impi_shm_board_member *members;
    struct impi_shm_board_wide *wide;
    struct {
        struct impi_shm_control *ctl;
        int32_t local; /* rank in the machine's segment */
    } peers[IMPI_SHM_BOARD_MEMBERS]; /* ctl is NULL at the own rank */
};

/* What this member does in an operation: it may show its own part, and gets those of some members, or the piece for it
 * of each. What it gets is combined, or has a place each. */
struct impi_turn {
    MPI_Request *request;         /* NULL: the call blocks; else Go carries on with what others let wait */
    const void *own;              /* the own part, or the first piece of it */
    const struct impi_plan *own_plan; /* how it lies there, and then it is published; NULL: in one run */
    int n;                        /* bytes of a part */
    int publish;                  /* others need the own part */
    int first, end;               /* whose parts are needed */
    int at, take;                 /* from which byte on, and how many */
    impi_combine *combine;        /* they become one; NULL: they stay apart */
    int64_t count;                /* elements of what is combined */
    void *to;                     /* where the result belongs, or what is for the first member */
    int64_t stride;               /* from there to the next one's */
    const struct impi_plan *plan; /* how it lies there; NULL: in one run */
};

/* A persistent operation that C starts. */
struct impi_lane {
    struct impi_board *board;
    struct impi_shm_board_longs *longs; /* all members' lanes for long parts, if it is one of those; else NULL */
    int32_t number;  /* on the board */
    uint64_t starts; /* that are over, or under way in Go, which counts here, too */
    uint64_t known;  /* all others have published so many, as far as is known */
    MPI_Request over;
    struct impi_turn turn;
};

enum { IMPI_BOARD_OP_HANDLES = 32 };

/* What Go says of this job, of predefined types and of predefined operations. */
struct impi_boards {
    uint32_t looks; /* at a word that is awaited, before Go waits; also where impi_fast.looks is 0 */
    int32_t slices; /* bytes of a vector from which more than two members combine a slice each, which is Go's */
    struct {
        uint8_t element; /* reduce.h */
        uint16_t ops;    /* 1<<op: the operation is defined on the type */
    } types[IMPI_FAST_TYPES]; /* by handle */
    uint8_t ops[IMPI_BOARD_OP_HANDLES]; /* by handle: reduce.h */
};

__attribute__((visibility("hidden"))) extern struct impi_boards impi_boards;

/* Starts a persistent operation, if not NULL. IMPI_IN_GO: Go has to start it, from the beginning. */
int impi_lane_start(struct impi_lane *l);

#endif
