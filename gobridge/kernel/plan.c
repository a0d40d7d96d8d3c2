/* Elements moved by a plan. */
#include <stddef.h>
#include "kernels.h"

/* Several elements of a nest: one loop more. */
static void move_loops(const struct impi_plan *p, uintptr_t mem, uintptr_t buf, int64_t count, int unpack)
{
    const struct impi_nest *nest = &p->nest;
    struct impi_dim more[IMPI_MAX_DIMS + 1] = {{count, p->extent, p->size}};
    for (int i = 0; i < nest->depth && count > 1; i++) more[i + 1] = nest->dims[i];
    impi_move_loops(mem, buf, count > 1 ? more : nest->dims, nest->depth + (count > 1), nest->block, unpack);
}

void impi_plan_move(const struct impi_plan *p, const void *typed, const void *packed, int64_t n, int unpack)
{
    uintptr_t mem = (uintptr_t)typed + (uintptr_t)p->at, buf = (uintptr_t)packed;
    if (p->dense) impi_move_loops(mem, buf, NULL, 0, n, unpack);
    else if (!p->list.offs) move_loops(p, mem, buf, n == p->size ? 1 : n / p->size, unpack);
    else for (; n > 0; n -= p->size) {
        impi_move_list(mem, buf, &p->list, unpack);
        mem += (uintptr_t)p->extent;
        buf += (uintptr_t)p->size;
    }
}

void impi_plan_move_rows(const struct impi_plan *p, const void *typed, const void *packed, int64_t from, int64_t n,
                         int unpack)
{
    struct impi_nest nest = p->nest;
    nest.dims[0].n = n / p->row;
    impi_move_loops((uintptr_t)typed + (uintptr_t)(p->at + from / p->row * nest.dims[0].mem),
                    (uintptr_t)packed + (uintptr_t)from, nest.dims, nest.depth, nest.block, unpack);
}
