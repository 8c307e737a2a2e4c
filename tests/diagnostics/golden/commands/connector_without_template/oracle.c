#include <camkes.h>

int asked_ask(int number)
{
    return -number;
}
