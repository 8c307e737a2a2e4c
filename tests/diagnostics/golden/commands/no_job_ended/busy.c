#include <camkes.h>

static volatile int on = 1;

int run(void)
{
    while (on) {
        camkes_work(CAMKES_MS(3));
    }
    return 0;
}
