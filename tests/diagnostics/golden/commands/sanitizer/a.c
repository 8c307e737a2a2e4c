#include <camkes.h>
#include <limits.h>

static int next(volatile int n)
{
    return n + 1;
}

int run(void)
{
    volatile int sum = next(INT_MAX);
    return sum > 0;
}
