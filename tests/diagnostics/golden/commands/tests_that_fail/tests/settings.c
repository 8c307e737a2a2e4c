#include <camkes.h>
#include <stdio.h>

int run(void)
{
    printf("hello\nthere\n");
    return 0;
}
