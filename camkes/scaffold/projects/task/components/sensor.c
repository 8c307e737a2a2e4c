#include <camkes.h>

int reading_read(int channel)
{
    static int value = 20;
    camkes_work(CAMKES_US(200));
    value += channel + 1;
    return value;
}
