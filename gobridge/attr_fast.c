/* Queries that C answers from the tables of attr_fast.h. Order: the tables, attributes, groups, datatypes, statuses. */
#include "_cgo_export.h"
#include "shim.h"
#include "attr_fast.h"
#include "direct.h"
#include "type_record.h"
#include "z_shim.h"
#include "z_direct.h"

struct impi_attr impi_attr;

enum { FIRST_RUN_TIME = 4096, FIRST_KEY = 1 << 20 };

static inline int is(const uintptr_t *at, uintptr_t handle) { return __atomic_load_n(at, __ATOMIC_ACQUIRE) == handle; }

static inline int open(void) { return LIKELY(__atomic_load_n(&impi_attr.open, __ATOMIC_ACQUIRE) && !impi_forked); }

/* The answer is as MPI_Comm_get_attr's flag, and -1 if Go has to be asked. */
static inline int user_attr(struct impi_attr_comm *c, int key, void **value)
{
    uint32_t version = __atomic_load_n(&c->version, __ATOMIC_ACQUIRE);
    int32_t count = __atomic_load_n(&c->count, __ATOMIC_RELAXED);
    int found = 0;
    void *v = NULL;
    if (UNLIKELY(version & 1 || count < 0 || count > IMPI_ATTR_VALUES)) return -1;
    for (int i = 0; i < count && !found; i++) {
        if (__atomic_load_n(&c->values[i].key, __ATOMIC_RELAXED) == key) {
            v = (void *)__atomic_load_n(&c->values[i].value, __ATOMIC_RELAXED);
            found = 1;
        }
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (UNLIKELY(__atomic_load_n(&c->version, __ATOMIC_RELAXED) != version)) return -1;
    if (found) *value = v;
    else if (UNLIKELY((uint32_t)key - FIRST_KEY >= IMPI_ATTR_KEYS || !__atomic_load_n(&impi_attr.keys[key - FIRST_KEY], __ATOMIC_RELAXED))) return -1;
    return found;
}

static inline int get_attr(MPI_Comm comm, int key, void **value)
{
    uintptr_t handle = (uintptr_t)comm;
    uint32_t slot = handle == (uintptr_t)MPI_COMM_WORLD ? 0
        : handle == (uintptr_t)MPI_COMM_SELF ? IMPI_ATTR_COMMS : (uint32_t)handle - (FIRST_RUN_TIME - 1);
    if (UNLIKELY(slot > IMPI_ATTR_COMMS || !open())) return -1;
    struct impi_attr_comm *c = &impi_attr.comms[slot];
    if (UNLIKELY(!is(&c->handle, handle))) return -1;
    if ((uint32_t)key - MPI_TAG_UB < 7) {
        *value = impi_attr.predefined[key - MPI_TAG_UB];
        return 1;
    }
    if ((uint32_t)key - IMPI_CLIENT_SIZE < 4) {
        if (UNLIKELY(!__atomic_load_n(&c->colors[0], __ATOMIC_ACQUIRE))) return -1;
        *value = &c->colors[key - IMPI_CLIENT_SIZE];
        return 1;
    }
    return user_attr(c, key, value);
}

int impi_direct_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag)
{
    if (LIKELY(attribute_val && flag)) {
        int found = get_attr(comm, comm_keyval, (void **)attribute_val);
        if (LIKELY(found >= 0)) {
            *flag = found;
            return MPI_SUCCESS;
        }
    }
    IN_GO("Comm_get_attr", impi_Comm_get_attr((uintptr_t)comm, comm_keyval, (uintptr_t)attribute_val, (uintptr_t)flag));
}

static inline struct impi_attr_group *find_group(MPI_Group group)
{
    uint32_t slot = (uint32_t)(uintptr_t)group - FIRST_RUN_TIME;
    if (UNLIKELY(slot >= IMPI_ATTR_GROUPS || !open())) return NULL;
    struct impi_attr_group *g = &impi_attr.groups[slot];
    return is(&g->handle, (uintptr_t)group) ? g : NULL;
}

int impi_direct_Group_rank(MPI_Group group, int *rank)
{
    struct impi_attr_group *g = find_group(group);
    if (UNLIKELY(!g || !rank)) IN_GO("Group_rank", impi_Group_rank((uintptr_t)group, (uintptr_t)rank));
    *rank = g->rank;
    return MPI_SUCCESS;
}

int impi_direct_Group_size(MPI_Group group, int *size)
{
    struct impi_attr_group *g = find_group(group);
    if (UNLIKELY(!g || !size)) IN_GO("Group_size", impi_Group_size((uintptr_t)group, (uintptr_t)size));
    *size = g->size;
    return MPI_SUCCESS;
}

/* The size of a datatype, -1 if Go has to be asked. */
static inline int64_t type_size(MPI_Datatype datatype)
{
    uintptr_t handle = (uintptr_t)datatype;
    if (UNLIKELY(!open())) return -1;
    if (LIKELY(handle - (uintptr_t)MPI_DATATYPE_NULL < IMPI_ATTR_NAMED)) return impi_attr.named[handle - (uintptr_t)MPI_DATATYPE_NULL];
    uint32_t slot = (uint32_t)handle - FIRST_RUN_TIME;
    if (slot >= IMPI_TYPE_FIRST) return impi_type_recorded_size(handle);
    if (UNLIKELY(slot >= IMPI_ATTR_TYPES || !is(&impi_attr.types[slot].handle, handle))) return -1;
    return impi_attr.types[slot].size;
}

int impi_direct_Type_size(MPI_Datatype datatype, int *size)
{
    int64_t n = type_size(datatype);
    if (LIKELY(n >= 0 && size)) {
        *size = impi_narrow(n);
        return MPI_SUCCESS;
    }
    int64_t wide = 0;
    if (UNLIKELY(impi_forked)) return impi_after_fork("MPI_Type_size");
    int err = impi_Type_size((uintptr_t)datatype, size ? (uintptr_t)&wide : 0);
    if (UNLIKELY(err)) return impi_raise(err);
    *size = impi_narrow(wide);
    return MPI_SUCCESS;
}

int impi_direct_Type_size_c(MPI_Datatype datatype, MPI_Count *size)
{
    int64_t n = type_size(datatype);
    if (UNLIKELY(n < 0 || !size)) IN_GO("Type_size", impi_Type_size((uintptr_t)datatype, (uintptr_t)size));
    *size = n;
    return MPI_SUCCESS;
}

/* CStatus in libimpi/complete.go: bytes, low and high word, and flags. */
enum { CANCELLED = 1, EXTERNAL = 2 };

int impi_direct_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    uintptr_t named = (uintptr_t)datatype - (uintptr_t)MPI_DATATYPE_NULL;
    if (LIKELY(status && count && open() && named < IMPI_ATTR_NAMED && impi_attr.named[named] > 0
            && !(status->MPI_internal[2] & EXTERNAL))) {
        uint64_t bytes = (uint32_t)status->MPI_internal[0] | (uint64_t)(uint32_t)status->MPI_internal[1] << 32;
        uint32_t size = (uint32_t)impi_attr.named[named];
        uint64_t n = bytes / size;
        *count = n * size == bytes && n <= INT_MAX ? (int)n : MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    int64_t wide = 0;
    if (UNLIKELY(impi_forked)) return impi_after_fork("MPI_Get_count");
    int err = impi_Get_count((uintptr_t)status, (uintptr_t)datatype, count ? (uintptr_t)&wide : 0);
    if (UNLIKELY(err)) return impi_raise(err);
    *count = impi_narrow(wide);
    return MPI_SUCCESS;
}

int impi_direct_Test_cancelled(const MPI_Status *status, int *flag)
{
    if (UNLIKELY(!status || !flag || !open())) IN_GO("Test_cancelled", impi_Test_cancelled((uintptr_t)status, (uintptr_t)flag));
    *flag = (status->MPI_internal[2] & CANCELLED) != 0;
    return MPI_SUCCESS;
}
