#include <camkes.h>

int run(void)
{
    return p_f(1) != 2;
}
