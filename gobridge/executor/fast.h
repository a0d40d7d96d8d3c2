/* The fast path: what C does without entering Go, and the state it shares with the engine.
 *
 * A call into Go costs more than handing a small message to another core. So short messages between ranks of one
 * machine are sent and received here, blocking or not, on the rings of transport/shm (z_layout.h) and under the
 * engine's own lock. On the first doubt (an argument that may be wrong, a message that is not the one, no room,
 * somebody else holds the lock) nothing has been done, and Go does everything.
 *
 * A send may go ahead if nothing waits for room. A receive may take the message at the head of its source's ring
 * if it is the right one and no other receive or message waits in its context: then matching has no choice.
 *
 * A receive that is posted here (fast_recv.c) waits in the queue of its source. It may be posted if nothing waits for
 * its context in the engine, which takes over all of them, in order, before it matches anything itself or completes
 * one (libimpi/quick.go). So at any time one side alone matches in a context. */
#ifndef IMPI_FAST_H
#define IMPI_FAST_H

#include <stdint.h>
#include "../../libimpi/z_layout.h"
#include "../../transport/shm/z_layout.h"

enum {
    IMPI_FAST_COMMS = 1024,
    IMPI_FAST_OFFER = 8192 /* looks after which a waiting thread offers its core; a power of two */
};

/* A communicator, in one cache line. The handle is stored last and cleared first. */
struct impi_fast_comm {
    uintptr_t handle; /* 0: not in use */
    uint64_t cid;
    int32_t rank, size, members; /* messages go to size ranks: of the remote group if there are two; members: local */
    int32_t native, inter; /* data looks the same in the memory of all members; this is an intercommunicator */
    int32_t room;     /* for how many ranks there is memory at local; it stays when the communicator is freed */
    int32_t *local;   /* by rank: its rank in the machine's segment; -1 if it is elsewhere */
    uint32_t waiting; /* receives and messages that wait in the point-to-point context; counted by the engine */
    struct impi_board *board; /* where its short collectives meet (board.h); NULL: there is none, or none yet */
} __attribute__((aligned(64)));

struct impi_fast {
    struct impi_shm_private *shm; /* NULL: everything goes to Go */
    struct { IMPI_SHARED_FIELDS }; /* what the engine counts for C (libimpi.Shared) */
    uint32_t tag_ub;
    uint32_t eager;               /* bytes of the longest message sent here in one go */
    uint32_t growing;             /* and of the longest run that is published while it is copied; or eager */
    uint32_t looks;               /* at an empty ring before Go waits; 0: Go has more to look at than rings */
    uint64_t strings;             /* bytes from which a string instruction copies best; most: never */
    uint64_t past;                /* and from which stores past the caches are better; most: never */
    uint32_t crowded;             /* ranks outnumber cores: between two looks another rank may have the core */
    uint8_t dense[IMPI_FAST_TYPES]; /* by handle of a predefined type: its size if it has no gaps, or 0 */
    struct impi_fast_comm comms[IMPI_FAST_COMMS]; /* MPI_COMM_WORLD, MPI_COMM_SELF, then by slot of the handle */
};

__attribute__((visibility("hidden"))) extern struct impi_fast impi_fast;

/* Receives posted here, and persistent requests that may be started here (libimpi/quick.go). The engine's lock guards
 * the receives. The engine makes persistent requests, and their handles are its own. */
__attribute__((visibility("hidden"))) extern struct impi_quick impi_quick;
__attribute__((visibility("hidden"))) extern struct impi_persistent impi_persistent[IMPI_PERSISTENT_SLOTS];

#endif
