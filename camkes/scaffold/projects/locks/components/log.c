#include <camkes.h>
#include <stdio.h>

void records_append(int value)
{
    camkes_work(CAMKES_US(100));
    printf("total: %d\n", value);
}
