static int deep(volatile int *above)
{
    volatile int room[1000] = {*above};
    return deep(room) + room[0];
}

int run(void)
{
    int start = 0;
    return deep(&start);
}
