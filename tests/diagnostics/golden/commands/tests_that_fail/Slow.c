#include <camkes.h>
int run(void)
{
    while (camkes_next_job()) {
        camkes_work(CAMKES_MS(3));
    }
    return 0;
}
