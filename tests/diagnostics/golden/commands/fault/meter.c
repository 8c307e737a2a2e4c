#include <camkes.h>

static int *nowhere;

int run(void)
{
    *nowhere = 1;
    return 0;
}
