#include <camkes.h>

int meter_vlaue(int sensor);
void camkes_wrok(long ns);

int run(void)
{
    camkes_wrok(1000);
    return meter_vlaue(1) - 1;
}
