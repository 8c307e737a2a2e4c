#include <camkes.h>

int (*next)(int);

int run(void)
{
    return next(p_f(1));
}
