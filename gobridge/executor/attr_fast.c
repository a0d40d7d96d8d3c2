/* Queries that C answers from the tables of attr_fast.h. Order: the tables, attributes, groups, statuses. */
#include "attr_fast.h"
#include "direct.h"

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
    else if (UNLIKELY((uint32_t)key - FIRST_KEY >= IMPI_ATTR_KEYS ||
                      !__atomic_load_n(&impi_attr.keys[key - FIRST_KEY], __ATOMIC_RELAXED)))
        return -1;
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

int impi_exec_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag)
{
    if (UNLIKELY(!attribute_val || !flag)) return IMPI_IN_GO;
    int found = get_attr(comm, comm_keyval, (void **)attribute_val);
    if (UNLIKELY(found < 0)) return IMPI_IN_GO;
    *flag = found;
    return MPI_SUCCESS;
}

static inline struct impi_attr_group *find_group(MPI_Group group)
{
    uint32_t slot = (uint32_t)(uintptr_t)group - IMPI_FIRST_HANDLE;
    if (UNLIKELY(slot >= IMPI_ATTR_GROUPS || !open())) return NULL;
    struct impi_attr_group *g = &impi_attr.groups[slot];
    return is(&g->handle, (uintptr_t)group) ? g : NULL;
}

int impi_exec_Group_rank(MPI_Group group, int *rank)
{
    struct impi_attr_group *g = find_group(group);
    if (UNLIKELY(!g || !rank)) return IMPI_IN_GO;
    *rank = g->rank;
    return MPI_SUCCESS;
}

int impi_exec_Group_size(MPI_Group group, int *size)
{
    struct impi_attr_group *g = find_group(group);
    if (UNLIKELY(!g || !size)) return IMPI_IN_GO;
    *size = g->size;
    return MPI_SUCCESS;
}

int impi_exec_Test_cancelled(const MPI_Status *status, int *flag)
{
    if (UNLIKELY(!status || !flag || !open())) return IMPI_IN_GO;
    *flag = (status->MPI_internal[2] & IMPI_STATUS_CANCELLED) != 0;
    return MPI_SUCCESS;
}
