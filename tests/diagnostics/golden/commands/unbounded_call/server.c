#include <camkes.h>

int (*chosen)(int);

int p_f(int x)
{
    return chosen(x);
}
