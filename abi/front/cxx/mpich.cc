// libmpichcxx.so.12: the C++ bindings of MPI-2 for programs that were compiled with the headers of MPICH. What MPICH's
// mpicxx has linked needs a library of this name also if it calls C alone, unless the linker drops what nobody calls.
//
// Operators, error handlers and attributes of C++ go to C as they are. Right afterwards C is told by which function of
// this library it has to call them (../callbacks.c, which serves MPICH's own library of this name, too).
#include <cstddef>
#include <cstdint>
#include <vector>

typedef int F_Comm, F_Datatype, F_Errhandler, F_Group, F_Info, F_Op, F_Request, F_Win;
typedef struct F_File_of *F_File;
struct F_Status {
    int count_low, count_high, source, tag, error;
};
typedef void function();
#include "z_mpich.h"
extern "C" {
void MPII_Op_set_cxx(F_Op, function *);
void MPII_Errhandler_set_cxx(F_Errhandler, function *);
void MPII_Keyval_set_proxy(int, int (*)(function *, int, int, void *, int, void *, void *, int *),
                           int (*)(function *, int, int, int, void *, void *));
}

#include "mpich.h"

namespace MPI {

#define CONSTANTS(X) \
    X(CHAR, MPI_CHAR) X(UNSIGNED_CHAR, MPI_UNSIGNED_CHAR) X(BYTE, MPI_BYTE) X(SHORT, MPI_SHORT) \
    X(UNSIGNED_SHORT, MPI_UNSIGNED_SHORT) X(INT, MPI_INT) X(UNSIGNED, MPI_UNSIGNED) X(LONG, MPI_LONG) \
    X(UNSIGNED_LONG, MPI_UNSIGNED_LONG) X(FLOAT, MPI_FLOAT) X(DOUBLE, MPI_DOUBLE) X(LONG_DOUBLE, MPI_LONG_DOUBLE) \
    X(LONG_LONG_INT, MPI_LONG_LONG_INT) X(LONG_LONG, MPI_LONG_LONG) X(PACKED, MPI_PACKED) X(LB, MPI_LB) \
    X(UB, MPI_UB) X(FLOAT_INT, MPI_FLOAT_INT) X(DOUBLE_INT, MPI_DOUBLE_INT) X(LONG_INT, MPI_LONG_INT) \
    X(SHORT_INT, MPI_SHORT_INT) X(LONG_DOUBLE_INT, MPI_LONG_DOUBLE_INT) X(REAL4, MPI_REAL4) X(REAL8, MPI_REAL8) \
    X(REAL16, MPI_REAL16) X(COMPLEX8, MPI_COMPLEX8) X(COMPLEX16, MPI_COMPLEX16) X(COMPLEX32, MPI_COMPLEX32) \
    X(INTEGER1, MPI_INTEGER1) X(INTEGER2, MPI_INTEGER2) X(INTEGER4, MPI_INTEGER4) X(INTEGER8, MPI_INTEGER8) \
    X(INTEGER16, MPI_INTEGER16) X(WCHAR, MPI_WCHAR) X(SIGNED_CHAR, MPI_SIGNED_CHAR) \
    X(UNSIGNED_LONG_LONG, MPI_UNSIGNED_LONG_LONG) X(TWOINT, MPI_2INT) X(BOOL, MPI_CXX_BOOL) \
    X(COMPLEX, MPI_CXX_FLOAT_COMPLEX) X(DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX) \
    X(LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX) X(DATATYPE_NULL, MPI_DATATYPE_NULL) X(INTEGER, MPI_INTEGER) \
    X(REAL, MPI_REAL) X(DOUBLE_PRECISION, MPI_DOUBLE_PRECISION) X(F_COMPLEX, MPI_COMPLEX) \
    X(F_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX) X(LOGICAL, MPI_LOGICAL) X(CHARACTER, MPI_CHARACTER) X(TWOREAL, MPI_2REAL) \
    X(TWODOUBLE_PRECISION, MPI_2DOUBLE_PRECISION) X(TWOINTEGER, MPI_2INTEGER)
#define X(name, value) Datatype name(value);
CONSTANTS(X)
#undef X

#define OPERATORS(X) \
    X(MAX) X(MIN) X(SUM) X(PROD) X(LAND) X(BAND) X(LOR) X(BOR) X(LXOR) X(BXOR) X(MINLOC) X(MAXLOC) X(REPLACE) X(OP_NULL)
#define X(name) extern const Op name(MPI_##name);
OPERATORS(X)
#undef X

Intracomm COMM_WORLD(MPI_COMM_WORLD), COMM_SELF(MPI_COMM_SELF);
File FILE_NULL;
extern const Nullcomm COMM_NULL{};
extern const Group GROUP_NULL{}, GROUP_EMPTY(MPI_GROUP_EMPTY);
extern const Request REQUEST_NULL{};
extern const Info INFO_NULL{};
extern const Win WIN_NULL{};
extern const Errhandler ERRHANDLER_NULL{}, ERRORS_RETURN(MPI_ERRORS_RETURN), ERRORS_ARE_FATAL(MPI_ERRORS_ARE_FATAL);
Errhandler ERRORS_THROW_EXCEPTIONS(MPI_ERRORS_ARE_FATAL); // until MPI::Init has made it

#define NUMBERS(X) \
    X(BSEND_OVERHEAD) X(KEYVAL_INVALID) X(CART) X(GRAPH) X(IDENT) X(SIMILAR) X(CONGRUENT) X(UNEQUAL) X(PROC_NULL) \
    X(ANY_TAG) X(ANY_SOURCE) X(ROOT) X(TAG_UB) X(IO) X(HOST) X(WTIME_IS_GLOBAL) X(UNIVERSE_SIZE) X(LASTUSEDCODE) \
    X(APPNUM) X(MAX_PROCESSOR_NAME) X(MAX_ERROR_STRING) X(MAX_PORT_NAME) X(MAX_OBJECT_NAME) X(MAX_INFO_VAL) \
    X(MAX_INFO_KEY) X(UNDEFINED) X(LOCK_EXCLUSIVE) X(LOCK_SHARED) X(WIN_BASE) X(WIN_DISP_UNIT) X(WIN_SIZE) X(SUCCESS) \
    X(ERR_BUFFER) X(ERR_COUNT) X(ERR_TYPE) X(ERR_TAG) X(ERR_COMM) X(ERR_RANK) X(ERR_REQUEST) X(ERR_ROOT) X(ERR_GROUP) \
    X(ERR_OP) X(ERR_TOPOLOGY) X(ERR_DIMS) X(ERR_ARG) X(ERR_UNKNOWN) X(ERR_TRUNCATE) X(ERR_OTHER) X(ERR_INTERN) \
    X(ERR_PENDING) X(ERR_IN_STATUS) X(ERR_LASTCODE) X(ERR_FILE) X(ERR_ACCESS) X(ERR_AMODE) X(ERR_BAD_FILE) \
    X(ERR_FILE_EXISTS) X(ERR_FILE_IN_USE) X(ERR_NO_SPACE) X(ERR_NO_SUCH_FILE) X(ERR_IO) X(ERR_READ_ONLY) \
    X(ERR_CONVERSION) X(ERR_DUP_DATAREP) X(ERR_UNSUPPORTED_DATAREP) X(ERR_INFO) X(ERR_INFO_KEY) X(ERR_INFO_VALUE) \
    X(ERR_INFO_NOKEY) X(ERR_NAME) X(ERR_NO_MEM) X(ERR_NOT_SAME) X(ERR_PORT) X(ERR_QUOTA) X(ERR_SERVICE) X(ERR_SPAWN) \
    X(ERR_UNSUPPORTED_OPERATION) X(ERR_WIN) X(ERR_BASE) X(ERR_LOCKTYPE) X(ERR_KEYVAL) X(ERR_RMA_CONFLICT) \
    X(ERR_RMA_SYNC) X(ERR_SIZE) X(ERR_DISP) X(ERR_ASSERT) X(TYPECLASS_REAL) X(TYPECLASS_INTEGER) X(TYPECLASS_COMPLEX) \
    X(SEEK_SET) X(SEEK_END) X(SEEK_CUR) X(DISTRIBUTE_BLOCK) X(DISTRIBUTE_CYCLIC) X(DISTRIBUTE_DFLT_DARG) \
    X(DISTRIBUTE_NONE) X(ORDER_C) X(ORDER_FORTRAN) X(MAX_DATAREP_STRING) X(MODE_APPEND) X(MODE_CREATE) \
    X(MODE_DELETE_ON_CLOSE) X(MODE_EXCL) X(MODE_RDONLY) X(MODE_RDWR) X(MODE_SEQUENTIAL) X(MODE_UNIQUE_OPEN) \
    X(MODE_WRONLY) X(MODE_NOCHECK) X(MODE_NOPRECEDE) X(MODE_NOPUT) X(MODE_NOSTORE) X(MODE_NOSUCCEED) \
    X(COMM_TYPE_SHARED) X(COMBINER_CONTIGUOUS) X(COMBINER_DARRAY) X(COMBINER_DUP) X(COMBINER_F90_COMPLEX) \
    X(COMBINER_F90_INTEGER) X(COMBINER_F90_REAL) X(COMBINER_HINDEXED_INTEGER) X(COMBINER_HINDEXED) \
    X(COMBINER_HVECTOR_INTEGER) X(COMBINER_HVECTOR) X(COMBINER_INDEXED_BLOCK) X(COMBINER_INDEXED) X(COMBINER_NAMED) \
    X(COMBINER_RESIZED) X(COMBINER_STRUCT_INTEGER) X(COMBINER_STRUCT) X(COMBINER_SUBARRAY) X(COMBINER_VECTOR) \
    X(COMBINER_HINDEXED_BLOCK) X(THREAD_FUNNELED) X(THREAD_MULTIPLE) X(THREAD_SERIALIZED) X(THREAD_SINGLE)
#define X(name) extern const int name = MPI_##name;
NUMBERS(X)
#undef X
extern const Offset DISPLACEMENT_CURRENT = MPI_DISPLACEMENT_CURRENT;
extern const char **const ARGV_NULL = nullptr;
extern const char ***const ARGVS_NULL = nullptr;
extern void *const BOTTOM = nullptr, *const IN_PLACE = reinterpret_cast<void *>(MPI_IN_PLACE);

// Functions that need classes which are declared after theirs, and arrays that C wants in another form.
int Datatype::Pack_size(int count, const Comm &comm) const GET(int, MPI_Pack_size(count, h, comm.h, &it))
void Datatype::Pack(const void *in, int count, void *out, int size, int &position, const Comm &comm) const
    DO(MPI_Pack(in, count, h, out, size, &position, comm.h))
void Datatype::Unpack(const void *in, int size, void *out, int count, int &position, const Comm &comm) const
    DO(MPI_Unpack(in, size, &position, out, count, h, comm.h))
Intracomm Intercomm::Merge(bool high) const GET(Intracomm, MPI_Intercomm_merge(h, high, &it.h))
Graphcomm Intracomm::Create_graph(int nodes, const int index[], const int edges[], bool reorder) const
    GET(Graphcomm, MPI_Graph_create(h, nodes, index, edges, reorder, &it.h))

static std::vector<int> numbers(int n, const bool list[])
{
    return list && n > 0 ? std::vector<int>(list, list + n) : std::vector<int>();
}
Cartcomm Intracomm::Create_cart(int n, const int dims[], const bool periods[], bool reorder) const
    GET(Cartcomm, MPI_Cart_create(h, n, dims, numbers(n, periods).data(), reorder, &it.h))
int Cartcomm::Map(int n, const int dims[], const bool periods[]) const
    GET(int, MPI_Cart_map(h, n, dims, numbers(n, periods).data(), &it))
Cartcomm Cartcomm::Sub(const bool remain[]) const
    GET(Cartcomm, MPI_Cart_sub(h, numbers(Get_dim(), remain).data(), &it.h))
void Cartcomm::Get_topo(int n, int dims[], bool periods[], int coords[]) const
{
    std::vector<int> periodic(n > 0 ? n : 0);
    check(MPI_Cart_get(h, n, dims, periodic.data(), coords));
    for (int i = 0; i < n; i++) periods[i] = periodic[i] != 0;
}
void Datatype::Get_contents(int n, int addresses, int types, int list[], Aint places[], Datatype of[]) const
{
    std::vector<F_Datatype> handles(types > 0 ? types : 0, MPI_DATATYPE_NULL);
    check(MPI_Type_get_contents(h, n, addresses, types, list, places, handles.data()));
    for (int i = 0; i < types; i++) of[i].h = handles[i];
}
void Comm::Alltoallw(const void *in, const int in_counts[], const int in_places[], const Datatype in_types[], void *out,
                     const int out_counts[], const int out_places[], const Datatype out_types[]) const
{
    int n = Is_inter() ? 0 : Get_size();
    if (!n) check(MPI_Comm_remote_size(h, &n));
    std::vector<F_Datatype> from, to;
    for (int i = 0; i < n; i++) {
        if (in != IN_PLACE) from.push_back(in_types[i].h);
        to.push_back(out_types[i].h);
    }
    check(MPI_Alltoallw(in, in_counts, in_places, from.data(), out, out_counts, out_places, to.data(), h));
}

// Errors. The headers' functions call Call_errhandler, too, when C has returned an error.
void Comm::Call_errhandler(int error) const { MPI_Comm_call_errhandler(h, error); }
void Win::Call_errhandler(int error) const { MPI_Win_call_errhandler(h, error); }
void File::Call_errhandler(int error) const { MPI_File_call_errhandler(h, error); }
void MPIR_Call_world_errhand(int error) { MPI_Comm_call_errhandler(MPI_COMM_WORLD, error); }
static void check(int error)
{
    if (error) MPIR_Call_world_errhand(error);
}
static void throw_exception(F_Comm *, int *code, ...) { throw Exception(*code); }

// What C is to call: kinds are 0 for communicators, 1 for files, and 2 for windows.
static void call_operator(const void *in, void *inout, int n, F_Datatype type, function *f)
{
    reinterpret_cast<Op::Function *>(f)(in, inout, n, Datatype(type));
}
template <class Class> static void call_handler_of(void *handle, int *code, function *f)
{
    Class object(*static_cast<decltype(Class::h) *>(handle));
    reinterpret_cast<void (*)(Class &, int *, ...)>(f)(object, code);
}

// The communicator of a callback, as the class that it is of.
template <class Call> static int with_comm(F_Comm handle, Call call)
{
    int inter = 0, topology = MPI_UNDEFINED;
    MPI_Comm_test_inter(handle, &inter);
    if (!inter) MPI_Topo_test(handle, &topology);
    Intercomm between(handle);
    Cartcomm cart(handle);
    Graphcomm graph(handle);
    Intracomm within(handle);
    return call(inter                   ? static_cast<Comm &>(between)
                : topology == MPI_CART  ? static_cast<Comm &>(cart)
                : topology == MPI_GRAPH ? static_cast<Comm &>(graph)
                                        : within);
}
static void call_handler(int kind, void *handle, int *code, function *f)
{
    if (kind == 1) return call_handler_of<File>(handle, code, f);
    if (kind == 2) return call_handler_of<Win>(handle, code, f);
    with_comm(*static_cast<F_Comm *>(handle), [&](Comm &comm) {
        reinterpret_cast<void (*)(Comm &, int *, ...)>(f)(comm, code);
        return 0;
    });
}

// Attributes. C hands on the program's function, and the kind of its value, which is always a pointer in C++.
template <class Class, class Call> static int with(int handle, Call call)
{
    Class object(handle);
    return call(object);
}
#define KEYVAL(Class, create, with_object) \
    static int copy_##Class(function *f, int on, int keyval, void *extra, int, void *in, void *out, int *flag) \
    { \
        return with_object(on, [&](Class &object) { \
            bool copied = false; \
            int code = reinterpret_cast<Class::Copy *>(f)(object, keyval, extra, in, out, copied); \
            *flag = copied; \
            return code; \
        }); \
    } \
    static int delete_##Class(function *f, int on, int keyval, int, void *value, void *extra) \
    { \
        return with_object( \
            on, [&](Class &object) { return reinterpret_cast<Class::Delete *>(f)(object, keyval, value, extra); }); \
    } \
    int Class::Create_keyval(Copy *copy, Delete *remove, void *extra) \
    { \
        int keyval = MPI_KEYVAL_INVALID; \
        int error = create(reinterpret_cast<void *>(copy), reinterpret_cast<void *>(remove), &keyval, extra); \
        if (!error) MPII_Keyval_set_proxy(keyval, copy_##Class, delete_##Class); \
        MPI::check(error); \
        return keyval; \
    }
KEYVAL(Comm, MPI_Comm_create_keyval, with_comm)
KEYVAL(Datatype, MPI_Type_create_keyval, with<Datatype>)
KEYVAL(Win, MPI_Win_create_keyval, with<Win>)

#define CREATE_ERRHANDLER(Class) \
    Errhandler Class::Create_errhandler(void (*f)(Class &, int *, ...)) \
    { \
        Errhandler made; \
        int error = MPI_##Class##_create_errhandler(reinterpret_cast<void *>(f), &made.h); \
        if (!error) MPII_Errhandler_set_cxx(made.h, reinterpret_cast<function *>(call_handler)); \
        MPI::check(error); \
        return made; \
    }
CREATE_ERRHANDLER(Comm)
CREATE_ERRHANDLER(Win)
CREATE_ERRHANDLER(File)

void Op::Init(Function *f, bool commute)
{
    int error = MPI_Op_create(reinterpret_cast<void *>(f), commute, &h);
    if (!error) MPII_Op_set_cxx(h, reinterpret_cast<function *>(call_operator));
    check(error);
}

// Generalized requests. The record ends with the request.
struct Grequest_record {
    int (*query)(void *, Status &);
    int (*free)(void *);
    int (*cancel)(void *, bool);
    void *extra;
};
static int call_query(void *state, F_Status *status)
{
    auto record = static_cast<Grequest_record *>(state);
    Status object(*status);
    int code = record->query(record->extra, object);
    *status = object.h;
    return code;
}
static int call_free(void *state)
{
    auto record = static_cast<Grequest_record *>(state);
    int code = record->free(record->extra);
    delete record;
    return code;
}
static int call_cancel(void *state, int complete)
{
    auto record = static_cast<Grequest_record *>(state);
    return record->cancel(record->extra, complete != 0);
}
Grequest Grequest::Start(int (*query)(void *, Status &), int (*free)(void *), int (*cancel)(void *, bool), void *extra)
{
    auto record = new Grequest_record{query, free, cancel, extra};
    int error = MPI_Grequest_start(reinterpret_cast<void *>(call_query), reinterpret_cast<void *>(call_free),
                                   reinterpret_cast<void *>(call_cancel), record, &h);
    if (error) delete record;
    check(error);
    return *this;
}

// Functions of no class. Errors of communicators can be thrown from the start on.
static void started(int error)
{
    check(error);
    check(MPI_Comm_create_errhandler(reinterpret_cast<void *>(throw_exception), &ERRORS_THROW_EXCEPTIONS.h));
}
void Init() { started(MPI_Init(nullptr, nullptr)); }
void Init(int &argc, char **&argv) { started(MPI_Init(&argc, &argv)); }
int Init_thread(int required)
{
    int provided = 0;
    started(MPI_Init_thread(nullptr, nullptr, required, &provided));
    return provided;
}
int Init_thread(int &argc, char **&argv, int required)
{
    int provided = 0;
    started(MPI_Init_thread(&argc, &argv, required, &provided));
    return provided;
}
void Finalize() DO(MPI_Finalize())
bool Is_initialized() ASK(MPI_Initialized(&it))
bool Is_finalized() ASK(MPI_Finalized(&it))
bool Is_thread_main() ASK(MPI_Is_thread_main(&it))
int Query_thread() GET(int, MPI_Query_thread(&it))
double Wtime() { return MPI_Wtime(); }
double Wtick() { return MPI_Wtick(); }
void Pcontrol(int level, ...) { MPI_Pcontrol(level); }
void Get_version(int &version, int &subversion) DO(MPI_Get_version(&version, &subversion))
void Get_processor_name(char *name, int &length) DO(MPI_Get_processor_name(name, &length))
void Compute_dims(int nodes, int n, int dims[]) DO(MPI_Dims_create(nodes, n, dims))
Aint Get_address(const void *place) GET(Aint, MPI_Get_address(place, &it))
void Attach_buffer(void *buffer, int size) DO(MPI_Buffer_attach(buffer, size))
int Detach_buffer(void *&buffer) GET(int, MPI_Buffer_detach(&buffer, &it))
void *Alloc_mem(Aint size, const Info &info) GET(void *, MPI_Alloc_mem(size, info.h, &it))
void Free_mem(void *memory) DO(MPI_Free_mem(memory))
int Add_error_class() GET(int, MPI_Add_error_class(&it))
int Add_error_code(int error_class) GET(int, MPI_Add_error_code(error_class, &it))
void Add_error_string(int code, const char *text) DO(MPI_Add_error_string(code, text))
int Get_error_class(int code) GET(int, MPI_Error_class(code, &it))
void Get_error_string(int code, char *text, int &length) DO(MPI_Error_string(code, text, &length))
void Open_port(const Info &info, char *port) DO(MPI_Open_port(info.h, port))
void Close_port(const char *port) DO(MPI_Close_port(port))
void Publish_name(const char *service, const Info &info, const char *port) DO(MPI_Publish_name(service, info.h, port))
void Unpublish_name(const char *service, const Info &info, const char *port)
    DO(MPI_Unpublish_name(service, info.h, port))
void Lookup_name(const char *service, const Info &info, char *port) DO(MPI_Lookup_name(service, info.h, port))
Intercomm Comm::Get_parent()
{
    Intercomm parent;
    MPI::check(MPI_Comm_get_parent(&parent.h));
    return parent;
}
Intercomm Comm::Join(int fd)
{
    Intercomm other;
    MPI::check(MPI_Comm_join(fd, &other.h));
    return other;
}

// Types that are C++'s alone have names of C++. The headers' MPI::Datatype::Get_name asks for them like ours.
void MPIR_CXX_InitDatatypeNames()
{
    static bool done;
    if (done) return;
    done = true;
    check(MPI_Type_set_name(BOOL.h, "MPI::BOOL"));
    check(MPI_Type_set_name(COMPLEX.h, "MPI::COMPLEX"));
    check(MPI_Type_set_name(DOUBLE_COMPLEX.h, "MPI::DOUBLE_COMPLEX"));
    check(MPI_Type_set_name(LONG_DOUBLE_COMPLEX.h, "MPI::LONG_DOUBLE_COMPLEX"));
}
void Datatype::Get_name(char *name, int &length) const
{
    MPIR_CXX_InitDatatypeNames();
    check(MPI_Type_get_name(h, name, &length));
}

} // namespace MPI
