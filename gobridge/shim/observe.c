/* Calls that the library itself looks at, if a user has asked for that. The twin of each function (seen_X) tells of the
 * call and makes it once more. A call that a callback of the program makes meanwhile is another one. */
#include "shim.h"

void impi_before(struct impi_seen *seen, int call, const uint64_t *args)
{
    seen->call = call;
    seen->args = args;
    impi_call.again = 1;
}

int impi_after(struct impi_seen *seen, int code)
{
    (void)seen;
    return code;
}
