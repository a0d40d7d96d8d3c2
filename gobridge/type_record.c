/* Datatypes recorded for Go (type_record.h). Order: finding, the life of a record, recording, the constructors, commit
 * and free, what Go calls. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "_cgo_export.h"
#include "shim.h"
#include "attr_fast.h"
#include "type_record.h"
#include "z_shim.h"
#include "z_direct.h"

struct impi_types impi_types;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The call that Go has to make; a child of fork() must not make it. */
#define IN_GO(name, call)                                              \
    do {                                                               \
        if (UNLIKELY(impi_forked)) return impi_after_fork("MPI_" name); \
        int err = (call);                                              \
        return UNLIKELY(err) ? impi_raise(err) : MPI_SUCCESS;          \
    } while (0)

enum { FIRST_RUN_TIME = 4096, GENERATIONS = 1 << 24 };

/* Sums below this cannot leave 64 bits, whatever way they are added up. */
#define FAR 1e15

/* No size, bound or extent of a predefined type exceeds it. */
#define NAMED_REACH 64

static inline struct impi_type_record *at(uint32_t slot)
{
    if (UNLIKELY(slot / IMPI_TYPE_CHUNK >= IMPI_TYPE_CHUNKS)) return NULL;
    struct impi_type_record *chunk = __atomic_load_n(&impi_types.chunks[slot / IMPI_TYPE_CHUNK], __ATOMIC_ACQUIRE);
    return chunk ? &chunk[slot % IMPI_TYPE_CHUNK] : NULL;
}

/* The state a live record of the handle has, but for the other flags. */
static inline uint32_t live(uintptr_t handle)
{
    return (uint32_t)(handle >> 32) % GENERATIONS * IMPI_TYPE_GENERATION | IMPI_TYPE_LIVE;
}

/* The record of a handle and its state; NULL if the handle is stale, or of something else. */
static inline struct impi_type_record *find(uintptr_t handle, uint32_t *state)
{
    if (handle >> 56 != IMPI_TYPE_KIND) return NULL;
    struct impi_type_record *r = at((uint32_t)handle - FIRST_RUN_TIME - IMPI_TYPE_FIRST);
    if (UNLIKELY(!r)) return NULL;
    *state = __atomic_load_n(&r->state, __ATOMIC_ACQUIRE);
    return (*state & ~(IMPI_TYPE_COMMITTED | IMPI_TYPE_KNOWN)) == live(handle) ? r : NULL;
}

int64_t impi_type_recorded_size(uintptr_t handle)
{
    uint32_t state;
    struct impi_type_record *r = find(handle, &state);
    return r ? r->size : -1;
}

/* With the lock: makes the plan of a record whose arguments are here, unless that was tried before. */
static void plan(struct impi_type_record *r)
{
    if (r->planned != IMPI_PLAN_UNKNOWN || !r->arrays) return;
    __atomic_store_n(&r->planned, impi_type_make_plan(r, &r->plan) ? IMPI_PLAN_MADE : IMPI_PLAN_NONE, __ATOMIC_RELEASE);
}

/* Is there a plan? The first who asks makes it. */
static inline int planned(struct impi_type_record *r, uintptr_t handle)
{
    uint32_t p = __atomic_load_n(&r->planned, __ATOMIC_ACQUIRE), state;
    if (UNLIKELY(p == IMPI_PLAN_UNKNOWN)) {
        pthread_mutex_lock(&lock);
        if (find(handle, &state)) plan(r);
        p = r->planned;
        pthread_mutex_unlock(&lock);
    }
    return p == IMPI_PLAN_MADE;
}

const struct impi_type_plan *impi_type_part(uintptr_t old)
{
    struct impi_type_record *r = at((uint32_t)old - FIRST_RUN_TIME - IMPI_TYPE_FIRST);
    plan(r);
    return r->planned == IMPI_PLAN_MADE ? &r->plan : NULL;
}

const struct impi_type_plan *impi_type_planned(const void *typed, int count, uintptr_t handle, int64_t *n)
{
    uint32_t state;
    struct impi_type_record *r = find(handle, &state);
    if (!r || !(state & IMPI_TYPE_COMMITTED) || !planned(r, handle)) return NULL;
    if ((uintptr_t)typed < 4096 || count < 1) return NULL; /* the address may be MPI_BOTTOM, or a sentinel */
    if (count > 1) {
        const struct impi_type_plan *p = &r->plan;
        if (r->size > (p->dense ? INT64_MAX : IMPI_PLAN_SMALL) / count || (!p->list.offs && p->nest.depth == IMPI_MAX_DIMS)) return NULL;
    }
    *n = count * r->size;
    return &r->plan;
}

/* Several elements of a type of loops: one loop more. */
static void move_loops(const struct impi_type_plan *p, uintptr_t mem, uintptr_t buf, int64_t count, int unpack)
{
    struct impi_nest nest = p->nest;
    nest.unpack = unpack;
    if (count > 1) {
        for (int i = nest.depth++; i > 0; i--) nest.dims[i] = nest.dims[i - 1];
        nest.dims[0] = (struct impi_dim){count, p->shape.ub - p->shape.lb, p->shape.size};
    }
    impi_move_nest(mem, buf, &nest);
}

void impi_type_move(const struct impi_type_plan *p, const void *typed, const void *packed, int64_t n, int unpack)
{
    uintptr_t mem = (uintptr_t)typed + (uintptr_t)p->at, buf = (uintptr_t)packed;
    if (p->dense) {
        struct impi_nest nest = {.word = 1, .block = n, .unpack = unpack};
        impi_move_nest(mem, buf, &nest);
        return;
    }
    if (!p->list.offs) {
        move_loops(p, mem, buf, n == p->shape.size ? 1 : n / p->shape.size, unpack);
        return;
    }
    for (; n > 0; n -= p->shape.size) {
        impi_move_list(mem, buf, &p->list, unpack);
        mem += (uintptr_t)(p->shape.ub - p->shape.lb);
        buf += (uintptr_t)p->shape.size;
    }
}

/* With the lock: a free record, its slot in *slot; NULL if there is no room. */
static struct impi_type_record *take(uint32_t *slot)
{
    struct impi_types *t = &impi_types;
    if (LIKELY(t->idle)) {
        *slot = t->idle - 1;
        struct impi_type_record *r = at(*slot);
        t->idle = r->next;
        return r;
    }
    if (UNLIKELY(t->used == IMPI_TYPE_CHUNKS * IMPI_TYPE_CHUNK)) return NULL;
    if (t->used % IMPI_TYPE_CHUNK == 0) {
        struct impi_type_record *chunk = calloc(IMPI_TYPE_CHUNK, sizeof *chunk);
        if (!chunk) return NULL;
        __atomic_store_n(&t->chunks[t->used / IMPI_TYPE_CHUNK], chunk, __ATOMIC_RELEASE);
    }
    *slot = t->used++;
    struct impi_type_record *r = at(*slot);
    r->slot = *slot;
    return r;
}

static void release(struct impi_type_record *r);

static void release_old(uintptr_t old)
{
    if (old >> 56 == IMPI_TYPE_KIND) release(at((uint32_t)old - FIRST_RUN_TIME - IMPI_TYPE_FIRST));
}

/* With the lock: gives back what a record keeps for its maker. The depth of records bounds the recursion. */
static void forget_arguments(struct impi_type_record *r)
{
    if (!r->arrays) return;
    if (r->old) release_old(r->old);
    else for (int64_t i = 0; i < r->n[0]; i++) release_old(((uintptr_t *)r->arrays)[r->n[0] + i]);
    if (r->arrays != r->own) free(r->arrays);
    r->arrays = NULL;
}

/* With the lock: gives a reference back. Nobody finds a record without any. */
static void release(struct impi_type_record *r)
{
    if (--r->refs) return;
    forget_arguments(r);
    r->planned = IMPI_PLAN_UNKNOWN;
    uint32_t *list = r->state & IMPI_TYPE_KNOWN ? &impi_types.stale : &impi_types.idle;
    __atomic_store_n(&r->state, (r->state / IMPI_TYPE_GENERATION + 1) % GENERATIONS * IMPI_TYPE_GENERATION, __ATOMIC_RELAXED);
    r->next = *list;
    __atomic_store_n(list, r->slot + 1, __ATOMIC_RELAXED);
}

/* What a constructor was given, and what follows from that whatever the old type. */
struct draft {
    int32_t combiner;
    MPI_Datatype old;
    int64_t n[3];
    double apart;    /* the farthest block is this many extents of the old type away, */
    double away;     /* or this many bytes; */
    double longest;  /* the longest has so many elements, */
    double elements; /* and all together so many */
    struct { const void *from; size_t bytes; } arrays[3];
};

/* With the lock: adds a part to the sums of a new record, and to the references of the part; 0 if Go has to look at it. */
static inline int add_part(struct impi_type_record *r, MPI_Datatype part, double apart, double away, double longest, double elements)
{
    uintptr_t handle = (uintptr_t)part;
    struct impi_type_record *o = NULL;
    uint32_t state;
    double reach = NAMED_REACH;
    int64_t size;
    if (LIKELY(handle - (uintptr_t)MPI_DATATYPE_NULL < IMPI_ATTR_NAMED)) {
        size = impi_attr.named[handle - (uintptr_t)MPI_DATATYPE_NULL];
        if (UNLIKELY(size < 0)) return 0;
    } else {
        o = find(handle, &state);
        if (UNLIKELY(!o || o->depth >= IMPI_TYPE_DEPTH)) return 0;
        reach = o->reach;
        size = o->size;
        if (o->depth >= r->depth) r->depth = o->depth + 1;
    }
    r->reach += 2 * (away + (apart + longest + 1) * reach) + elements * reach + NAMED_REACH;
    if (UNLIKELY(!(r->reach < FAR))) return 0;
    r->size += (int64_t)elements * size;
    if (o) o->refs++;
    return 1;
}

static int add_parts(struct impi_type_record *r, const struct draft *d)
{
    if (LIKELY(d->old)) return add_part(r, d->old, d->apart, d->away, d->longest, d->elements);
    const MPI_Aint *away = d->arrays[0].from;
    const MPI_Datatype *olds = d->arrays[1].from;
    const int *lens = d->arrays[2].from;
    for (int64_t i = 0; i < d->n[0]; i++) {
        if (LIKELY(add_part(r, olds[i], 0, __builtin_fabs((double)away[i]), lens[i], lens[i]))) continue;
        while (i--) release_old((uintptr_t)olds[i]);
        return 0;
    }
    return 1;
}

static inline size_t array_bytes(const struct draft *d) { return d->arrays[0].bytes + d->arrays[1].bytes + d->arrays[2].bytes; }

static inline void copy_arrays(char *to, const struct draft *d)
{
    for (int i = 0; i < 3 && d->arrays[i].bytes; i++) {
        memcpy(to, d->arrays[i].from, d->arrays[i].bytes);
        to += d->arrays[i].bytes;
    }
}

/* With the lock: the handle of a new record of d, whose arrays stand in `arrays` or shall stand in the record; 0 if Go has
 * to make the type. */
static uintptr_t enter(const struct draft *d, char *arrays)
{
    uint32_t slot;
    struct impi_type_record *r = take(&slot);
    if (UNLIKELY(!r)) return 0;
    r->depth = 0;
    r->size = 0;
    r->reach = 0;
    if (UNLIKELY(!add_parts(r, d))) {
        r->next = impi_types.idle;
        impi_types.idle = slot + 1;
        return 0;
    }
    r->refs = 1;
    r->combiner = d->combiner;
    r->old = (uintptr_t)d->old;
    memcpy(r->n, d->n, sizeof r->n);
    r->arrays = arrays ? arrays : r->own;
    if (!arrays) copy_arrays(r->own, d);
    uint32_t state = r->state | IMPI_TYPE_LIVE;
    __atomic_store_n(&r->state, state, __ATOMIC_RELEASE);
    return (uintptr_t)IMPI_TYPE_KIND << 56 | (uintptr_t)(state / IMPI_TYPE_GENERATION) << 32 | (slot + IMPI_TYPE_FIRST + FIRST_RUN_TIME);
}

/* Records a type; 0 if Go has to make it. */
static int record(const struct draft *d, MPI_Datatype *newtype)
{
    char *arrays = NULL;
    if (UNLIKELY(!newtype || impi_forked || !__atomic_load_n(&impi_attr.open, __ATOMIC_RELAXED))) return 0;
    if (array_bytes(d) > IMPI_TYPE_OWN) {
        if (!(arrays = malloc(array_bytes(d)))) return 0;
        copy_arrays(arrays, d);
    }
    pthread_mutex_lock(&lock);
    uintptr_t handle = enter(d, arrays);
    pthread_mutex_unlock(&lock);
    if (UNLIKELY(!handle)) {
        free(arrays);
        return 0;
    }
    *newtype = (MPI_Datatype)handle;
    return 1;
}

static inline double magnitude(int64_t n) { return __builtin_fabs((double)n); }

int impi_direct_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct draft d = {MPI_COMBINER_CONTIGUOUS, oldtype, {count}, .longest = count, .elements = count};
    if (LIKELY(count >= 0 && oldtype && record(&d, newtype))) return MPI_SUCCESS;
    IN_GO("Type_contiguous", impi_Type_contiguous(count, (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

int impi_direct_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct draft d = {MPI_COMBINER_VECTOR, oldtype, {count, blocklength, stride}, .apart = magnitude(stride) * count,
                      .longest = blocklength, .elements = (double)count * blocklength};
    if (LIKELY((count | blocklength) >= 0 && oldtype && record(&d, newtype))) return MPI_SUCCESS;
    IN_GO("Type_vector", impi_Type_vector(count, blocklength, stride, (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

int impi_direct_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct draft d = {MPI_COMBINER_HVECTOR, oldtype, {count, blocklength, stride}, .away = magnitude(stride) * count,
                      .longest = blocklength, .elements = (double)count * blocklength};
    if (LIKELY((count | blocklength) >= 0 && oldtype && record(&d, newtype))) return MPI_SUCCESS;
    IN_GO("Type_create_hvector", impi_Type_create_hvector(count, blocklength, stride, (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

/* At most twice the largest magnitude among n integers. */
static double farthest(const int *v, int64_t n)
{
    int all = 0;
    for (int64_t i = 0; i < n; i++) all |= v[i] ^ v[i] >> 31;
    return (double)all + 1;
}

static double farthest_bytes(const MPI_Aint *v, int64_t n)
{
    MPI_Aint all = 0;
    for (int64_t i = 0; i < n; i++) all |= v[i] ^ v[i] >> 63;
    return (double)all + 1;
}

/* Sums up the block lengths; 0 if one is negative. */
static int add_lengths(struct draft *d, const int *lens, int64_t n)
{
    int64_t sum = 0;
    int all = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += lens[i];
        all |= lens[i];
    }
    d->elements = (double)sum;
    d->longest = (double)all;
    return all >= 0;
}

int impi_direct_Type_indexed(int count, const int array_of_blocklengths[], const int array_of_displacements[], MPI_Datatype oldtype,
                             MPI_Datatype *newtype)
{
    size_t bytes = (size_t)count * sizeof(int);
    struct draft d = {MPI_COMBINER_INDEXED, oldtype, {count}, .arrays = {{array_of_displacements, bytes}, {array_of_blocklengths, bytes}}};
    if (LIKELY(count > 0 && array_of_blocklengths && array_of_displacements && oldtype && add_lengths(&d, array_of_blocklengths, count))) {
        d.apart = farthest(array_of_displacements, count);
        if (LIKELY(record(&d, newtype))) return MPI_SUCCESS;
    }
    IN_GO("Type_indexed", impi_Type_indexed(count, (uintptr_t)array_of_blocklengths, (uintptr_t)array_of_displacements,
                                            (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

int impi_direct_Type_create_hindexed(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
                                     MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct draft d = {MPI_COMBINER_HINDEXED, oldtype, {count}, .arrays = {{array_of_displacements, (size_t)count * sizeof(MPI_Aint)},
                                                                        {array_of_blocklengths, (size_t)count * sizeof(int)}}};
    if (LIKELY(count > 0 && array_of_blocklengths && array_of_displacements && oldtype && add_lengths(&d, array_of_blocklengths, count))) {
        d.away = farthest_bytes(array_of_displacements, count);
        if (LIKELY(record(&d, newtype))) return MPI_SUCCESS;
    }
    IN_GO("Type_create_hindexed", impi_Type_create_hindexed(count, (uintptr_t)array_of_blocklengths, (uintptr_t)array_of_displacements,
                                                            (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

int impi_direct_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[], MPI_Datatype oldtype,
                                          MPI_Datatype *newtype)
{
    struct draft d = {MPI_COMBINER_INDEXED_BLOCK, oldtype, {count, blocklength}, .longest = blocklength,
                      .elements = (double)count * blocklength, .arrays = {{array_of_displacements, (size_t)count * sizeof(int)}}};
    if (LIKELY(count > 0 && blocklength >= 0 && array_of_displacements && oldtype)) {
        d.apart = farthest(array_of_displacements, count);
        if (LIKELY(record(&d, newtype))) return MPI_SUCCESS;
    }
    IN_GO("Type_create_indexed_block", impi_Type_create_indexed_block(count, blocklength, (uintptr_t)array_of_displacements,
                                                                      (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

int impi_direct_Type_create_hindexed_block(int count, int blocklength, const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                                           MPI_Datatype *newtype)
{
    struct draft d = {MPI_COMBINER_HINDEXED_BLOCK, oldtype, {count, blocklength}, .longest = blocklength,
                      .elements = (double)count * blocklength, .arrays = {{array_of_displacements, (size_t)count * sizeof(MPI_Aint)}}};
    if (LIKELY(count > 0 && blocklength >= 0 && array_of_displacements && oldtype)) {
        d.away = farthest_bytes(array_of_displacements, count);
        if (LIKELY(record(&d, newtype))) return MPI_SUCCESS;
    }
    IN_GO("Type_create_hindexed_block", impi_Type_create_hindexed_block(count, blocklength, (uintptr_t)array_of_displacements,
                                                                        (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

int impi_direct_Type_create_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
                                   const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    struct draft d = {MPI_COMBINER_STRUCT, 0, {count}, .arrays = {{array_of_displacements, (size_t)count * sizeof(MPI_Aint)},
        {array_of_types, (size_t)count * sizeof(MPI_Datatype)}, {array_of_blocklengths, (size_t)count * sizeof(int)}}};
    if (LIKELY(count > 0 && array_of_blocklengths && array_of_displacements && array_of_types
            && add_lengths(&d, array_of_blocklengths, count) && record(&d, newtype))) return MPI_SUCCESS;
    IN_GO("Type_create_struct", impi_Type_create_struct(count, (uintptr_t)array_of_blocklengths, (uintptr_t)array_of_displacements,
                                                        (uintptr_t)array_of_types, (uintptr_t)newtype, 0));
}

/* Sums up a subarray; 0 if an argument is wrong. */
static int add_dimensions(struct draft *d, const int *sizes, const int *subsizes, const int *starts, int ndims)
{
    d->longest = d->elements = 1;
    for (int i = 0; i < ndims; i++) {
        if (sizes[i] < 1 || subsizes[i] < 1 || subsizes[i] > sizes[i] || starts[i] < 0 || starts[i] > sizes[i] - subsizes[i]) return 0;
        d->longest *= sizes[i];
        d->elements *= subsizes[i];
    }
    d->apart = d->longest;
    return 1;
}

int impi_direct_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[], const int array_of_starts[],
                                     int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    size_t bytes = (size_t)ndims * sizeof(int);
    struct draft d = {MPI_COMBINER_SUBARRAY, oldtype, {ndims, order},
                      .arrays = {{array_of_sizes, bytes}, {array_of_subsizes, bytes}, {array_of_starts, bytes}}};
    if (LIKELY(ndims > 0 && ndims <= IMPI_TYPE_DEPTH && array_of_sizes && array_of_subsizes && array_of_starts && oldtype
            && (order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN)
            && add_dimensions(&d, array_of_sizes, array_of_subsizes, array_of_starts, ndims) && record(&d, newtype))) return MPI_SUCCESS;
    IN_GO("Type_create_subarray", impi_Type_create_subarray(ndims, (uintptr_t)array_of_sizes, (uintptr_t)array_of_subsizes,
                                                            (uintptr_t)array_of_starts, order, (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

int impi_direct_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype)
{
    struct draft d = {MPI_COMBINER_RESIZED, oldtype, {lb, extent}, .away = magnitude(lb) + magnitude(extent), .longest = 1, .elements = 1};
    if (LIKELY(oldtype && record(&d, newtype))) return MPI_SUCCESS;
    IN_GO("Type_create_resized", impi_Type_create_resized((uintptr_t)oldtype, lb, extent, (uintptr_t)newtype, 0));
}

int impi_direct_Type_commit(MPI_Datatype *datatype)
{
    uint32_t state;
    struct impi_type_record *r = datatype && !impi_forked ? find((uintptr_t)*datatype, &state) : NULL;
    if (LIKELY(r && !(state & IMPI_TYPE_KNOWN) && __atomic_load_n(&impi_attr.open, __ATOMIC_RELAXED)
            && __atomic_compare_exchange_n(&r->state, &state, state | IMPI_TYPE_COMMITTED, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))) return MPI_SUCCESS;
    IN_GO("Type_commit", impi_Type_commit((uintptr_t)datatype));
}

/* With the lock: ends a handle whose state lacks `without`; 0 if it is none. */
static int end(uintptr_t handle, uint32_t without)
{
    uint32_t state;
    struct impi_type_record *r = find(handle, &state);
    if (!r || state & without) return 0;
    __atomic_fetch_and(&r->state, ~(uint32_t)IMPI_TYPE_LIVE, __ATOMIC_RELAXED);
    release(r);
    return 1;
}

int impi_direct_Type_free(MPI_Datatype *datatype)
{
    int ended = 0;
    if (LIKELY(datatype && !impi_forked && (uintptr_t)*datatype >> 56 == IMPI_TYPE_KIND && __atomic_load_n(&impi_attr.open, __ATOMIC_RELAXED))) {
        pthread_mutex_lock(&lock);
        ended = end((uintptr_t)*datatype, IMPI_TYPE_KNOWN);
        pthread_mutex_unlock(&lock);
    }
    if (UNLIKELY(!ended)) IN_GO("Type_free", impi_Type_free((uintptr_t)datatype));
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

struct impi_type_record *impi_type_pin(uintptr_t handle)
{
    uint32_t state;
    pthread_mutex_lock(&lock);
    struct impi_type_record *r = find(handle, &state);
    if (r) r->refs++;
    pthread_mutex_unlock(&lock);
    return r;
}

void impi_type_unpin(struct impi_type_record *r)
{
    pthread_mutex_lock(&lock);
    release(r);
    pthread_mutex_unlock(&lock);
}

/* With the lock: takes over Go's plan if there is none yet; what is in use does not change. Then a list is the plan's, and
 * everything else that is kept for the maker is given back. */
static void settle_plan(struct impi_type_record *r, const struct impi_type_plan *made)
{
    if (made && r->planned != IMPI_PLAN_MADE) {
        r->plan = *made;
        __atomic_store_n(&r->planned, IMPI_PLAN_MADE, __ATOMIC_RELEASE);
    }
    plan(r);
    if (r->planned != IMPI_PLAN_MADE || r->plan.list.offs != r->arrays) forget_arguments(r);
}

int impi_type_made(struct impi_type_record *r, uint32_t state, int pins, const struct impi_type_plan *made)
{
    pthread_mutex_lock(&lock);
    int unchanged = __atomic_compare_exchange_n(&r->state, &state, state | IMPI_TYPE_KNOWN, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    if (unchanged) {
        settle_plan(r, made);
        while (pins--) release(r);
    }
    pthread_mutex_unlock(&lock);
    return unchanged;
}

void impi_type_committed(uintptr_t handle, const struct impi_type_plan *made)
{
    uint32_t state;
    pthread_mutex_lock(&lock);
    struct impi_type_record *r = find(handle, &state);
    if (r) {
        settle_plan(r, made);
        __atomic_fetch_or(&r->state, IMPI_TYPE_COMMITTED, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
}

int impi_type_drop(uintptr_t handle)
{
    pthread_mutex_lock(&lock);
    int ended = end(handle, 0);
    pthread_mutex_unlock(&lock);
    return ended;
}

void impi_type_reclaim(void)
{
    pthread_mutex_lock(&lock);
    struct impi_type_record *r = at(impi_types.stale - 1);
    __atomic_store_n(&impi_types.stale, r->next, __ATOMIC_RELAXED);
    r->next = impi_types.idle;
    impi_types.idle = r->slot + 1;
    pthread_mutex_unlock(&lock);
}
