#include <camkes.h>

static int total;

int values_add(int value)
{
    camkes_work(CAMKES_MS(2));
    total += value;
    log_append(total);
    return total;
}
