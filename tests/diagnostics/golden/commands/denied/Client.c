#include <camkes.h>
int run(void)
{
    p_take();
    return 0;
}
