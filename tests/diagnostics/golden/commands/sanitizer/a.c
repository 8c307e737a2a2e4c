#include <camkes.h>
#include <limits.h>

static int next(volatile int n)
{
    return n + 1;
}

int run(void)
{
    next(INT_MAX);
    return 0;
}
