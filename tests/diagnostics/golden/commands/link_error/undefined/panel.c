#include <camkes.h>

void display(int x);

int run(void)
{
    display(meter_value(1));
    return 0;
}
