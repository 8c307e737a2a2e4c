#include <camkes.h>
#include <camkes/test.h>
#include <mocks.h>

void pre_init(void)
{
    mock_io_get_answer(.result = 2);
}

int run(void)
{
    camkes_expect_fault("user");
    camkes_expect_blocked("nobody");
    camkes_case("arguments");
    camkes_expect_equal(mock_io_get.call[0].a, 4);
    camkes_expect(mock_io_get.calls > 7);
    camkes_expect_text("a", "b");
    camkes_require(mock_io_get.calls == 0);
    return 0;
}
