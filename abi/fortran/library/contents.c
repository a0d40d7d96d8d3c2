/* What datatypes were made with, where INTEGERs have 8 bytes. Constructors call those of C with large counts, and C
 * tells these apart from integers and addresses. Fortran has them where its own arguments were, each in an INTEGER. */
#include "fortran.h"

struct numbers {
    MPI_Count integers, addresses, counts, datatypes;
    int combiner;
};

/* Of the large counts, so many are addresses in Fortran: the last ones. */
static MPI_Count addresses_of(const struct numbers *n)
{
    switch (n->counts ? n->combiner : MPI_COMBINER_NAMED) {
    case MPI_COMBINER_HVECTOR: return 1;
    case MPI_COMBINER_RESIZED: return 2;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT: return (n->counts - 1) / 2;
    case MPI_COMBINER_HINDEXED_BLOCK: return n->counts - 2;
    }
    return 0;
}

/* The others stand behind so many integers, before the rest of them. */
static MPI_Count integers_before(const struct numbers *n)
{
    if (n->combiner == MPI_COMBINER_DARRAY) return 3;
    return n->combiner == MPI_COMBINER_SUBARRAY;
}

static int numbers_of(MPI_Datatype t, struct numbers *n)
{
    return C_(Type_get_envelope_c)(t, &n->integers, &n->addresses, &n->counts, &n->datatypes, &n->combiner);
}

void F_(type_get_envelope)(const Fint *datatype, Fint *num_integers, Fint *num_addresses, Fint *num_datatypes,
                           Fint *combiner, Fint *ierror)
{
    struct numbers n;
    int e = numbers_of(Datatype_in(*datatype), &n);
    if (e == MPI_SUCCESS) {
        *num_addresses = n.addresses + addresses_of(&n);
        *num_integers = n.integers + n.counts - addresses_of(&n);
        *num_datatypes = n.datatypes;
        *combiner = n.combiner;
    }
    done(ierror, e);
}
NAMES(type_get_envelope, TYPE_GET_ENVELOPE)
ALSO_F08(type_get_envelope)

void F_(type_get_contents)(const Fint *datatype, const Fint *max_integers, const Fint *max_addresses,
                           const Fint *max_datatypes, Fint *integers, MPI_Aint *addresses, Fint *datatypes,
                           Fint *ierror)
{
    ROOM(room);
    struct numbers n;
    MPI_Datatype type = Datatype_in(*datatype);
    int e = numbers_of(type, &n);
    if (e == MPI_SUCCESS) {
        MPI_Count far = addresses_of(&n), near = n.counts - far, before = integers_before(&n);
        int *c_integers = (int *)allocate(&room, n.integers, sizeof *c_integers);
        MPI_Aint *c_addresses = (MPI_Aint *)allocate(&room, n.addresses, sizeof *c_addresses);
        MPI_Count *c_counts = (MPI_Count *)allocate(&room, n.counts, sizeof *c_counts);
        MPI_Datatype *c_datatypes = (MPI_Datatype *)allocate(&room, n.datatypes, sizeof *c_datatypes);
        MPI_Count fits = *max_integers >= n.integers + near && *max_addresses >= n.addresses + far ? n.counts : -1;
        e = room.full ? no_room()
                      : C_(Type_get_contents_c)(type, n.integers, n.addresses, fits, *max_datatypes, c_integers,
                                                c_addresses, c_counts, c_datatypes);
        for (MPI_Count i = 0; e == MPI_SUCCESS && i < n.integers; i++)
            integers[i < before ? i : i + near] = c_integers[i];
        for (MPI_Count i = 0; e == MPI_SUCCESS && i < near; i++) integers[before + i] = c_counts[i];
        for (MPI_Count i = 0; e == MPI_SUCCESS && i < n.addresses; i++) addresses[i] = c_addresses[i];
        for (MPI_Count i = 0; e == MPI_SUCCESS && i < far; i++) addresses[n.addresses + i] = c_counts[near + i];
        if (e == MPI_SUCCESS) Datatypes_out(datatypes, c_datatypes, n.datatypes);
    }
    leave(&room);
    done(ierror, e);
}
NAMES(type_get_contents, TYPE_GET_CONTENTS)
ALSO_F08(type_get_contents)
