// libmpi_cxx.so.40: what programs need of the C++ bindings of MPI-2 that were compiled with the headers of Open MPI 4.
//
// In these headers all classes are inline, so that a program brings their tables of virtual functions itself (vtables),
// and exports them. This library has what the headers only declare: the constants, which are objects of these classes,
// a few functions, and what C calls in order to call C++. An object is a pointer to its class's table and a handle, a
// status instead of a handle for MPI::Status; nothing here knows the classes any better.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>

struct MPI_Status {
    int source, tag, error, marks;
    size_t bytes;
};
typedef struct ompi_communicator_t *MPI_Comm;
typedef struct ompi_datatype_t *MPI_Datatype;
typedef struct ompi_errhandler_t *MPI_Errhandler;
typedef struct ompi_win_t *MPI_Win;
typedef struct ompi_file_t *MPI_File;

// The tables of the program's classes: none is here if the program hides its symbols. Two words stand before the
// functions.
extern "C" void *const table_Op[] __asm__("_ZTVN3MPI2OpE") __attribute__((weak));
extern "C" void *const table_Win[] __asm__("_ZTVN3MPI3WinE") __attribute__((weak));
extern "C" void *const table_Info[] __asm__("_ZTVN3MPI4InfoE") __attribute__((weak));
extern "C" void *const table_Group[] __asm__("_ZTVN3MPI5GroupE") __attribute__((weak));
extern "C" void *const table_Status[] __asm__("_ZTVN3MPI6StatusE") __attribute__((weak));
extern "C" void *const table_Request[] __asm__("_ZTVN3MPI7RequestE") __attribute__((weak));
extern "C" void *const table_Datatype[] __asm__("_ZTVN3MPI8DatatypeE") __attribute__((weak));
extern "C" void *const table_Errhandler[] __asm__("_ZTVN3MPI10ErrhandlerE") __attribute__((weak));
extern "C" void *const table_Cartcomm[] __asm__("_ZTVN3MPI8CartcommE") __attribute__((weak));
extern "C" void *const table_Graphcomm[] __asm__("_ZTVN3MPI9GraphcommE") __attribute__((weak));
extern "C" void *const table_Intracomm[] __asm__("_ZTVN3MPI9IntracommE") __attribute__((weak));
extern "C" void *const table_Intercomm[] __asm__("_ZTVN3MPI9IntercommE") __attribute__((weak));
extern "C" void *const table_Comm[] __asm__("_ZTVN3MPI4CommE") __attribute__((weak));
static void hidden()
{
    fprintf(stderr, "libimpi: the program hides the classes of MPI's C++ bindings, so that their constants have no "
                    "functions; compile it without -fvisibility=hidden\n");
    abort();
}
template <size_t... i> static void *const *nothing(std::index_sequence<i...>)
{
    static void *const table[] = {((void)i, reinterpret_cast<void *>(hidden))...};
    return table;
}
static void *const *functions(void *const *table)
{
    return table ? table + 2 : nothing(std::make_index_sequence<128>());
}
struct Object {
    void *const *table;
    void *handle;
};
#define OBJECT(name, handle) {functions(table_##name), (void *)(handle)}

extern "C" {
int MPI_Comm_create_errhandler(void (*)(MPI_Comm *, int *, ...), MPI_Errhandler *);
int MPI_Win_create_errhandler(void (*)(MPI_Win *, int *, ...), MPI_Errhandler *);
int MPI_File_create_errhandler(void (*)(MPI_File *, int *, ...), MPI_Errhandler *);
int MPI_Comm_create_keyval(int (*)(MPI_Comm, int, void *, void *, void *, int *),
                           int (*)(MPI_Comm, int, void *, void *), int *, void *);
int MPI_Type_create_keyval(int (*)(MPI_Datatype, int, void *, void *, void *, int *),
                           int (*)(MPI_Datatype, int, void *, void *), int *, void *);
int MPI_Win_create_keyval(int (*)(MPI_Win, int, void *, void *, void *, int *),
                          int (*)(MPI_Win, int, void *, void *), int *, void *);
int MPI_Comm_test_inter(MPI_Comm, int *);
int MPI_Topo_test(MPI_Comm, int *);
int MPI_Type_free(MPI_Datatype *);
int MPI_Win_free(MPI_Win *);
int MPI_File_close(MPI_File *);
int MPI_Register_datarep(const char *, int (*)(void *, MPI_Datatype, int, void *, long long, void *),
                         int (*)(void *, MPI_Datatype, int, void *, long long, void *),
                         int (*)(MPI_Datatype, ptrdiff_t *, void *), void *);
int MPI_Error_class(int, int *);
int MPI_Error_string(int, char *, int *);
}
enum { ERR_NO_MEM = 39, ERR_OTHER = 16, CART = 1, GRAPH = 2, MAX_ERROR_STRING = 256 };

#define CONSTANTS(X) \
    X(Datatype, CHAR, ompi_mpi_char) X(Datatype, SHORT, ompi_mpi_short) X(Datatype, INT, ompi_mpi_int) \
    X(Datatype, LONG, ompi_mpi_long) X(Datatype, SIGNED_CHAR, ompi_mpi_signed_char) \
    X(Datatype, UNSIGNED_CHAR, ompi_mpi_unsigned_char) X(Datatype, UNSIGNED_SHORT, ompi_mpi_unsigned_short) \
    X(Datatype, UNSIGNED, ompi_mpi_unsigned) X(Datatype, UNSIGNED_LONG, ompi_mpi_unsigned_long) \
    X(Datatype, FLOAT, ompi_mpi_float) X(Datatype, DOUBLE, ompi_mpi_double) \
    X(Datatype, LONG_DOUBLE, ompi_mpi_long_double) X(Datatype, BYTE, ompi_mpi_byte) \
    X(Datatype, PACKED, ompi_mpi_packed) X(Datatype, WCHAR, ompi_mpi_wchar) \
    X(Datatype, FLOAT_INT, ompi_mpi_float_int) X(Datatype, DOUBLE_INT, ompi_mpi_double_int) \
    X(Datatype, LONG_INT, ompi_mpi_long_int) X(Datatype, TWOINT, ompi_mpi_2int) \
    X(Datatype, SHORT_INT, ompi_mpi_short_int) X(Datatype, LONG_DOUBLE_INT, ompi_mpi_longdbl_int) \
    X(Datatype, INTEGER, ompi_mpi_integer) X(Datatype, REAL, ompi_mpi_real) \
    X(Datatype, DOUBLE_PRECISION, ompi_mpi_dblprec) X(Datatype, F_COMPLEX, ompi_mpi_cplex) \
    X(Datatype, LOGICAL, ompi_mpi_logical) X(Datatype, CHARACTER, ompi_mpi_character) \
    X(Datatype, TWOREAL, ompi_mpi_2real) X(Datatype, TWODOUBLE_PRECISION, ompi_mpi_2dblprec) \
    X(Datatype, TWOINTEGER, ompi_mpi_2integer) X(Datatype, INTEGER1, ompi_mpi_integer1) \
    X(Datatype, INTEGER2, ompi_mpi_integer2) X(Datatype, INTEGER4, ompi_mpi_integer4) \
    X(Datatype, REAL2, ompi_mpi_datatype_null) X(Datatype, REAL4, ompi_mpi_real4) X(Datatype, REAL8, ompi_mpi_real8) \
    X(Datatype, LONG_LONG, ompi_mpi_long_long_int) X(Datatype, LONG_LONG_INT, ompi_mpi_long_long_int) \
    X(Datatype, UNSIGNED_LONG_LONG, ompi_mpi_unsigned_long_long) X(Datatype, BOOL, ompi_mpi_cxx_bool) \
    X(Datatype, COMPLEX, ompi_mpi_cxx_cplex) X(Datatype, DOUBLE_COMPLEX, ompi_mpi_cxx_dblcplex) \
    X(Datatype, F_DOUBLE_COMPLEX, ompi_mpi_dblcplex) X(Datatype, LONG_DOUBLE_COMPLEX, ompi_mpi_cxx_ldblcplex) \
    X(Datatype, DATATYPE_NULL, ompi_mpi_datatype_null) X(Op, MAX, ompi_mpi_op_max) X(Op, MIN, ompi_mpi_op_min) \
    X(Op, SUM, ompi_mpi_op_sum) X(Op, PROD, ompi_mpi_op_prod) X(Op, MAXLOC, ompi_mpi_op_maxloc) \
    X(Op, MINLOC, ompi_mpi_op_minloc) X(Op, BAND, ompi_mpi_op_band) X(Op, BOR, ompi_mpi_op_bor) \
    X(Op, BXOR, ompi_mpi_op_bxor) X(Op, LAND, ompi_mpi_op_land) X(Op, LOR, ompi_mpi_op_lor) \
    X(Op, LXOR, ompi_mpi_op_lxor) X(Op, REPLACE, ompi_mpi_op_replace) X(Op, OP_NULL, ompi_mpi_op_null) \
    X(Intracomm, COMM_WORLD, ompi_mpi_comm_world) X(Intracomm, COMM_SELF, ompi_mpi_comm_self) \
    X(Group, GROUP_NULL, ompi_mpi_group_null) X(Group, GROUP_EMPTY, ompi_mpi_group_empty) \
    X(Win, WIN_NULL, ompi_mpi_win_null) X(Info, INFO_NULL, ompi_mpi_info_null) \
    X(Request, REQUEST_NULL, ompi_request_null) X(Errhandler, ERRHANDLER_NULL, ompi_mpi_errhandler_null) \
    X(Errhandler, ERRORS_ARE_FATAL, ompi_mpi_errors_are_fatal) \
    X(Errhandler, ERRORS_RETURN, ompi_mpi_errors_return) \
    X(Errhandler, ERRORS_THROW_EXCEPTIONS, ompi_mpi_errors_are_fatal)
#define X(class_name, name, symbol) extern "C" char symbol[];
CONSTANTS(X)
#undef X
extern "C" char ompi_mpi_comm_null[], ompi_mpi_file_null[];

namespace MPI {

// Classes whose tables are here, because the headers leave one of their functions to the library.
class Comm_Null {
public:
    MPI_Comm comm = reinterpret_cast<MPI_Comm>(ompi_mpi_comm_null);
    virtual ~Comm_Null() {}
};
class File {
public:
    MPI_File file = reinterpret_cast<MPI_File>(ompi_mpi_file_null);
    virtual ~File() {}
    virtual void Close();
    static class Errhandler Create_errhandler(void (*)(File &, int *, ...));
};
void File::Close() { MPI_File_close(&file); }

class Exception {
public:
    int code;
    char *text;
    int error_class;
    explicit Exception(int error) : code(error), text(new char[MAX_ERROR_STRING]), error_class(-1)
    {
        int length;
        MPI_Error_class(code, &error_class);
        MPI_Error_string(code, text, &length);
    }
    Exception(const Exception &other) : Exception(other.code) {}
    ~Exception() { delete[] text; }
};

// The rest of what is declared in the headers' classes. They have virtual functions there, and the pointer to these in
// the same place.
class Errhandler {
public:
    Object object;
    explicit Errhandler(MPI_Errhandler handle) : object OBJECT(Errhandler, handle) {}
    Errhandler(const Errhandler &other) : object(other.object) {}
};
class Datatype {
public:
    Object object;
    void Free();
    static int do_create_keyval(int (*)(MPI_Datatype, int, void *, void *, void *, int *),
                                int (*)(MPI_Datatype, int, void *, void *),
                                int (*)(const Datatype &, int, void *, const void *, void *, bool &),
                                int (*)(Datatype &, int, void *, void *), void *, int &);
};
class Win {
public:
    Object object;
    void Free();
    static Errhandler Create_errhandler(void (*)(Win &, int *, ...));
    static int do_create_keyval(int (*)(MPI_Win, int, void *, void *, void *, int *),
                                int (*)(MPI_Win, int, void *, void *),
                                int (*)(const Win &, int, void *, void *, void *, bool &),
                                int (*)(Win &, int, void *, void *), void *, int &);
};
class Comm {
public:
    Object object;
    Comm();
    explicit Comm(const Comm_Null &);
    static Errhandler Create_errhandler(void (*)(Comm &, int *, ...));
    static int do_create_keyval(int (*)(MPI_Comm, int, void *, void *, void *, int *),
                                int (*)(MPI_Comm, int, void *, void *),
                                int (*)(const Comm &, int, void *, void *, void *, bool &),
                                int (*)(Comm &, int, void *, void *), void *, int &);
};

void Datatype::Free() { MPI_Type_free(reinterpret_cast<MPI_Datatype *>(&object.handle)); }
void Win::Free() { MPI_Win_free(reinterpret_cast<MPI_Win *>(&object.handle)); }
Comm::Comm() : object OBJECT(Comm, ompi_mpi_comm_null) {}
Comm::Comm(const Comm_Null &other) : object OBJECT(Comm, other.comm) {}

#define X(class_name, name, symbol) Object name OBJECT(class_name, symbol);
CONSTANTS(X)
#undef X
Comm_Null COMM_NULL;
File FILE_NULL;
extern void *const BOTTOM = nullptr, *const IN_PLACE = reinterpret_cast<void *>(1);
const char **ARGV_NULL;
const char ***ARGVS_NULL;
int mpi_errno;

// A communicator, as the class that it is of.
static Object object_of(MPI_Comm comm)
{
    int inter = 0, topology = 0;
    if (!MPI_Comm_test_inter(comm, &inter) && inter) return OBJECT(Intercomm, comm);
    if (MPI_Topo_test(comm, &topology)) topology = 0;
    if (topology == CART) return OBJECT(Cartcomm, comm);
    if (topology == GRAPH) return OBJECT(Graphcomm, comm);
    return OBJECT(Intracomm, comm);
}
static Object object_of(MPI_Datatype type) { return OBJECT(Datatype, type); }
static Object object_of(MPI_Win win) { return OBJECT(Win, win); }
static File object_of(MPI_File handle)
{
    File file;
    file.file = handle;
    return file;
}

// Error handlers: C hands on no value of the program's, so that there is a function of ours for each of the program's.
template <class Class, class Handle> struct Handlers {
    enum { LIMIT = 64 };
    typedef void Function(Class &, int *, ...);
    typedef void Handler(Handle *, int *, ...);
    static Function *list[LIMIT];
    template <size_t i> static void call(Handle *on, int *code, ...)
    {
        auto object = object_of(*on);
        list[i](reinterpret_cast<Class &>(object), code);
    }
    template <size_t... i> static Handler *handler(int n, std::index_sequence<i...>)
    {
        static Handler *const all[] = {call<i>...};
        return all[n];
    }
    static Handler *of(Function *f)
    {
        for (int i = 0; i < LIMIT; i++) {
            Function *there = nullptr;
            if (__atomic_compare_exchange_n(&list[i], &there, f, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) || there == f)
                return handler(i, std::make_index_sequence<LIMIT>());
        }
        fprintf(stderr, "libimpi: a program has at most %d error handlers in C++\n", int(LIMIT));
        abort();
    }
};
template <class Class, class Handle> typename Handlers<Class, Handle>::Function *Handlers<Class, Handle>::list[LIMIT];

#define CREATE(Class, Handle) \
    Errhandler Class::Create_errhandler(void (*f)(Class &, int *, ...)) \
    { \
        MPI_Errhandler made = reinterpret_cast<MPI_Errhandler>(ompi_mpi_errhandler_null); \
        Handle##_create_errhandler(Handlers<Class, Handle>::of(f), &made); \
        return Errhandler(made); \
    }
CREATE(Comm, MPI_Comm)
CREATE(Win, MPI_Win)
CREATE(File, MPI_File)

// Attributes: for each function either that of C or that of C++ is given. The record lives as long as the process.
#define KEYVAL(Class, Handle, create, In) \
    struct Key_##Class { \
        int (*c_copy)(Handle, int, void *, void *, void *, int *); \
        int (*c_delete)(Handle, int, void *, void *); \
        int (*copy)(const Class &, int, void *, In, void *, bool &); \
        int (*remove)(Class &, int, void *, void *); \
        void *extra; \
        static int call_copy(Handle from, int keyval, void *record, void *in, void *out, int *flag) \
        { \
            auto key = static_cast<Key_##Class *>(record); \
            if (key->c_copy) return key->c_copy(from, keyval, key->extra, in, out, flag); \
            auto object = object_of(from); \
            bool copied = false; \
            int code = key->copy(reinterpret_cast<Class &>(object), keyval, key->extra, in, out, copied); \
            *flag = copied; \
            return code; \
        } \
        static int call_delete(Handle from, int keyval, void *value, void *record) \
        { \
            auto key = static_cast<Key_##Class *>(record); \
            if (key->c_delete) return key->c_delete(from, keyval, value, key->extra); \
            auto object = object_of(from); \
            return key->remove(reinterpret_cast<Class &>(object), keyval, value, key->extra); \
        } \
    }; \
    int Class::do_create_keyval(int (*c_copy)(Handle, int, void *, void *, void *, int *), \
                                int (*c_delete)(Handle, int, void *, void *), \
                                int (*copy)(const Class &, int, void *, In, void *, bool &), \
                                int (*remove)(Class &, int, void *, void *), void *extra, int &keyval) \
    { \
        auto key = static_cast<Key_##Class *>(malloc(sizeof(Key_##Class))); \
        if (!key) return ERR_NO_MEM; \
        *key = {c_copy, c_delete, copy, remove, extra}; \
        int code = create(c_copy || copy ? Key_##Class::call_copy : nullptr, \
                          c_delete || remove ? Key_##Class::call_delete : nullptr, &keyval, key); \
        if (code) free(key); \
        return code; \
    }
KEYVAL(Comm, MPI_Comm, MPI_Comm_create_keyval, void *)
KEYVAL(Datatype, MPI_Datatype, MPI_Type_create_keyval, const void *)
KEYVAL(Win, MPI_Win, MPI_Win_create_keyval, void *)

// Data representations: each conversion is a function of C or of C++, or there is none. The record lives as long as the
// process.
typedef int C_conversion(void *, MPI_Datatype, int, void *, long long, void *);
typedef void Conversion(void *, Datatype &, int, void *, long long, void *);
typedef void Extent(const Datatype &, ptrdiff_t &, void *);
struct Direction {
    C_conversion *c;
    Conversion *cxx;
    Direction(C_conversion *f) : c(f), cxx(nullptr) {}
    Direction(Conversion *f) : c(nullptr), cxx(f) {}
    bool any() const { return c || cxx; }
    int convert(void *user, MPI_Datatype type, int n, void *file, long long position, void *extra) const
    {
        if (c) return c(user, type, n, file, position, extra);
        auto object = object_of(type);
        cxx(user, reinterpret_cast<Datatype &>(object), n, file, position, extra);
        return 0;
    }
};
struct Representation {
    Direction read, write;
    Extent *extent;
    void *extra;
    static int call_read(void *user, MPI_Datatype type, int n, void *file, long long position, void *record)
    {
        auto all = static_cast<Representation *>(record);
        return all->read.convert(user, type, n, file, position, all->extra);
    }
    static int call_write(void *user, MPI_Datatype type, int n, void *file, long long position, void *record)
    {
        auto all = static_cast<Representation *>(record);
        return all->write.convert(user, type, n, file, position, all->extra);
    }
    static int call_extent(MPI_Datatype type, ptrdiff_t *extent, void *record)
    {
        auto all = static_cast<Representation *>(record);
        auto object = object_of(type);
        all->extent(reinterpret_cast<Datatype &>(object), *extent, all->extra);
        return 0;
    }
};
static void register_datarep(const char *name, Direction read, Direction write, Extent *extent, void *extra)
{
    auto all = new Representation{read, write, extent, extra};
    if (MPI_Register_datarep(name, read.any() ? Representation::call_read : nullptr,
                             write.any() ? Representation::call_write : nullptr,
                             extent ? Representation::call_extent : nullptr, all))
        delete all;
}
#define REGISTER(Read, Write) \
    void Register_datarep(const char *name, Read *read, Write *write, Extent *extent, void *extra) \
    { \
        register_datarep(name, read, write, extent, extra); \
    }
REGISTER(Conversion, Conversion)
REGISTER(C_conversion, Conversion)
REGISTER(Conversion, C_conversion)
REGISTER(C_conversion, C_conversion)

// The headers' MPI::Init calls it after MPI_Init. Errors of communicators can be thrown from then on.
static void throw_exception(MPI_Comm *, int *code, ...) { throw Exception(*code); }
void InitializeIntercepts()
{
    MPI_Errhandler made;
    if (!MPI_Comm_create_errhandler(throw_exception, &made)) ERRORS_THROW_EXCEPTIONS.handle = made;
}

} // namespace MPI

// What the headers hand to C.
struct Status_object {
    void *const *table;
    MPI_Status status;
};
struct Grequest_record {
    void *extra;
    int (*query)(void *, Status_object &);
    int (*free)(void *);
    int (*cancel)(void *, bool);
};
extern "C" {
void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *length, MPI_Datatype *type, void (*f)())
{
    Object object = MPI::object_of(*type);
    reinterpret_cast<void (*)(const void *, void *, int, const Object &)>(f)(in, inout, *length, object);
}
int ompi_mpi_cxx_grequest_query_fn_intercept(void *state, MPI_Status *status)
{
    auto record = static_cast<Grequest_record *>(state);
    Status_object object = {functions(table_Status), *status};
    int code = record->query(record->extra, object);
    *status = object.status;
    return code;
}
int ompi_mpi_cxx_grequest_free_fn_intercept(void *state)
{
    auto record = static_cast<Grequest_record *>(state);
    int code = record->free(record->extra);
    delete record;
    return code;
}
int ompi_mpi_cxx_grequest_cancel_fn_intercept(void *state, int complete)
{
    auto record = static_cast<Grequest_record *>(state);
    return record->cancel(record->extra, complete != 0);
}
}
