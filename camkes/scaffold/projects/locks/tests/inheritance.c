#include <camkes/test.h>
#include <mocks.h>

int run(void)
{
    camkes_case("the holder of the lock inherits the priority of the task that waits");
    /* 1 ms of its own work, 1 ms until `low` ends its request, 2 ms of its own request */
    camkes_expect_response("high", CAMKES_MS(4));
    camkes_work(CAMKES_MS(1));

    camkes_case("each request is recorded once");
    camkes_expect_equal(mock_records_append.calls, 2);
    camkes_expect_equal(mock_records_append.call[0].value, 1);
    camkes_expect_equal(mock_records_append.call[1].value, 2);
    return 0;
}
