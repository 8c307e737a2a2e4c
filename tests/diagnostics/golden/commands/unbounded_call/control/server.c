#include <camkes.h>

int p_f(int x)
{
    return next_f(x);
}
