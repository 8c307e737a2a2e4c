#include <camkes.h>

static int *volatile nowhere;

int run(void)
{
    *nowhere = 1;
    return 0;
}
