#include <camkes.h>
#include <stdio.h>

int run(void)
{
    for (int character = input_get(); character >= 0; character = input_get()) {
        putchar(character);
    }
    return 0;
}
