/* Records calls: what their arguments mean says a generated table, what handles stand for says Go, once for each. */
#define _GNU_SOURCE
#include "record.h"
#include "../shim/shim.h"
#include "../shim/z_calls.h"
#include "../shim/z_exports.h"
#include "../../libimpi/trace/z_trace.h"
#include "../../libimpi/z_layout.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "z_roles.h"

struct impi_recorder impi_recorder;
static __thread struct impi_noted *mine __attribute__((tls_model("initial-exec")));
static pthread_key_t ending;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Requests that have begun: to whom the message goes, or from whom it comes. Threads may overwrite each other's. */
static struct begun {
    uint64_t request;
    const struct impi_group *group;
    int64_t bytes;
    int32_t to;
} begun[4096];
static struct begun *begun_of(uint64_t request) { return &begun[(request ^ request >> 32) % 4096]; }

uint64_t impi_ticks(void)
{
    struct timespec t;
#ifdef __x86_64__
    if (impi_recorder.tsc) return __builtin_ia32_rdtsc();
#endif
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void leave(void *thread) { __atomic_store_n(&((struct impi_noted *)thread)->taken, 0, __ATOMIC_RELEASE); }
static void make_key(void) { pthread_key_create(&ending, leave); }

/* Finds this thread what to note in; NULL if there is no memory. */
static struct impi_noted *take(void)
{
    pthread_once(&once, make_key);
    if ((mine = impi_record_thread())) pthread_setspecific(ending, mine);
    return mine;
}

/* Adds an item to the event that is being written, if one is and there is room. */
static void item(struct impi_noted *t, uint64_t head, int n, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    const uint64_t words[] = {head, a, b, c, d};
    if (!t->event || t->w + n + 1 > t->end) return;
    for (int i = 0; i <= n; i++) *t->w++ = words[i];
}

static uint64_t head(uint64_t kind, uint64_t flags, uint64_t id) { return kind | flags << 8 | id << 32; }
static uint64_t pair(int32_t low, int32_t high) { return (uint32_t)low | (uint64_t)(uint32_t)high << 32; }

static const struct impi_object *object(struct impi_noted *t, uint64_t handle)
{
    struct impi_object *o = &t->objects[(handle ^ handle >> 8) % IMPI_OBJECTS];
    if (o->handle != handle || !handle) impi_record_object(handle, o);
    return o;
}

static int32_t world(const struct impi_group *g, int r) { return g && r >= 0 && r < g->n ? g->ranks[r] : -1; }

static void count_sent(struct impi_noted *t, const struct impi_group *g, int32_t to, uint64_t bytes)
{
    const int32_t rank = world(g, to);
    const int bits = bytes ? 64 - __builtin_clzll(bytes) : 0, bucket = bits < IMPI_BUCKETS ? bits : IMPI_BUCKETS - 1;
    t->sent += bytes;
    if (!g || to < 0) return;
    struct impi_traffic *size = &t->sizes[rank < 0 ? IMPI_DISTANCES - 1 : impi_recorder.distance[rank]][bucket];
    size->messages++, size->bytes += bytes;
    if (rank >= 0) t->to[rank].messages++, t->to[rank].bytes += bytes;
}

/* A message has come, or a request is complete; ticks is how long the call waited for it. */
static void got(struct impi_noted *t, const MPI_Status *s, uint64_t request, const struct impi_group *g, uint64_t ticks)
{
    const uint64_t bytes = pair(s->MPI_internal[0], s->MPI_internal[1]);
    const uint64_t flags = s->MPI_internal[2] & 1 ? IMPI_CANCELLED : 0;
    if (request == IMPI_SENT_REQUEST) return;
    item(t, head(IMPI_GOT, flags, 0), 3, pair(s->MPI_SOURCE, s->MPI_TAG), bytes, request, 0);
    if (request && begun_of(request)->request == request) g = begun_of(request)->group;
    const int32_t from = world(g, s->MPI_SOURCE);
    if (s->MPI_SOURCE >= 0) t->received += bytes;
    if (from >= 0) t->waited[from] += ticks;
}

/* The arguments of a call by what they are; 0 if it has none. */
#define ARG(name) (r->name ? a[r->name - 1] : 0)
#define INT(name) ((int)ARG(name))

/* How many bytes some arguments are: how is one of the table; c is the communicator; out: data that leaves. */
static uint64_t volume(struct impi_noted *t, const struct role *r, const uint64_t *a, int how, uint64_t counts,
                       uint64_t types, const struct impi_object *c, int out)
{
    const int at_root = !r->root || INT(root) == c->rank || INT(root) == MPI_ROOT;
    if ((how & AT_ROOT && !at_root) || (how & ELSEWHERE && at_root) || INT(root) == MPI_PROC_NULL) return 0;
    int64_t sum = 0, n = c->group ? c->group->n : 0;
    if (how & NEIGHBORS) n = out ? c->out : c->in;
    if (how & RECEIVED) counts = ARG(rcount), types = r->rtype ? ARG(rtype) : ARG(type);
    const int64_t one = how & TYPES || !types ? 0 : object(t, types)->size;
#define COUNT(i) (r->wide ? ((const int64_t *)counts)[i] : ((const int *)counts)[i])
    switch (how & HOW) {
    case ONE: return (uint64_t)(one * (r->wide ? (int64_t)counts : (int)counts));
    case EACH: return (uint64_t)(n * one * (r->wide ? (int64_t)counts : (int)counts));
    case MINE: return counts && c->rank >= 0 ? (uint64_t)(one * COUNT(c->rank)) : 0;
    case LIST:
        for (int64_t i = 0; counts && types && i < n; i++)
            sum += COUNT(i) * (how & TYPES ? object(t, ((const uint64_t *)types)[i])->size : one);
    }
    return (uint64_t)sum;
}

static void collective(struct impi_noted *t, const struct role *r, const uint64_t *a, uint64_t request)
{
    const struct impi_object c = *object(t, ARG(comm));
    const int apart = r->rtype != r->type, in_place = ARG(buffer) == 1; /* each side has a type; MPI_IN_PLACE */
    const uint64_t types = r->rtype ? ARG(rtype) : ARG(type);
    const int op = r->op ? (int)object(t, ARG(op))->id : INT32_MIN, root = r->root ? INT(root) : INT32_MIN;
    uint64_t in = ARG(into) == 1 ? 0 : volume(t, r, a, r->received, ARG(rcount), types, &c, 0), sent = 0;
    if (!in_place || !apart) sent = volume(t, r, a, r->sent, ARG(count), ARG(type), &c, 1);
    else if ((r->received & HOW) == EACH) sent = (r->sent & HOW) == EACH || !c.group ? in : in / (uint64_t)c.group->n;
    item(t, head(IMPI_COLLECTIVE, r->flags, c.id), 4, pair(root, op), sent, in, request);
    if (!(r->flags & IMPI_PERSISTENT)) t->sent += sent, t->received += in;
}

static void message(struct impi_noted *t, const struct role *r, const uint64_t *a, uint64_t request,
                    const MPI_Status *s, uint64_t ticks)
{
    const struct impi_object c = *object(t, ARG(comm));
    const uint64_t parts = r->parts ? ARG(parts) : 1;
    const int dest = r->dest ? INT(dest) : MPI_PROC_NULL, again = r->flags & IMPI_PERSISTENT;
    uint64_t bytes = r->dest ? parts * volume(t, r, a, ONE, ARG(count), ARG(type), &c, 1) : 0;
    if (request) *begun_of(request) = (struct begun){request, c.group, bytes, again ? dest : MPI_PROC_NULL};
    if (r->dest) item(t, head(IMPI_SEND, r->flags, c.id), 3, pair(dest, INT(tag)), bytes, request, 0);
    if (r->dest && !again) count_sent(t, c.group, dest, bytes);
    if (!r->source) return;
    bytes = parts * volume(t, r, a, ONE, ARG(rcount), ARG(rtype), &c, 0);
    item(t, head(IMPI_RECV, r->flags, c.id), 3, pair(INT(source), INT(rtag)), bytes, request, 0);
    if (r->status) got(t, s, 0, c.group, ticks);
}

/* Which of the requests that were kept are complete. */
static void ended(struct impi_noted *t, const struct role *r, const uint64_t *a, const struct impi_recording *k,
                  uint64_t ticks)
{
    const int *list = (const int *)ARG(index); /* of END_ANY and END_SOME */
    int64_t n = k->n;
    if (list) n = r->outcount ? *(const int *)ARG(outcount) : 1;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = list ? list[i] : i;
        if (at < 0 || at >= k->n || k->kept[at] == (uint64_t)MPI_REQUEST_NULL) continue;
        got(t, &k->status[i], k->kept[at], NULL, ticks / (uint64_t)n);
    }
}

static void started(struct impi_noted *t, const struct impi_recording *k)
{
    for (int64_t i = 0; i < k->n; i++) {
        const struct begun *b = begun_of(k->kept[i]);
        item(t, IMPI_START, 1, k->kept[i], 0, 0, 0);
        if (b->request == k->kept[i] && b->to >= 0) count_sent(t, b->group, b->to, b->bytes);
    }
}

static void count(struct impi_noted *t, uint64_t key, uint64_t ticks)
{
    struct impi_counted *c;
    for (uint64_t i = key * 0x9e3779b97f4a7c15u >> 52, tries = 0;; i++, tries++) {
        c = &t->sites[i % IMPI_SITES];
        if (tries == 16) key &= 0xffff; /* of places that there is no room for */
        if (c->key == key + 1 || !c->key) break;
        if (tries == IMPI_SITES) return;
    }
    if (!c->key) c->key = key + 1;
    c->count++, c->ticks += ticks, c->sent += t->sent, c->received += t->received;
    if (ticks > c->longest) c->longest = ticks;
}

void impi_record_before(struct impi_seen *seen)
{
    const struct role *r = &roles[seen->call];
    struct impi_recording *k = &seen->record;
    uint64_t *a = seen->args, from = 0;
    k->n = 1, k->kept = k->requests, k->status = k->statuses;
    if (r->requests) from = ARG(requests), k->n = INT(count);
    else if (r->what >= MATCHED) from = r->what == MATCHED ? ARG(message) : ARG(request);
    if (!from || k->n < 0) k->n = 0;
    if (k->n > IMPI_KEPT) {
        k->kept = malloc((size_t)k->n * (sizeof *k->kept + sizeof *k->status));
        k->status = (MPI_Status *)(k->kept + k->n);
        if (!k->kept) k->kept = k->requests, k->n = 0;
    }
    for (int64_t i = 0; i < k->n; i++) k->kept[i] = ((const uint64_t *)from)[i];
    if (ARG(status)) k->status = (MPI_Status *)ARG(status);
    else if (r->status && (k->n || !from)) a[r->status - 1] = (uint64_t)k->status;
    k->begin = impi_ticks();
}

/* What a call that has returned without an error has done. */
static void tell(struct impi_noted *t, const struct role *r, const uint64_t *a, const struct impi_recording *k,
                 uint64_t ticks)
{
    const MPI_Status *s = k->status;
    uint64_t request = ARG(request) && r->what < END_ONE ? *(const uint64_t *)ARG(request) : 0;
    if (request == IMPI_SENT_REQUEST) request = 0;
    switch (r->what) {
    case MESSAGE: message(t, r, a, request, s, ticks); return;
    case COLLECTIVE: collective(t, r, a, request); return;
    case MATCHED:
        item(t, IMPI_RENAME, 2, k->kept[0], request, 0, 0);
        if (!request) got(t, s, 0, NULL, 0);
        return;
    }
    if (r->what >= START_ONE) started(t, k);
    else if (r->what >= END_ONE) ended(t, r, a, k, ticks);
    const uint64_t handle = ARG(comm) | ARG(win) | ARG(file); /* of which it has one at most */
    if (!handle) return;
    const struct impi_object o = *object(t, handle);
    const uint64_t bytes = r->type ? volume(t, r, a, ONE, ARG(count), ARG(type), &o, 1) : 0;
    if (r->what == ONE_SIDED) {
        item(t, head(IMPI_ONE_SIDED, r->flags, o.id), 3, (uint32_t)INT(dest), bytes, request, 0);
        *(r->flags & IMPI_PUT ? &t->sent : &t->received) += bytes;
    } else if (r->what == FILE) {
        item(t, head(IMPI_FILE, r->flags, o.id), 3, r->offset ? ARG(offset) : (uint64_t)-1, bytes, request, 0);
    } else if (r->what == PROBE && !r->message) {
        item(t, head(IMPI_PROBE, 0, o.id), 1, pair(INT(source), INT(tag)), 0, 0, 0);
    } else if (r->what == PROBE) {
        item(t, head(IMPI_RECV, IMPI_MATCHED, o.id), 3, pair(s->MPI_SOURCE, s->MPI_TAG),
             pair(s->MPI_internal[0], s->MPI_internal[1]), *(const uint64_t *)ARG(message), 0);
    } else {
        item(t, head(IMPI_OBJECT, (uint64_t)(r->win ? 2 : 1 + 2 * !!r->file), o.id), 0, 0, 0, 0, 0);
    }
}

void impi_record_after(struct impi_seen *seen, int code)
{
    const uint64_t now = impi_ticks(), key = (uint64_t)seen->call | (uint64_t)seen->site << 16, *a = seen->args;
    const struct role *r = &roles[seen->call];
    struct impi_recording *k = &seen->record;
    struct impi_noted *t = mine ? mine : take();
    const int nothing = !code && r->what && r->flag && !*(const int *)ARG(flag);
    if (!t || !impi_recorder.on) return;
    t->sent = t->received = 0;
    if (nothing && t->last && t->last[0] == key) {
        t->last[3] += 1ull << 32;
        t->last[2] = 4 | (now - t->last[1]) << 16;
    } else {
        if (impi_recorder.base && (!t->block || (t->w + 32 + 4 * k->n > t->end && t->w > t->block + 8))) {
            if (!t->lost) impi_record_block(t);
            t->lost += !t->block;
        }
        t->event = t->block ? t->w : NULL, t->w += 3, t->last = NULL;
        if (code) item(t, head(IMPI_ERROR, 0, (uint32_t)(code < MPI_ERR_LASTCODE ? code & 63 : code)), 0, 0, 0, 0, 0);
        else if (nothing) item(t, head(IMPI_REPEAT, 0, 1), 0, 0, 0, 0, 0), t->last = t->event;
        else tell(t, r, a, k, now - k->begin);
        if (t->event) {
            t->event[0] = key, t->event[1] = k->begin;
            t->event[2] = (uint64_t)(t->w - t->event) | (now - k->begin) << 16;
            __atomic_store_n(&t->block[2], (uint64_t)(t->w - t->block) * 8, __ATOMIC_RELEASE);
        }
        t->event = NULL;
    }
    count(t, key, now - k->begin);
    if (k->kept != k->requests) free(k->kept);
}
