#include <camkes.h>
#include <camkes/test.h>

int run(void)
{
    camkes_case("a name");
    char *text = greeter_greet("seL4");
    camkes_expect_text(text, "hello, seL4");
    free(text);

    camkes_case("an empty name");
    text = greeter_greet("");
    camkes_expect_text(text, "hello, ");
    free(text);
    return 0;
}
