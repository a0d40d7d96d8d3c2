/* Datatypes recorded for Go (type_record.h). Order: finding, the life of a record, recording, commit and free, what Go
 * calls. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "_cgo_export.h"
#include "shim.h"
#include "attr_fast.h"
#include "type_construct.h"
#include "type_find.h"
#include "type_record.h"
#include "z_shim.h"
#include "z_direct.h"

struct impi_types impi_types;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Sums below this cannot leave 64 bits, whatever way they are added up. */
#define FAR 1e15

/* No size, bound or extent of a predefined type exceeds it. */
#define NAMED_REACH 64

/* With the lock: looks at a record whose arguments are here, unless that was done before. */
static void plan(struct impi_type_record *r)
{
    if (r->planned != IMPI_PLAN_UNKNOWN || !r->arrays) return;
    __atomic_store_n(&r->planned, impi_type_make_plan(r, &r->plan) ? IMPI_PLAN_MADE : IMPI_PLAN_SHAPE, __ATOMIC_RELEASE);
}

/* What is known of a type: the first who asks looks. */
static inline uint32_t planned(struct impi_type_record *r, uintptr_t handle)
{
    uint32_t p = __atomic_load_n(&r->planned, __ATOMIC_ACQUIRE);
    if (UNLIKELY(p == IMPI_PLAN_UNKNOWN)) {
        pthread_mutex_lock(&lock);
        if (impi_type_find(handle)) plan(r);
        p = r->planned;
        pthread_mutex_unlock(&lock);
    }
    return p;
}

const struct impi_type_record *impi_type_part(uintptr_t old)
{
    struct impi_type_record *r = impi_type_at(impi_type_slot(old));
    plan(r);
    return r;
}

/* With the lock: the pieces of a record for external32, without any if there are too many. */
static const struct impi_type_plan *external(struct impi_type_record *r)
{
    if (!r->external) {
        struct impi_type_plan *p = r->arrays ? malloc(sizeof *p) : NULL;
        if (!p) return NULL;
        if (!impi_type_make_external(r, p)) p->list.n = 0;
        __atomic_store_n(&r->external, p, __ATOMIC_RELEASE);
    }
    return r->external->list.n ? r->external : NULL;
}

const struct impi_type_plan *impi_type_part_external(uintptr_t old)
{
    return external(impi_type_at(impi_type_slot(old)));
}

const struct impi_type_plan *impi_type_planned_external(const void *typed, int count, uintptr_t handle, int64_t *n)
{
    struct impi_type_record *r = impi_type_find(handle);
    if (!r || !(__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) & IMPI_TYPE_COMMITTED)) return NULL;
    if ((uintptr_t)typed < 4096 || count < 1 || r->size == 0 || r->size > IMPI_PLAN_SMALL / count) return NULL;
    const struct impi_type_plan *p = __atomic_load_n(&r->external, __ATOMIC_ACQUIRE);
    if (UNLIKELY(!p)) {
        pthread_mutex_lock(&lock);
        if (impi_type_find(handle)) p = external(r);
        pthread_mutex_unlock(&lock);
    }
    *n = count * r->size;
    return p && p->list.n ? p : NULL;
}

void impi_type_move_external(const struct impi_type_plan *p, const void *typed, const void *packed, int64_t n, int unpack)
{
    uintptr_t mem = (uintptr_t)typed, buf = (uintptr_t)packed;
    for (; n > 0; n -= p->shape.size) {
        for (int64_t i = 0; i < p->list.n; i++) {
            impi_move_words(mem + (uintptr_t)p->pieces.offs[i], buf, p->pieces.lens[i], p->pieces.words[i], unpack);
            buf += (uintptr_t)p->pieces.lens[i];
        }
        mem += (uintptr_t)(p->shape.ub - p->shape.lb);
    }
}

const struct impi_shape *impi_type_first_look(uintptr_t handle)
{
    struct impi_type_record *r = impi_type_find(handle);
    return r && planned(r, handle) != IMPI_PLAN_UNKNOWN ? &r->plan.shape : NULL;
}

const struct impi_type_plan *impi_type_planned(const void *typed, int count, uintptr_t handle, int64_t *n)
{
    struct impi_type_record *r = impi_type_find(handle);
    if (!r || !(__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) & IMPI_TYPE_COMMITTED) || planned(r, handle) != IMPI_PLAN_MADE) return NULL;
    if ((uintptr_t)typed < 4096 || count < 1) return NULL; /* the address may be MPI_BOTTOM, or a sentinel */
    if (count > 1) {
        const struct impi_type_plan *p = &r->plan;
        if (r->size > (p->dense ? INT64_MAX : IMPI_PLAN_SMALL) / count || (!p->list.offs && p->nest.depth == IMPI_MAX_DIMS)) return NULL;
    }
    *n = count * r->size;
    return &r->plan;
}

/* Several elements of a type of loops: one loop more. */
static void move_loops(const struct impi_type_plan *p, uintptr_t mem, uintptr_t buf, int64_t count, int word, int unpack)
{
    const struct impi_nest *nest = &p->nest;
    const struct impi_dim *dims = nest->dims;
    int depth = nest->depth;
    struct impi_dim more[IMPI_MAX_DIMS];
    if (count > 1) {
        more[0] = (struct impi_dim){count, p->shape.ub - p->shape.lb, p->shape.size};
        for (int i = 0; i < depth; i++) more[i + 1] = dims[i];
        dims = more;
        depth++;
    }
    impi_move_loops(mem, buf, dims, depth, nest->block, word, unpack);
}

void impi_type_swap(const struct impi_type_plan *p, const void *typed, const void *packed, int64_t n, int word, int unpack)
{
    uintptr_t mem = (uintptr_t)typed + (uintptr_t)p->at, buf = (uintptr_t)packed;
    if (p->dense) {
        impi_move_words(mem, buf, n, word, unpack);
        return;
    }
    if (!p->list.offs) {
        move_loops(p, mem, buf, n == p->shape.size ? 1 : n / p->shape.size, word, unpack);
        return;
    }
    for (; n > 0; n -= p->shape.size) {
        impi_move_list(mem, buf, &p->list, word, unpack);
        mem += (uintptr_t)(p->shape.ub - p->shape.lb);
        buf += (uintptr_t)p->shape.size;
    }
}

void impi_type_move(const struct impi_type_plan *p, const void *typed, const void *packed, int64_t n, int unpack)
{
    impi_type_swap(p, typed, packed, n, 1, unpack);
}

/* With the lock: a free record, its slot in *slot; NULL if there is no room. */
static struct impi_type_record *take(uint32_t *slot)
{
    struct impi_types *t = &impi_types;
    if (LIKELY(t->idle)) {
        *slot = t->idle - 1;
        struct impi_type_record *r = impi_type_at(*slot);
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
    struct impi_type_record *r = impi_type_at(*slot);
    r->slot = *slot;
    return r;
}

/* With the lock: the record may be taken again, unless its slot has had all generations: no handle ever names a second
 * type. */
static void put_back(struct impi_type_record *r)
{
    if (UNLIKELY(r->state / IMPI_TYPE_GENERATION == IMPI_TYPE_GENERATIONS)) return;
    r->next = impi_types.idle;
    impi_types.idle = r->slot + 1;
}

static void release(struct impi_type_record *r);

static void release_old(uintptr_t old)
{
    if (old >> 56 == IMPI_TYPE_KIND) release(impi_type_at(impi_type_slot(old)));
}

/* With the lock: gives back what a record keeps for its maker. The depth of records bounds the recursion. */
static void forget_arguments(struct impi_type_record *r)
{
    if (!r->arrays) return;
    if (r->old) release_old(r->old);
    else for (int64_t i = 0; i < r->n[0]; i++) release_old(impi_fields_of(r).olds[i]);
    if (r->arrays != r->own) free(r->arrays);
    r->arrays = NULL;
}

/* With the lock: gives a reference back. Nobody finds a record without any. */
static void release(struct impi_type_record *r)
{
    if (--r->refs) return;
    forget_arguments(r);
    free(r->external);
    r->external = NULL;
    r->planned = IMPI_PLAN_UNKNOWN;
    uint32_t known = r->state & IMPI_TYPE_KNOWN;
    __atomic_store_n(&r->state, (r->state / IMPI_TYPE_GENERATION + 1) * IMPI_TYPE_GENERATION, __ATOMIC_RELAXED);
    if (LIKELY(!known)) {
        put_back(r);
    } else {
        r->next = impi_types.stale;
        __atomic_store_n(&impi_types.stale, r->slot + 1, __ATOMIC_RELAXED);
    }
}

/* With the lock: ends a handle whose state lacks `without`; 0 if it is none. */
static int end(uintptr_t handle, uint32_t without)
{
    struct impi_type_record *r = impi_type_find(handle);
    if (!r || __atomic_load_n(&r->state, __ATOMIC_RELAXED) & without) return 0;
    __atomic_store_n(&r->handle, 0, __ATOMIC_RELAXED);
    __atomic_fetch_and(&r->state, ~(uint32_t)IMPI_TYPE_LIVE, __ATOMIC_RELAXED);
    release(r);
    return 1;
}

/* With the lock: adds a part to the sums of a new record, and to the references of the part; 0 if Go has to look at it. */
static inline int add_part(struct impi_type_record *r, MPI_Datatype part, double apart, double away, double longest, double elements)
{
    uintptr_t handle = (uintptr_t)part;
    struct impi_type_record *o = NULL;
    double reach = NAMED_REACH;
    int64_t size;
    if (LIKELY(handle - (uintptr_t)MPI_DATATYPE_NULL < IMPI_ATTR_NAMED)) {
        size = impi_attr.named[handle - (uintptr_t)MPI_DATATYPE_NULL];
        if (UNLIKELY(size < 0)) return 0;
    } else {
        o = impi_type_find(handle);
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

static int add_parts(struct impi_type_record *r, const struct impi_type_draft *d)
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

static inline size_t array_bytes(const struct impi_type_draft *d) { return d->arrays[0].bytes + d->arrays[1].bytes + d->arrays[2].bytes; }

static inline void copy_arrays(char *to, const struct impi_type_draft *d)
{
    for (int i = 0; i < 3 && d->arrays[i].bytes; i++) {
        memcpy(to, d->arrays[i].from, d->arrays[i].bytes);
        to += d->arrays[i].bytes;
    }
}

/* With the lock: brings a record to life, and answers its handle. */
static inline uintptr_t publish(struct impi_type_record *r, uint32_t committed)
{
    uint32_t state = r->state | IMPI_TYPE_LIVE | committed;
    uintptr_t handle = (uintptr_t)IMPI_TYPE_KIND << 56 | (uintptr_t)(state / IMPI_TYPE_GENERATION) << 32 | (IMPI_FIRST_HANDLE + IMPI_TYPE_FIRST + r->slot);
    __atomic_store_n(&r->state, state, __ATOMIC_RELEASE);
    __atomic_store_n(&r->handle, handle, __ATOMIC_RELEASE);
    return handle;
}

/* With the lock: is a type that a record can be made of committed? */
static uint32_t committed(MPI_Datatype old)
{
    const struct impi_type_record *r = impi_type_find((uintptr_t)old);
    return r ? r->state & IMPI_TYPE_COMMITTED : IMPI_TYPE_COMMITTED;
}

/* With the lock: the handle of a new record of d, whose arrays stand in `arrays` or shall stand in the record; 0 if Go has
 * to make the type. */
static uintptr_t enter(const struct impi_type_draft *d, char *arrays)
{
    uint32_t slot;
    struct impi_type_record *r = take(&slot);
    if (UNLIKELY(!r)) return 0;
    r->depth = 0;
    r->size = 0;
    r->reach = 0;
    if (UNLIKELY(!add_parts(r, d))) {
        put_back(r);
        return 0;
    }
    r->refs = 1;
    r->combiner = d->combiner;
    r->large = d->large;
    r->old = (uintptr_t)d->old;
    memcpy(r->n, d->n, sizeof r->n);
    r->arrays = arrays ? arrays : r->own;
    if (!arrays) copy_arrays(r->own, d);
    return publish(r, d->combiner == MPI_COMBINER_DUP ? committed(d->old) : 0);
}

static inline void keep_old(uintptr_t old)
{
    if (old >> 56 == IMPI_TYPE_KIND) impi_type_at(impi_type_slot(old))->refs++;
}

/* With the lock: the handle of another record of the same type; 0 if there is no room. Its arguments stand in the record. */
static uintptr_t copy(const struct impi_type_record *o)
{
    uint32_t slot;
    struct impi_type_record *r = take(&slot);
    if (!r) return 0;
    r->refs = 1;
    r->combiner = o->combiner;
    r->large = o->large;
    r->depth = o->depth;
    r->old = o->old;
    r->size = o->size;
    r->reach = o->reach;
    memcpy(r->n, o->n, sizeof r->n);
    memcpy(r->own, o->own, sizeof r->own);
    r->arrays = r->own;
    struct impi_fields f = impi_fields_of(r);
    if (r->old) keep_old(r->old);
    else for (int64_t i = 0; i < f.n; i++) keep_old(f.olds[i]);
    return publish(r, o->state & IMPI_TYPE_COMMITTED);
}

/* With the lock: so many handles, new ones of derived types; 0 if one cannot be copied. */
static int copy_olds(const uintptr_t *olds, int64_t n, uintptr_t *handles)
{
    for (int64_t i = 0; i < n; i++) {
        handles[i] = olds[i];
        if (olds[i] >> 56 != IMPI_TYPE_KIND) continue;
        const struct impi_type_record *o = impi_type_at(impi_type_slot(olds[i]));
        if (o->arrays == o->own && (handles[i] = copy(o))) continue;
        while (i--)
            if (handles[i] >> 56 == IMPI_TYPE_KIND) end(handles[i], 0);
        return 0;
    }
    return 1;
}

int impi_type_olds(const struct impi_type_record *r, uintptr_t *handles)
{
    int64_t n = r->old ? 1 : r->n[0], derived = 0;
    const uintptr_t *olds = r->old ? &r->old : impi_fields_of(r).olds;
    for (int64_t i = 0; i < n; i++) {
        handles[i] = olds[i];
        derived |= olds[i] >> 56 == IMPI_TYPE_KIND;
    }
    if (!derived) return 1;
    pthread_mutex_lock(&lock);
    int made = copy_olds(olds, n, handles);
    pthread_mutex_unlock(&lock);
    return made;
}

int impi_type_record(const struct impi_type_draft *d, MPI_Datatype *newtype)
{
    char *arrays = NULL;
    if (UNLIKELY(!newtype || !__atomic_load_n(&impi_attr.open, __ATOMIC_RELAXED))) return 0;
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

int impi_direct_Type_commit(MPI_Datatype *datatype)
{
    struct impi_type_record *r = LIKELY(datatype && __atomic_load_n(&impi_attr.open, __ATOMIC_RELAXED)) ? impi_type_find((uintptr_t)*datatype) : NULL;
    uint32_t state = r ? __atomic_load_n(&r->state, __ATOMIC_ACQUIRE) : 0;
    if (LIKELY((state & (IMPI_TYPE_LIVE | IMPI_TYPE_KNOWN)) == IMPI_TYPE_LIVE
            && __atomic_compare_exchange_n(&r->state, &state, state | IMPI_TYPE_COMMITTED, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))) return MPI_SUCCESS;
    IN_GO(impi_Type_commit((uintptr_t)datatype));
}

int impi_direct_Type_free(MPI_Datatype *datatype)
{
    int ended = 0;
    if (LIKELY(datatype && (uintptr_t)*datatype >> 56 == IMPI_TYPE_KIND && __atomic_load_n(&impi_attr.open, __ATOMIC_RELAXED))) {
        pthread_mutex_lock(&lock);
        ended = end((uintptr_t)*datatype, IMPI_TYPE_KNOWN);
        pthread_mutex_unlock(&lock);
    }
    if (UNLIKELY(!ended)) IN_GO(impi_Type_free((uintptr_t)datatype));
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

struct impi_type_record *impi_type_pin(uintptr_t handle)
{
    pthread_mutex_lock(&lock);
    struct impi_type_record *r = impi_type_find(handle);
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

/* With the lock: takes over Go's plan if there is none yet; what is in use does not change, nor does the shape. Large arrays
 * that were kept for Go alone are given back. */
static void settle_plan(struct impi_type_record *r, const struct impi_type_plan *made)
{
    plan(r);
    if (made && r->planned != IMPI_PLAN_MADE) {
        memcpy(&r->plan.at, &made->at, sizeof *made - offsetof(struct impi_type_plan, at));
        __atomic_store_n(&r->planned, IMPI_PLAN_MADE, __ATOMIC_RELEASE);
    }
    if (r->arrays != r->own && (r->planned != IMPI_PLAN_MADE || r->plan.list.offs != r->arrays)) forget_arguments(r);
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
    pthread_mutex_lock(&lock);
    struct impi_type_record *r = impi_type_find(handle);
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
    struct impi_type_record *r = impi_type_at(impi_types.stale - 1);
    __atomic_store_n(&impi_types.stale, r->next, __ATOMIC_RELAXED);
    put_back(r);
    pthread_mutex_unlock(&lock);
}
