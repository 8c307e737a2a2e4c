#include <mocks.h>
void pre_init(void)
{
    mock_values_get_call(.times = 4);
}
