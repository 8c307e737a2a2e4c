#include <mocks.h>

static const int list[] = {0, 1};
static const char *const names[] = {"y"};

void pre_init(void)
{
    mock_values_get_call(.a = 3, .within = CAMKES_MS(2));
    mock_values_get_expect(.result = "other", .b = 1.5, .list = list, .list_sz = 2, .names = names, .names_sz = 1);
    mock_values_get_call(.a = 0);
    mock_values_get_expect(.b = 0.5, .list = list, .list_sz = 1, .names = names, .names_sz = 2);
}
