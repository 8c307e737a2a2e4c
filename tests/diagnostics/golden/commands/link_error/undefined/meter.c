#include <camkes.h>

void reading_reset(void)
{
}
