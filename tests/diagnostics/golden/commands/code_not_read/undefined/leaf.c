#include <camkes.h>

int p_f(int x)
{
    return x;
}
