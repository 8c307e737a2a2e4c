#include <camkes.h>

int p_f(int x)
{
    return nxet_f(x) + y;
}
