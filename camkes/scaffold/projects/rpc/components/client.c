#include <camkes.h>
#include <stdio.h>
#include <stdlib.h>

int run(void)
{
    char *text = greeter_greet("world");
    printf("client: %s\n", text);
    free(text);
    return 0;
}
