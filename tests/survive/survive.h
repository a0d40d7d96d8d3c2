/* survive.h - random programs whose ranks die, and what each survivor may see.
 *
 * All ranks compute the same program from a seed: rounds of steps, each of which is a call on a communicator with data
 * that can be checked, and in every round deaths (deaths.c). Whoever sees an error revokes all communicators. At the
 * end of a round all agree whether it was good; if not, they shrink, and go on with those who are left (inject.c).
 */
#ifndef SURVIVE_H
#define SURVIVE_H

#include <mpi.h>
#include <mpi-ext.h>
#include <stdint.h>

enum { MOST_RANKS = 16, MOST_COMMS = 6, STEPS = 8 };

/* random.c: the same numbers everywhere for the same keys. */
typedef struct { uint64_t state; } Random;
Random seeded(uint64_t a, uint64_t b, uint64_t c);
uint64_t draw(Random *r);
int below(Random *r, int n);

/* A communicator of the program. Ranks that are not in it have MPI_COMM_NULL. */
typedef struct {
    MPI_Comm comm;
    int rank, size;
    int id[MOST_RANKS]; /* by rank: the rank in MPI_COMM_WORLD */
    int agreements;     /* how many there have been */
} Where;

typedef struct {
    uint64_t seed;
    int id, ids;         /* the own rank in MPI_COMM_WORLD, and its size */
    int round, step, tag; /* where the program is; each step has a tag of its own */
    const char *scratch; /* a folder for files */
    int strangers;       /* the rounds go on until others than the ranks have ended some */
    unsigned mortal;     /* a bit for each who may die */
    unsigned suicidal;   /* and for each whom ranks kill */
    unsigned side;       /* and for each on one side of a network that is cut */
    Where where[MOST_COMMS]; /* the first has all who are left */
    int n;
} Program;
extern Program p;

/* A step of the program on a communicator that this process is in, the same for all its members: returns the code of
 * the first call that fails. */
typedef int Step(const Where *w, Random *r);
typedef struct { const char *name; Step *run; } Named;
extern const Named messages[], collectives[], files[]; /* up to one without a name */

/* communicators.c: a new one, of members of the first; it counts if all agree that they have it. Returns whether it
 * does. */
int make_communicator(Random *r);

/* windows.c: a window of all members of the first communicator, if all agree that they have it; accesses to it; its
 * end. */
int have_window(void);
int use_window(Random *r);
void leave_window(int good);

/* files.c: a file of all members of the first communicator, if all agree that they have it; steps with it are files[];
 * what a process says of it that has seen an error; its end. */
int have_file(void);
void give_up_file(void);
void leave_file(int good);

/* spawn.c: a process that this program starts, and that ends again. Returns whether all agree that all went well. */
void spawns(char *program);
int spawn_one(Random *r);
int run_child(void);

/* inject.c */
int wrong(const char *format, ...);        /* the oracle is violated: ends the job */
void note(const char *format, ...);        /* a line of this process's log */
void enter(Where *w, MPI_Comm comm);       /* fills it in */
int agree(Where *w, int ok);               /* whether all say ok and nobody is lost, the same at all */
int check_code(int code);                  /* is it one of those that a death can lead to? returns its class */
int finish(const Where *w, int n, MPI_Request *request); /* waits for all, whatever happens; the first code */
int completed(const Where *w, int code, MPI_Request *request); /* finish, if the call that began it has succeeded */
void give_up(void);                        /* revokes all communicators */

/* The numbers of a message with a key: filled in, and checked. */
void fill(int *data, int n, int key);
void check(const int *data, int n, int key, const char *what);
int length(Random *r);                     /* of a message */
enum { LONGEST = 20000 };
int *numbers(int n);                       /* room for them, until release */
void release(void);

/* deaths.c */
enum { AT_REVOKE = -1, AT_AGREE = -2, AT_SHRINK = -3, AT_END = -4 }; /* and steps from 0 */
void meet_mortals(void);                   /* all tell each other their process ids */
void plan_deaths(void);                    /* of this round */
void die_if_due(int when);                 /* or kill, or stop another */

#endif
