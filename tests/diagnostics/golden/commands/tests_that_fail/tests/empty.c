#include <mocks.h>
