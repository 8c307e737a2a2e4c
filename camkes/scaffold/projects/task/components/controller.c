#include <camkes.h>
#include <stdio.h>

int run(void)
{
    int sum = 0;
    int count = 0;
    while (camkes_next_job()) {
        camkes_work(CAMKES_MS(1));
        sum += sensor_read(channel);
        count++;
        if (count == 5) {
            printf("average: %d\n", sum / count);
            sum = 0;
            count = 0;
        }
    }
    return 0;
}
