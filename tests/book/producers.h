/* producers.h - what the producers of examples 2.17, 2.18, 2.25, 2.27 and 2.32 of "MPI: The Complete Reference" send to
 * the last rank, and how it checks that. The examples go on for ever, these producers for some rounds.
 */
#ifndef BOOK_PRODUCERS_H
#define BOOK_PRODUCERS_H

#include "../check.h"

enum { PRODUCERS_MOST = 600, PRODUCERS_ROUNDS = 15 };

typedef struct {
    char data[PRODUCERS_MOST];
    int datasize;
    int rounds; /* how many messages of this producer were consumed */
} producers_buffer;

static inline int producers_length(int producer, int round)
{
    return (producer * 211 + round * 97) % (PRODUCERS_MOST + 1);
}

static inline uint64_t producers_key(int producer, int round) { return (uint64_t)(producer * 1000 + round); }

/* What every rank but the last does: it fills a buffer and sends it, over and over. */
static inline void producers_send(int tag)
{
    char data[PRODUCERS_MOST];
    for (int round = 0; round < PRODUCERS_ROUNDS; round++) {
        int n = producers_length(check_rank, round);
        check_fill(data, (size_t)n, producers_key(check_rank, round));
        MPI_Send(data, n, MPI_CHAR, check_size - 1, tag, MPI_COMM_WORLD);
    }
}

static inline void producers_post(producers_buffer *b, int producer, int tag, MPI_Request *request)
{
    MPI_Irecv(b->data, PRODUCERS_MOST, MPI_CHAR, producer, tag, MPI_COMM_WORLD, request);
}

/* The next message of this producer has arrived: it is complete, and the one whose turn it is. */
static inline void producers_consume(producers_buffer *b, int producer, MPI_Status *status)
{
    CHECK_EQ(status->MPI_SOURCE, producer);
    MPI_Get_count(status, MPI_CHAR, &b->datasize);
    CHECK_EQ(b->datasize, producers_length(producer, b->rounds));
    CHECK_EQ(check_differs(b->data, (size_t)b->datasize, producers_key(producer, b->rounds)), -1);
    b->rounds++;
}

/* Is another message of this producer to come? */
static inline int producers_goes_on(const producers_buffer *b) { return b->rounds < PRODUCERS_ROUNDS; }

#endif
