/* Plans of recorded types that C makes by itself, so that a small type that is made, used once and freed never enters Go:
 * one constructor upon elements without gaps gives loops or a list, and what has few blocks is listed block by block,
 * however it is nested. Everything else is left to Go, whose compiler of types (datatype/program.go) merges levels and
 * neighbours; so are lists with empty blocks, or many that continue each other.
 *
 *     record -> shape (sums over its parts, as datatype/shape.go has them) -> loops | list | pieces
 *
 * The sums cannot leave 64 bits: type_record.c has seen to that. */
#include "_cgo_export.h"
#include "shim.h"
#include "type_darray.h"
#include "type_record.h"

static inline int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t most_of(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t extent(const struct impi_shape *s) { return s->ub - s->lb; }

/* What a type is made of. */
struct part {
    const struct impi_shape *shape;
    const struct impi_type_plan *plan; /* NULL: predefined, or of unknown layout */
    int solid;                         /* elements follow each other without gaps, from displacement 0 on */
    int word;                          /* for external32: of all data, -1 if the plan has pieces that differ; else 1 */
};

static struct part part_of(uintptr_t old)
{
    uintptr_t named = old - (uintptr_t)MPI_DATATYPE_NULL;
    if (named < IMPI_TYPE_NAMED) {
        const struct impi_shape *s = &impi_types.named[named];
        return (struct part){s, NULL, extent(s) == s->size, 1};
    }
    const struct impi_type_record *r = impi_type_part(old);
    const struct impi_type_plan *plan = r->planned == IMPI_PLAN_MADE ? &r->plan : NULL;
    return (struct part){&r->plan.shape, plan, plan && plan->dense && plan->at == 0, 1};
}

/* The same for external32; 0 if that is not simple. */
static int external_part_of(uintptr_t old, struct part *o)
{
    *o = part_of(old);
    o->word = o->shape->word;
    if (o->word > 0 || o->shape->size == 0) return 1;
    o->solid = 0;
    o->plan = old >> 56 == IMPI_TYPE_KIND && o->word ? impi_type_part_external(old) : NULL;
    return o->plan != NULL;
}

/* What all data has that is there and that is added; 0 if it differs. */
static inline int32_t common(int first, int32_t a, int32_t b) { return first || a == b ? b : 0; }

/* Adds n copies of a part to a shape, the lowest at byte low and the highest at byte high. */
static void place(struct impi_shape *s, const struct impi_shape *o, int64_t n, int64_t low, int64_t high)
{
    int first = s->size == 0, set = s->marked;
    if (o->size > 0) {
        s->lo = first ? low + o->lo : least_of(s->lo, low + o->lo);
        s->hi = first ? high + o->hi : most_of(s->hi, high + o->hi);
        s->unit = common(first, s->unit, o->unit);
        s->word = !first && s->word != o->word && s->word && o->word ? -1 : common(first, s->word, o->word);
    }
    if (o->marked) {
        s->lb = set ? least_of(s->lb, low + o->lb) : low + o->lb;
        s->ub = set ? most_of(s->ub, high + o->ub) : high + o->ub;
        s->marked = 1;
    }
    s->align = (int32_t)most_of(s->align, o->align);
    s->size += n * o->size;
    s->size32 += n * o->size32;
    s->elems += n * o->elems;
}

/* The bounds that nobody set. */
static void seal(struct impi_shape *s)
{
    if (s->marked) return;
    s->lb = s->lo;
    s->ub = s->lb + (s->hi - s->lb + s->align - 1) / s->align * s->align;
}

/* A block of len elements at a displacement. */
static void place_block(struct impi_shape *s, const struct impi_shape *o, int64_t len, int64_t at)
{
    int64_t last = (len - 1) * extent(o);
    if (len > 0) place(s, o, len, at + least_of(0, last), at + most_of(0, last));
}

static void place_vector(struct impi_shape *s, const struct impi_shape *o, int64_t n, int64_t len, int64_t stride)
{
    int64_t row = (len - 1) * extent(o), last = (n - 1) * stride;
    if (n > 0 && len > 0) place(s, o, n * len, least_of(0, row) + least_of(0, last), most_of(0, row) + most_of(0, last));
}

static inline int64_t offset(const struct impi_list *l, int64_t i)
{
    return l->wide ? ((const int64_t *)l->offs)[i] : ((const int32_t *)l->offs)[i];
}

static inline int64_t length(const struct impi_list *l, int64_t i) { return l->lens ? l->lens[i] : l->block; }

/* The arrays of a record with offsets, in units of scale bytes, and with lengths; in elements, while the type is looked at. */
static struct impi_list blocks_of(const struct impi_type_record *r, int64_t old_extent)
{
    struct impi_list l = {.offs = r->arrays, .n = r->n[0], .scale = old_extent, .block = r->n[1]};
    const char *lens = r->arrays + l.n * (int64_t)sizeof(int32_t);
    if (r->combiner == MPI_COMBINER_HINDEXED || r->combiner == MPI_COMBINER_HINDEXED_BLOCK) {
        l.wide = 1;
        l.scale = 1;
        lens = r->arrays + l.n * (int64_t)sizeof(int64_t);
    }
    if (r->combiner == MPI_COMBINER_HINDEXED || r->combiner == MPI_COMBINER_INDEXED) l.lens = (const int32_t *)lens;
    return l;
}

static void place_list(struct impi_shape *s, const struct impi_shape *o, const struct impi_list *l)
{
    int64_t n = 0, low = INT64_MAX, high = INT64_MIN;
    for (int64_t i = 0; i < l->n; i++) {
        int64_t len = length(l, i), at = offset(l, i) * l->scale, last = at + (len - 1) * extent(o);
        if (len == 0) continue;
        n += len;
        low = least_of(low, least_of(at, last));
        high = most_of(high, most_of(at, last));
    }
    if (n > 0) place(s, o, n, low, high);
}

/* A subarray: from the dimension of neighbouring elements on, how many, how far apart, and from where. */
struct dimension { int64_t n, pitch, start; };

static int64_t dimensions(const struct impi_type_record *r, int64_t pitch, struct dimension *dims)
{
    int n = (int)r->n[0];
    const int32_t *sizes = (const int32_t *)r->arrays, *subsizes = sizes + n, *starts = subsizes + n;
    for (int i = 0; i < n; i++) {
        int d = r->n[1] == MPI_ORDER_C ? n - 1 - i : i;
        dims[i] = (struct dimension){subsizes[d], pitch, starts[d] * pitch};
        pitch *= sizes[d];
    }
    return pitch;
}

static void place_subarray(struct impi_shape *s, const struct impi_type_record *r, const struct impi_shape *o)
{
    struct dimension dims[IMPI_TYPE_DEPTH];
    int64_t whole = dimensions(r, extent(o), dims), low = 0, high = 0, n = 1;
    for (int64_t i = 0; i < r->n[0]; i++) {
        int64_t last = (dims[i].n - 1) * dims[i].pitch;
        low += dims[i].start + least_of(0, last);
        high += dims[i].start + most_of(0, last);
        n *= dims[i].n;
    }
    place(s, o, n, low, high);
    s->marked = 1;
    s->lb = 0;
    s->ub = whole;
}

/* The part of a process: from the dimension of neighbouring elements on, what it has of each. */
static int64_t deals(const struct impi_type_record *r, int64_t pitch, struct impi_deal *dims)
{
    struct impi_deal given[IMPI_TYPE_DEPTH];
    int n = (int)r->n[0];
    impi_darray_deal(given, n, r->n[1], r->n[2], (const int32_t *)r->arrays);
    for (int i = 0; i < n; i++) {
        dims[i] = given[r->n[3] == MPI_ORDER_C ? n - 1 - i : i];
        dims[i].pitch = pitch;
        pitch *= dims[i].whole;
    }
    return pitch;
}

static void place_darray(struct impi_shape *s, const struct impi_type_record *r, const struct impi_shape *o)
{
    struct impi_deal dims[IMPI_TYPE_DEPTH];
    int64_t whole = deals(r, extent(o), dims), low = 0, high = 0, n = 1;
    for (int64_t i = 0; i < r->n[0]; i++) {
        const struct impi_deal *d = &dims[i];
        int64_t begin = d->first * d->pitch, end = begin + (d->last - d->first) * d->pitch;
        low += least_of(begin, end);
        high += most_of(begin, end);
        n *= d->full * d->block + d->rest;
    }
    if (n > 0) place(s, o, n, low, high);
    s->marked = 1;
    s->lb = 0;
    s->ub = whole;
}

/* The shape of a type of one old type. */
static void place_all(struct impi_shape *s, const struct impi_type_record *r, const struct impi_shape *o)
{
    struct impi_list l;
    switch (r->combiner) {
    case MPI_COMBINER_CONTIGUOUS: place_block(s, o, r->n[0], 0); break;
    case MPI_COMBINER_VECTOR: place_vector(s, o, r->n[0], r->n[1], r->n[2] * extent(o)); break;
    case MPI_COMBINER_HVECTOR: place_vector(s, o, r->n[0], r->n[1], r->n[2]); break;
    case MPI_COMBINER_SUBARRAY: place_subarray(s, r, o); break;
    case MPI_COMBINER_DARRAY: place_darray(s, r, o); break;
    case MPI_COMBINER_DUP: *s = *o; return;
    case MPI_COMBINER_RESIZED:
        *s = *o;
        s->marked = 1;
        s->lb = r->n[0];
        s->ub = r->n[0] + r->n[1];
        break;
    default:
        l = blocks_of(r, extent(o));
        place_list(s, o, &l);
    }
    seal(s);
}

/* Puts a loop around what a plan has: n instances, so many bytes apart. */
static int repeat(struct impi_type_plan *p, int64_t n, int64_t stride)
{
    struct impi_nest *nest = &p->nest;
    int64_t size = nest->block;
    for (int i = 0; i < nest->depth; i++) size *= nest->dims[i].n;
    if (n == 1) return 1;
    if (nest->depth == 0 && stride == nest->block) {
        nest->block *= n;
        return 1;
    }
    if (nest->depth > 0 && stride == nest->dims[0].n * nest->dims[0].mem) {
        nest->dims[0].n *= n;
        return 1;
    }
    if (nest->depth == IMPI_MAX_DIMS) return 0;
    for (int i = nest->depth++; i > 0; i--) nest->dims[i] = nest->dims[i - 1];
    nest->dims[0] = (struct impi_dim){n, stride, size};
    return 1;
}

/* n blocks of so many bytes. */
static int vector(struct impi_type_plan *p, int64_t n, int64_t bytes, int64_t stride)
{
    p->nest = (struct impi_nest){.word = 1, .block = bytes};
    return repeat(p, n, stride);
}

static int subarray(struct impi_type_plan *p, const struct impi_type_record *r, int64_t bytes)
{
    struct dimension dims[IMPI_TYPE_DEPTH];
    dimensions(r, bytes, dims);
    vector(p, 1, bytes, 0);
    for (int64_t i = 0; i < r->n[0]; i++) {
        if (!repeat(p, dims[i].n, dims[i].pitch)) return 0;
        p->at += dims[i].start;
    }
    return 1;
}

/* Loops, if in each dimension all blocks are whole or there is but one. */
static int darray(struct impi_type_plan *p, const struct impi_type_record *r, int64_t bytes)
{
    struct impi_deal dims[IMPI_TYPE_DEPTH];
    deals(r, bytes, dims);
    vector(p, 1, bytes, 0);
    for (int64_t i = 0; i < r->n[0]; i++) {
        const struct impi_deal *d = &dims[i];
        if (d->full && d->rest) return 0;
        if (!repeat(p, d->full ? d->block : d->rest, d->pitch) || (d->full > 1 && !repeat(p, d->full, d->round * d->pitch))) return 0;
        p->at += d->first * d->pitch;
    }
    return 1;
}

/* Is each block as far from the one before as the second is from the first? */
static int regular(const struct impi_list *l)
{
    int64_t i = 2, step = offset(l, 1) - offset(l, 0);
    while (i < l->n && offset(l, i) - offset(l, i - 1) == step) i++;
    return i >= l->n;
}

/* Are the blocks worth a list? Those that continue the one before should be few. */
static int apart(const struct impi_list *l)
{
    int64_t touching = 0;
    for (int64_t i = 1; i < l->n; i++) {
        int64_t bytes = l->lens ? l->lens[i - 1] * l->block : l->block;
        touching += (offset(l, i) - offset(l, i - 1)) * l->scale == bytes;
    }
    return touching <= l->n / 8;
}

/* Blocks of equal length, in bytes. */
static int listed(struct impi_type_plan *p, struct impi_list l)
{
    l.lens = NULL;
    if (l.n == 1 || regular(&l)) {
        p->at = offset(&l, 0) * l.scale;
        return vector(p, l.n, l.block, l.n > 1 ? (offset(&l, 1) - offset(&l, 0)) * l.scale : 0);
    }
    p->list = l;
    return apart(&l);
}

/* Blocks of elements of so many bytes. */
static int varied(struct impi_type_plan *p, struct impi_list l, int64_t bytes)
{
    int32_t least = l.lens[0], most = l.lens[0];
    for (int64_t i = 1; i < l.n; i++) {
        least = l.lens[i] < least ? l.lens[i] : least;
        most = l.lens[i] > most ? l.lens[i] : most;
    }
    l.block = bytes;
    l.least = least * bytes;
    l.most = most * bytes;
    if (least == most) {
        l.block = l.least;
        return listed(p, l);
    }
    p->list = l;
    return least > 0 && apart(&l);
}

/* A plan for elements without gaps, of so many bytes each. */
static int of_solid(struct impi_type_plan *p, const struct impi_type_record *r, int64_t bytes)
{
    struct impi_list l;
    switch (r->combiner) {
    case MPI_COMBINER_CONTIGUOUS: return vector(p, r->n[0], bytes, bytes);
    case MPI_COMBINER_VECTOR: return vector(p, r->n[0], r->n[1] * bytes, r->n[2] * bytes);
    case MPI_COMBINER_HVECTOR: return vector(p, r->n[0], r->n[1] * bytes, r->n[2]);
    case MPI_COMBINER_SUBARRAY: return subarray(p, r, bytes);
    case MPI_COMBINER_DARRAY: return darray(p, r, bytes);
    case MPI_COMBINER_RESIZED:
    case MPI_COMBINER_DUP: return vector(p, 1, bytes, bytes);
    }
    l = blocks_of(r, bytes);
    if (l.lens) return varied(p, l, bytes);
    l.block *= bytes;
    return listed(p, l);
}

/* Appends a block to a list of pieces, or lengthens the one before. */
static int add_piece(struct impi_type_plan *p, int64_t at, int64_t bytes, int word)
{
    int64_t last = p->list.n - 1;
    if (bytes > INT32_MAX / 2) return 0;
    if (last >= 0 && p->pieces.words[last] == word && p->pieces.offs[last] + p->pieces.lens[last] == at && p->pieces.lens[last] < INT32_MAX / 2) {
        p->pieces.lens[last] += (int32_t)bytes;
        return 1;
    }
    if (p->list.n == IMPI_PIECES) return 0;
    p->pieces.offs[p->list.n] = at;
    p->pieces.words[p->list.n] = (int8_t)word;
    p->pieces.lens[p->list.n++] = (int32_t)bytes;
    return 1;
}

static int add_loops(struct impi_type_plan *p, const struct impi_nest *nest, int level, int64_t at, int word)
{
    if (level == nest->depth) return add_piece(p, at, nest->block, word);
    if (nest->dims[level].n > IMPI_PIECES) return 0;
    for (int64_t i = 0; i < nest->dims[level].n; i++)
        if (!add_loops(p, nest, level + 1, at + i * nest->dims[level].mem, word)) return 0;
    return 1;
}

static int add_element(struct impi_type_plan *p, const struct part *o, int64_t at)
{
    if (!o->plan) return o->solid && add_piece(p, at, o->shape->size, o->word);
    const struct impi_list *l = &o->plan->list;
    if (!l->offs) return add_loops(p, &o->plan->nest, 0, at + o->plan->at, o->word);
    if (l->n > IMPI_PIECES) return 0;
    for (int64_t i = 0; i < l->n; i++)
        if (!add_piece(p, at + o->plan->at + offset(l, i) * l->scale, l->lens ? l->lens[i] * l->block : l->block,
                       o->word < 0 ? o->plan->pieces.words[i] : o->word)) return 0;
    return 1;
}

static int add_block(struct impi_type_plan *p, const struct part *o, int64_t len, int64_t at)
{
    if (o->solid) return len == 0 || add_piece(p, at, len * o->shape->size, o->word);
    if (len > IMPI_PIECES) return 0;
    for (int64_t i = 0; i < len; i++)
        if (!add_element(p, o, at + i * extent(o->shape))) return 0;
    return 1;
}

static int add_blocks(struct impi_type_plan *p, const struct part *o, int64_t n, int64_t len, int64_t stride)
{
    if (n > IMPI_PIECES) return 0;
    for (int64_t i = 0; i < n; i++)
        if (!add_block(p, o, len, i * stride)) return 0;
    return 1;
}

/* Lists the blocks of a type of one old type, if they are few. */
static int add_all(struct impi_type_plan *p, const struct impi_type_record *r, const struct part *o)
{
    struct impi_list l;
    switch (r->combiner) {
    case MPI_COMBINER_CONTIGUOUS: return add_block(p, o, r->n[0], 0);
    case MPI_COMBINER_VECTOR: return add_blocks(p, o, r->n[0], r->n[1], r->n[2] * extent(o->shape));
    case MPI_COMBINER_HVECTOR: return add_blocks(p, o, r->n[0], r->n[1], r->n[2]);
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY: return 0;
    }
    l = blocks_of(r, extent(o->shape));
    if (l.n > IMPI_PIECES) return 0;
    for (int64_t i = 0; i < l.n; i++)
        if (!add_block(p, o, length(&l, i), offset(&l, i) * l.scale)) return 0;
    return 1;
}

/* The shape of a structure. */
static void place_fields(struct impi_shape *s, const struct impi_fields *f)
{
    for (int64_t i = 0; i < f->n; i++)
        if (f->lens[i] > 0) place_block(s, part_of(f->olds[i]).shape, f->lens[i], f->away[i]);
    seal(s);
}

/* Its pieces. */
static int add_fields(struct impi_type_plan *p, const struct impi_fields *f, int external)
{
    if (f->n > IMPI_PIECES) return 0;
    for (int64_t i = 0; i < f->n; i++) {
        struct part o = part_of(f->olds[i]);
        if (external && !external_part_of(f->olds[i], &o)) return 0;
        if (f->lens[i] > 0 && o.shape->size > 0 && !add_block(p, &o, f->lens[i], f->away[i])) return 0;
    }
    return 1;
}

/* The layout of another type; a list may stand in its record, which this one keeps. */
static int same(struct impi_type_plan *p, const struct impi_type_plan *o)
{
    struct impi_shape shape = p->shape;
    *p = *o;
    p->shape = shape;
    if (o->list.offs != o->pieces.offs) return 1;
    p->list.offs = p->pieces.offs;
    p->list.lens = p->pieces.lens;
    return 1;
}

/* Ends a list of pieces. */
static int end_pieces(struct impi_type_plan *p)
{
    if (p->list.n == 1) {
        int64_t at = p->pieces.offs[0], bytes = p->pieces.lens[0];
        p->list.n = 0;
        p->at = at;
        return vector(p, 1, bytes, bytes);
    }
    p->list.offs = p->pieces.offs;
    p->list.lens = p->pieces.lens;
    p->list.wide = 1;
    p->list.scale = p->list.block = 1;
    p->list.least = p->list.most = p->pieces.lens[0];
    for (int64_t i = 1; i < p->list.n; i++) {
        p->list.least = least_of(p->list.least, p->pieces.lens[i]);
        p->list.most = most_of(p->list.most, p->pieces.lens[i]);
    }
    return p->list.n > 0;
}

static int make_struct(struct impi_type_plan *p, const struct impi_type_record *r)
{
    struct impi_fields f = impi_fields_of(r);
    place_fields(&p->shape, &f);
    return p->shape.size > 0 && add_fields(p, &f, 0) && end_pieces(p);
}

static int make_other(struct impi_type_plan *p, const struct impi_type_record *r)
{
    struct part o = part_of(r->old);
    place_all(&p->shape, r, o.shape);
    if (p->shape.size == 0) return 0;
    if (o.plan && (r->combiner == MPI_COMBINER_RESIZED || r->combiner == MPI_COMBINER_DUP)) return same(p, o.plan);
    if (o.solid) return of_solid(p, r, o.shape->size);
    return add_all(p, r, &o) && end_pieces(p);
}

int impi_type_make_plan(const struct impi_type_record *r, struct impi_type_plan *p)
{
    *p = (struct impi_type_plan){.shape = {.align = 1}};
    int made = r->combiner == MPI_COMBINER_STRUCT ? make_struct(p, r) : make_other(p, r);
    p->dense = made && !p->list.offs && p->nest.depth == 0 && p->nest.block == extent(&p->shape);
    return made;
}

/* With pieces that end where the size of the words changes. */
int impi_type_make_external(const struct impi_type_record *r, struct impi_type_plan *p)
{
    struct part o;
    *p = (struct impi_type_plan){.shape = r->plan.shape};
    if (r->combiner == MPI_COMBINER_STRUCT) {
        struct impi_fields f = impi_fields_of(r);
        if (!add_fields(p, &f, 1)) return 0;
    } else if (!external_part_of(r->old, &o)) {
        return 0;
    } else if (r->combiner == MPI_COMBINER_RESIZED || r->combiner == MPI_COMBINER_DUP) {
        if (!add_element(p, &o, 0)) return 0;
    } else if (!add_all(p, r, &o)) {
        return 0;
    }
    p->list.offs = p->pieces.offs;
    p->list.lens = p->pieces.lens;
    p->list.wide = 1;
    p->list.scale = p->list.block = 1;
    return p->list.n > 0;
}
