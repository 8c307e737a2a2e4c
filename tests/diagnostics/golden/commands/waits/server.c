#include <camkes.h>
void p_go(void)
{
    q_go();
}
