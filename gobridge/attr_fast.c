/* Queries that C answers from the tables of attr_fast.h. Order: the tables, attributes, groups, datatypes, statuses. */
#include "_cgo_export.h"
#include "shim.h"
#include "attr_fast.h"
#include "direct.h"
#include "type_size.h"
#include "z_shim.h"
#include "z_direct.h"

struct impi_attr impi_attr;

enum { FIRST_KEY = 1 << 20 };

static inline int is(const uintptr_t *at, uintptr_t handle) { return __atomic_load_n(at, __ATOMIC_ACQUIRE) == handle; }

static inline int open(void) { return LIKELY(__atomic_load_n(&impi_attr.open, __ATOMIC_ACQUIRE)); }

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
        : handle == (uintptr_t)MPI_COMM_SELF ? IMPI_ATTR_COMMS : (uint32_t)handle - (IMPI_FIRST_HANDLE - 1);
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
    IN_GO(impi_Comm_get_attr((uintptr_t)comm, comm_keyval, (uintptr_t)attribute_val, (uintptr_t)flag));
}

static inline struct impi_attr_group *find_group(MPI_Group group)
{
    uint32_t slot = (uint32_t)(uintptr_t)group - IMPI_FIRST_HANDLE;
    if (UNLIKELY(slot >= IMPI_ATTR_GROUPS || !open())) return NULL;
    struct impi_attr_group *g = &impi_attr.groups[slot];
    return is(&g->handle, (uintptr_t)group) ? g : NULL;
}

int impi_direct_Group_rank(MPI_Group group, int *rank)
{
    struct impi_attr_group *g = find_group(group);
    if (UNLIKELY(!g || !rank)) IN_GO(impi_Group_rank((uintptr_t)group, (uintptr_t)rank));
    *rank = g->rank;
    return MPI_SUCCESS;
}

int impi_direct_Group_size(MPI_Group group, int *size)
{
    struct impi_attr_group *g = find_group(group);
    if (UNLIKELY(!g || !size)) IN_GO(impi_Group_size((uintptr_t)group, (uintptr_t)size));
    *size = g->size;
    return MPI_SUCCESS;
}

RARE int size_in_go(MPI_Datatype datatype, int *size)
{
    int64_t n = 0;
    int err = impi_Type_size((uintptr_t)datatype, size ? (uintptr_t)&n : 0);
    if (err) return impi_raise(err);
    *size = impi_narrow(n);
    return MPI_SUCCESS;
}

int impi_direct_Type_size(MPI_Datatype datatype, int *size)
{
    int64_t n = impi_type_size((uintptr_t)datatype);
    if (UNLIKELY(n < 0 || !size)) return size_in_go(datatype, size);
    *size = impi_narrow(n);
    return MPI_SUCCESS;
}

int impi_direct_Type_size_c(MPI_Datatype datatype, MPI_Count *size)
{
    int64_t n = impi_type_size((uintptr_t)datatype);
    if (UNLIKELY(n < 0 || !size)) IN_GO(impi_Type_size((uintptr_t)datatype, (uintptr_t)size));
    *size = n;
    return MPI_SUCCESS;
}

/* The elements of so many bytes that a status counts, as datatype/count.go has it; 0 if Go has to be asked. */
static inline int counted(const MPI_Status *status, MPI_Datatype datatype, int64_t *n)
{
    int64_t size = impi_type_size((uintptr_t)datatype);
    if (UNLIKELY(size < 0 || !status || status->MPI_internal[2] & IMPI_STATUS_EXTERNAL)) return 0;
    uint64_t bytes = (uint64_t)impi_status_bytes(status);
    if (LIKELY(size > 0 && (bytes | (uint64_t)size) <= UINT32_MAX)) { /* a division that is short */
        uint32_t q = (uint32_t)bytes / (uint32_t)size;
        *n = q * (uint32_t)size == (uint32_t)bytes ? (int64_t)q : MPI_UNDEFINED;
    } else {
        *n = bytes == 0 ? 0 : size == 0 || (int64_t)bytes < 0 || bytes % (uint64_t)size ? MPI_UNDEFINED : (int64_t)(bytes / (uint64_t)size);
    }
    return 1;
}

RARE int count_in_go(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    int64_t n = 0;
    int err = impi_Get_count((uintptr_t)status, (uintptr_t)datatype, count ? (uintptr_t)&n : 0);
    if (err) return impi_raise(err);
    *count = impi_narrow(n);
    return MPI_SUCCESS;
}

int impi_direct_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    int64_t n;
    if (UNLIKELY(!count || !counted(status, datatype, &n))) return count_in_go(status, datatype, count);
    *count = impi_narrow(n);
    return MPI_SUCCESS;
}

int impi_direct_Get_count_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    int64_t n;
    if (UNLIKELY(!count || !counted(status, datatype, &n)))
        IN_GO(impi_Get_count((uintptr_t)status, (uintptr_t)datatype, (uintptr_t)count));
    *count = n;
    return MPI_SUCCESS;
}

int impi_direct_Test_cancelled(const MPI_Status *status, int *flag)
{
    if (UNLIKELY(!status || !flag || !open())) IN_GO(impi_Test_cancelled((uintptr_t)status, (uintptr_t)flag));
    *flag = (status->MPI_internal[2] & IMPI_STATUS_CANCELLED) != 0;
    return MPI_SUCCESS;
}
