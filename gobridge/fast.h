/* The fast path: what C does without entering Go, and the state it shares with the engine.
 *
 * A call into Go costs more than handing a small message to another core. So blocking sends and receives, and
 * the start and end of nonblocking ones, of short messages of predefined types between ranks of one machine are
 * done here, on the rings of transport/shm (z_layout.h) and under the engine's own lock. On the first doubt (an
 * argument that may be wrong, a message that is not the one, no room, somebody else holds the lock) nothing has
 * been done, and Go does everything.
 *
 * A send may go ahead if nothing waits for room. A receive may take the message at the head of its source's ring
 * if it is the right one and no other receive or message waits in its context: then matching has no choice.
 *
 * A receive that is posted here (fast_recv.c) stands in the queue of its source until a message is there. It may
 * be posted if nothing waits for its context in the engine, and the engine takes over all of them, in order, before
 * it matches anything itself or completes one (libimpi/quick.go). So at any time one side alone does the matching
 * of a context. */
#ifndef IMPI_FAST_H
#define IMPI_FAST_H

#include <stdint.h>
#include "../transport/shm/z_layout.h"

enum {
    IMPI_FAST_COMMS = 1024,
    IMPI_FAST_TYPES = 512,
    IMPI_FAST_OFFER = 8192 /* looks after which a waiting thread offers its core; a power of two */
};

/* The request of a send that is complete: one for all of them (Engine.sent). */
#define IMPI_SENT_REQUEST ((uintptr_t)0x100000001)

/* A communicator. The handle is stored last and cleared first. */
struct impi_fast_comm {
    uintptr_t handle; /* 0: not in use */
    uint64_t cid;
    int32_t rank, size;
    int32_t native;   /* data looks the same in the memory of all members */
    int32_t room;     /* for how many ranks there is memory at local; it stays when the communicator is freed */
    int32_t *local;   /* by rank: its rank in the machine's segment; -1 if it is elsewhere */
    uint32_t waiting; /* receives and messages that wait in the point-to-point context; counted by the engine */
    struct impi_board *board; /* where its short collectives meet (board.h); NULL: that has not been decided */
};

struct impi_fast {
    struct impi_shm_private *shm; /* NULL: everything goes to Go */
    uint32_t under_way;           /* requests that are not complete; counted by the engine */
    uint32_t queued;              /* peers with packets that wait for room; counted by the engine */
    uint32_t gathered;            /* something waits to leave until the program waits or tests; set by the engine */
    uint32_t turns;               /* how often requests have been completed here */
    uint32_t tag_ub;
    uint32_t eager;               /* bytes of the longest message sent here in one go */
    uint32_t growing;             /* and of the longest that is published while it is copied, if it is one run; or eager */
    uint32_t looks;               /* at an empty ring before Go waits; 0: Go has more to look at than rings */
    uint32_t crowded;             /* ranks outnumber cores: between two looks another rank may have the core */
    uint8_t dense[IMPI_FAST_TYPES]; /* by handle of a predefined type: its size if it has no gaps, or 0 */
    struct impi_fast_comm comms[IMPI_FAST_COMMS]; /* MPI_COMM_WORLD, MPI_COMM_SELF, then by slot of the handle */
};

__attribute__((visibility("hidden")))
extern struct impi_fast impi_fast;

/* Receives posted here. The engine's lock guards all; libimpi/quick.go has the same layout. */
enum { IMPI_QUICK_SLOTS = 1024 };
enum { IMPI_QUICK_FREE, IMPI_QUICK_POSTED, IMPI_QUICK_DONE, IMPI_QUICK_ADOPTED };

/* Requests of slots are generation<<32 | IMPI_QUICK_BIT | slot. */
#define IMPI_QUICK_BIT ((uintptr_t)1 << 30)

struct impi_quick_slot {
    uint32_t state;       /* stored last when a message is there: another thread may look without the lock */
    uint32_t generation;  /* how often the slot has been used, never 0 */
    uint32_t next;        /* the one after this in its queue or among the free, counted from 1; 0: none */
    int32_t source, tag;  /* asked for; once done, the tag of the message */
    int32_t local;        /* the source's rank in the machine's segment */
    uint64_t cid;
    void *buf;            /* where the data begins, if it is a run */
    uint32_t bytes;       /* room; once done, the length of the message */
    int32_t count;        /* elements of held */
    struct impi_type_record *held; /* posted: of a derived type that is no run; NULL: a run */
    uint64_t request;     /* adopted: the engine's */
    uint32_t persistent;  /* the persistent request whose start has posted it, counted from 1; 0: none */
    uint32_t pad;
};

struct impi_quick_queue { uint32_t head, tail; /* slots, counted from 1; 0: none */ };

struct impi_quick {
    uint32_t posted;      /* slots that wait for a message */
    uint32_t idle;        /* the first free slot, counted from 1; 0: none */
    struct impi_quick_queue from[IMPI_SHM_MAX_LOCAL];
    struct impi_quick_slot slots[IMPI_QUICK_SLOTS];
};

__attribute__((visibility("hidden")))
extern struct impi_quick impi_quick;

/* Persistent requests. The engine makes them, and writes here what C needs to start the simple ones; their handles are
 * the engine's. One that C has started is C's until it is complete, or until the engine is asked about it or adopts its
 * receive (libimpi/quick.go). */
enum { IMPI_PERSISTENT_SLOTS = 1024 };
enum {
    IMPI_PERSISTENT_INACTIVE,
    IMPI_PERSISTENT_SENT,    /* started here: a send that is over */
    IMPI_PERSISTENT_POSTED,  /* started here: a receive, in a slot of impi_quick */
    IMPI_PERSISTENT_ENGINE   /* active, and the engine's affair */
};

struct impi_persistent {
    uint64_t request;     /* its handle; 0: not in use. By the slot that stands in the handle's low half */
    uint32_t state;
    uint32_t slot;        /* posted: of impi_quick, counted from 1 */
    uint64_t buf;         /* the arguments, as the program gave them */
    int64_t count;
    uint64_t datatype, comm;
    int32_t peer, tag;
    uint32_t receives;    /* 1: a receive, 0: a send */
    uint32_t pad;
};

__attribute__((visibility("hidden")))
extern struct impi_persistent impi_persistent[IMPI_PERSISTENT_SLOTS];

#endif
