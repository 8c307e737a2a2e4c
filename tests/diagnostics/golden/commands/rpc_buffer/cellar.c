#include <camkes.h>

void shelves_keep(const char *text)
{
    (void)text;
}
