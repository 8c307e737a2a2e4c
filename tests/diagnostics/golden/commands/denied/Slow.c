#include <camkes.h>
int run(void)
{
    for (int i = 0; i < 3 && camkes_next_job(); i++) {
        camkes_work(CAMKES_MS(3));
    }
    return 4;
}
