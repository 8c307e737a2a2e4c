#include <camkes.h>
#include <camkes/test.h>

int run(void)
{
    camkes_expect_response("slow", CAMKES_MS(3));
    camkes_expect_response("test", CAMKES_MS(3));
    camkes_work(CAMKES_MS(1));
    return 0;
}
