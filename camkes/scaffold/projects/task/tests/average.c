#include <camkes/test.h>
#include <mocks.h>

void pre_init(void)
{
    mock_reading_read_answer(.result = 10, .times = 4);
    mock_reading_read_answer(.result = 60, .work = CAMKES_MS(3));
    mock_reading_read_usually(.result = 20);
}

int run(void)
{
    camkes_case("readings are taken on time");
    camkes_expect_response("controller", CAMKES_MS(5));
    camkes_work(CAMKES_MS(45)); /* the controller has six jobs meanwhile */

    camkes_case("each job reads its channel once");
    camkes_expect_equal(mock_reading_read.calls, 6);
    camkes_expect_equal(mock_reading_read.call[0].channel, 3);
    return 0;
}
