#include <camkes.h>

int run(void)
{
    while (camkes_next_job()) {
        camkes_work(CAMKES_MS(work_ms));
        (void)store_add(1);
    }
    return 0;
}
