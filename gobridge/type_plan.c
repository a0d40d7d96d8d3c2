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
#include "fast.h"
#include "type_record.h"

static inline int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t most_of(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t extent(const struct impi_shape *s) { return s->ub - s->lb; }

/* What a type is made of: a predefined type without gaps, or a recorded one with a plan. */
struct part {
    struct impi_shape shape;
    const struct impi_type_plan *plan; /* NULL: predefined */
    int solid;                         /* elements follow each other without gaps, from displacement 0 on */
};

static int part_of(uintptr_t old, struct part *o)
{
    uintptr_t named = old - (uintptr_t)MPI_DATATYPE_NULL;
    if (named < IMPI_FAST_TYPES) {
        int64_t size = impi_fast.dense[named];
        *o = (struct part){{size, 0, size, 0, size, impi_fast.align[named], 0}, NULL, 1};
        return size > 0;
    }
    o->plan = impi_type_part(old);
    if (!o->plan) return 0;
    o->shape = o->plan->shape;
    o->solid = o->plan->dense && o->plan->at == 0;
    return 1;
}

/* Adds n copies of a part to a shape, the lowest at byte low and the highest at byte high. */
static void place(struct impi_shape *s, const struct impi_shape *o, int64_t n, int64_t low, int64_t high)
{
    int first = s->size == 0, set = s->marked;
    s->lo = first ? low + o->lo : least_of(s->lo, low + o->lo);
    s->hi = first ? high + o->hi : most_of(s->hi, high + o->hi);
    if (o->marked) {
        s->lb = set ? least_of(s->lb, low + o->lb) : low + o->lb;
        s->ub = set ? most_of(s->ub, high + o->ub) : high + o->ub;
        s->marked = 1;
    }
    s->align = (int32_t)most_of(s->align, o->align);
    s->size += n * o->size;
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

/* The shape of a type of one old type. */
static void place_all(struct impi_shape *s, const struct impi_type_record *r, const struct impi_shape *o)
{
    struct impi_list l;
    switch (r->combiner) {
    case MPI_COMBINER_CONTIGUOUS: place_block(s, o, r->n[0], 0); break;
    case MPI_COMBINER_VECTOR: place_vector(s, o, r->n[0], r->n[1], r->n[2] * extent(o)); break;
    case MPI_COMBINER_HVECTOR: place_vector(s, o, r->n[0], r->n[1], r->n[2]); break;
    case MPI_COMBINER_SUBARRAY: place_subarray(s, r, o); break;
    case MPI_COMBINER_RESIZED:
        *s = *o;
        s->marked = 1;
        s->lb = r->n[0];
        s->ub = r->n[0] + r->n[1];
        break;
    default:
        l = blocks_of(r, extent(o));
        for (int64_t i = 0; i < l.n; i++) place_block(s, o, length(&l, i), offset(&l, i) * l.scale);
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
    case MPI_COMBINER_RESIZED: return vector(p, 1, bytes, bytes);
    }
    l = blocks_of(r, bytes);
    if (l.lens) return varied(p, l, bytes);
    l.block *= bytes;
    return listed(p, l);
}

/* Appends a block to a list of pieces, or lengthens the one before. */
static int add_piece(struct impi_type_plan *p, int64_t at, int64_t bytes)
{
    int64_t last = p->list.n - 1;
    if (bytes > INT32_MAX / 2) return 0;
    if (last >= 0 && p->pieces.offs[last] + p->pieces.lens[last] == at && p->pieces.lens[last] < INT32_MAX / 2) {
        p->pieces.lens[last] += (int32_t)bytes;
        return 1;
    }
    if (p->list.n == IMPI_PIECES) return 0;
    p->pieces.offs[p->list.n] = at;
    p->pieces.lens[p->list.n++] = (int32_t)bytes;
    return 1;
}

static int add_loops(struct impi_type_plan *p, const struct impi_nest *nest, int level, int64_t at)
{
    if (level == nest->depth) return add_piece(p, at, nest->block);
    if (nest->dims[level].n > IMPI_PIECES) return 0;
    for (int64_t i = 0; i < nest->dims[level].n; i++)
        if (!add_loops(p, nest, level + 1, at + i * nest->dims[level].mem)) return 0;
    return 1;
}

static int add_element(struct impi_type_plan *p, const struct part *o, int64_t at)
{
    if (!o->plan) return add_piece(p, at, o->shape.size);
    const struct impi_list *l = &o->plan->list;
    if (!l->offs) return add_loops(p, &o->plan->nest, 0, at + o->plan->at);
    if (l->n > IMPI_PIECES) return 0;
    for (int64_t i = 0; i < l->n; i++)
        if (!add_piece(p, at + o->plan->at + offset(l, i) * l->scale, l->lens ? l->lens[i] * l->block : l->block)) return 0;
    return 1;
}

static int add_block(struct impi_type_plan *p, const struct part *o, int64_t len, int64_t at)
{
    if (o->solid) return len == 0 || add_piece(p, at, len * o->shape.size);
    if (len > IMPI_PIECES) return 0;
    for (int64_t i = 0; i < len; i++)
        if (!add_element(p, o, at + i * extent(&o->shape))) return 0;
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
    case MPI_COMBINER_VECTOR: return add_blocks(p, o, r->n[0], r->n[1], r->n[2] * extent(&o->shape));
    case MPI_COMBINER_HVECTOR: return add_blocks(p, o, r->n[0], r->n[1], r->n[2]);
    case MPI_COMBINER_RESIZED: return add_element(p, o, 0);
    case MPI_COMBINER_SUBARRAY: return 0;
    }
    l = blocks_of(r, extent(&o->shape));
    if (l.n > IMPI_PIECES) return 0;
    for (int64_t i = 0; i < l.n; i++)
        if (!add_block(p, o, length(&l, i), offset(&l, i) * l.scale)) return 0;
    return 1;
}

/* The shape and the pieces of a structure. */
static int add_fields(struct impi_type_plan *p, const struct impi_type_record *r)
{
    const int64_t *away = (const int64_t *)r->arrays, n = r->n[0];
    const uintptr_t *olds = (const uintptr_t *)(away + n);
    const int32_t *lens = (const int32_t *)(olds + n);
    struct part o;
    if (n > IMPI_PIECES) return 0;
    for (int64_t i = 0; i < n; i++) {
        if (lens[i] == 0) continue;
        if (!part_of(olds[i], &o) || !add_block(p, &o, lens[i], away[i])) return 0;
        place_block(&p->shape, &o.shape, lens[i], away[i]);
    }
    seal(&p->shape);
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

int impi_type_make_plan(const struct impi_type_record *r, struct impi_type_plan *p)
{
    struct part o;
    int made;
    *p = (struct impi_type_plan){.shape = {.align = 1}};
    if (r->combiner == MPI_COMBINER_STRUCT) {
        made = add_fields(p, r) && end_pieces(p);
    } else {
        if (!part_of(r->old, &o)) return 0;
        place_all(&p->shape, r, &o.shape);
        if (p->shape.size == 0) return 0;
        if (o.solid) made = of_solid(p, r, o.shape.size);
        else made = add_all(p, r, &o) && end_pieces(p);
    }
    p->dense = made && !p->list.offs && p->nest.depth == 0 && p->nest.block == extent(&p->shape);
    return made;
}
