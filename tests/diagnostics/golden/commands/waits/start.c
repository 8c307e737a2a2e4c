#include <camkes.h>
int run(void)
{
    p_go();
    return 0;
}
