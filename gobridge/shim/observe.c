/* Calls that the library itself looks at, if a user has asked for that. The twin of each function (seen_X) tells of the
 * call and makes it once more. A call that a callback of the program makes meanwhile is another one. */
#include "z_exports.h"

void impi_before(struct impi_seen *seen, int call, uint64_t *args)
{
    if (impi_mode & IMPI_THREADS) impi_thread_enters(call);
    seen->call = call;
    seen->args = args;
    if (impi_recorder.on) impi_record_before(seen);
    impi_call.again = 1;
}

int impi_after(struct impi_seen *seen, int code)
{
    if (impi_recorder.on) impi_record_after(seen, code);
    if (seen && impi_mode & IMPI_THREADS) impi_thread_leaves();
    return code;
}
