#include <camkes.h>

int other(int x)
{
    return x;
}
