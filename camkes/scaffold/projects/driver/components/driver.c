#include <camkes.h>
#include <stdbool.h>

#define QUEUE_SIZE 8

static char characters[QUEUE_SIZE];
static unsigned first;
static unsigned count;
static int dropped;

static bool lock(void)
{
    return queue_lock() == 0;
}

static bool unlock(void)
{
    return queue_unlock() == 0;
}

static void put(char character)
{
    if (lock()) {
        if (count < QUEUE_SIZE) {
            characters[(first + count++) % QUEUE_SIZE] = character;
        } else {
            dropped++;
        }
        unlock();
    }
}

int run(void)
{
    for (;;) {
        interrupt_wait();
        while (registers->status & STATUS_RECEIVED) {
            put((char)registers->data);
            registers->status = 0;
        }
    }
}

int input_get(void)
{
    int character = -1;
    if (lock()) {
        if (count > 0) {
            character = characters[first];
            first = (first + 1) % QUEUE_SIZE;
            count--;
        }
        unlock();
    }
    return character;
}

int input_lost(void)
{
    return dropped;
}
