#include <camkes.h>
#include <camkes/test.h>

static void receive(char character)
{
    registers->data = (uint32_t)character;
    registers->status = STATUS_RECEIVED;
    interrupt_emit();
}

int run(void)
{
    camkes_case("an empty queue");
    camkes_expect_equal(input_get(), -1);

    camkes_case("characters come in the order of their arrival");
    receive('a');
    receive('b');
    camkes_expect_equal(registers->status, 0);
    camkes_expect_equal(input_get(), 'a');
    camkes_expect_equal(input_get(), 'b');
    camkes_expect_equal(input_get(), -1);

    camkes_case("a full queue loses characters, and counts them");
    for (int i = 0; i < 10; i++) {
        receive('x');
    }
    camkes_expect_equal(input_lost(), 2);
    return 0;
}
