#include <camkes.h>
int run(void)
{
    return io_get(3);
}
