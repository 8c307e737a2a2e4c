#include <camkes.h>

int run(void)
{
    for (const char *next = "hello\n"; *next != '\0'; next++) {
        camkes_work(CAMKES_MS(1));
        registers->data = (uint32_t)*next;
        registers->status = STATUS_RECEIVED;
        interrupt_emit();
    }
    return 0;
}
