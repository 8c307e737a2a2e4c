#include <camkes.h>

int run(void)
{
    while (1) {
        camkes_work(CAMKES_MS(3));
    }
}
