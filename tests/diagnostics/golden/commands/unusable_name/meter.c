#include <camkes.h>

int run(void)
{
    int count = 1;
    return 0;
}
