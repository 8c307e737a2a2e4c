#include <camkes.h>
int run(void)
{
    return 0;
}
void p_take(void)
{
    if (items_wait()) {
        camkes_work(1);
    }
}
