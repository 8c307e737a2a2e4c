#include <camkes.h>
#include <stdio.h>

void s_put(int value)
{
    printf("put %d\n", value);
}
