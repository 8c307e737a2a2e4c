#include <camkes.h>

static volatile int ready;

int run(void)
{
    while (!ready) {
    }
    return 0;
}
