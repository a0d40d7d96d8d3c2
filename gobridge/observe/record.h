/* Recording calls (IMPI_TRACE, IMPI_SUMMARY): what C notes of each call in memory that Go has made and reads. */
#ifndef IMPI_RECORD_H
#define IMPI_RECORD_H

#include <stdint.h>
#include "../../mpi.h"

/* A call that is recorded, between its begin and its end. */
enum { IMPI_KEPT = 16 };
struct impi_recording {
    uint64_t begin, requests[IMPI_KEPT], *kept; /* requests, as they were; kept: at requests, or allocated */
    MPI_Status statuses[IMPI_KEPT], *status; /* where the call stores its statuses */
    int64_t n; /* requests that are kept */
};

/* What handles stand for: Go fills it in (impi_record_object). ranks are those of the world that messages on a
 * communicator go to, -1 for a process of another job; it stays for ever, as threads may use it at any time. */
struct impi_group {
    int32_t n, ranks[];
};
struct impi_object {
    uint64_t handle;
    const struct impi_group *group; /* of a communicator or window */
    int64_t size; /* of a datatype, in bytes */
    uint32_t id; /* in the trace */
    int32_t rank, in, out; /* of the process; degrees of a topology */
};

struct impi_traffic {
    uint64_t messages, bytes;
};
struct impi_counted {
    uint64_t key, count, ticks, longest, sent, received; /* key: call, and site << 16, and 1 */
};
enum { IMPI_SITES = 4096,
       IMPI_OBJECTS = 64,
       IMPI_BUCKETS = 42,
       IMPI_DISTANCES = 4 };

/* What a thread has noted. A thread that ends leaves it to another one. */
struct impi_noted {
    uint32_t number, taken;
    uint64_t *block, *w, *end; /* of the trace, NULL: none; next word; the end of the block */
    uint64_t *event, *last; /* that is being written; the last one, if it found nothing */
    uint64_t sent, received; /* bytes of the call */
    uint64_t lost; /* events for which the trace had no room */
    struct impi_object objects[IMPI_OBJECTS];
    struct impi_counted sites[IMPI_SITES];
    struct impi_traffic sizes[IMPI_DISTANCES][IMPI_BUCKETS], *to; /* to: by rank in the world */
    uint64_t *waited; /* ticks in receives, by sender */
};

struct impi_recorder {
    int on, tsc; /* tsc: the time is the processor's counter */
    uint64_t *base; /* of the trace (libimpi/trace); NULL: there is none */
    const uint8_t *distance; /* by rank in the world */
};
extern struct impi_recorder impi_recorder __attribute__((visibility("hidden")));

struct impi_seen;
void impi_record_before(struct impi_seen *seen), impi_record_after(struct impi_seen *seen, int code);
uint64_t impi_ticks(void);

#endif
