#include <camkes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *greeter_greet(const char *name)
{
    const size_t size = sizeof("hello, ") + strlen(name);
    char *text = malloc(size);
    if (text != NULL) {
        snprintf(text, size, "hello, %s", name);
    }
    return text;
}
