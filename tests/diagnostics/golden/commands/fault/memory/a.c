int run(void)
{
    *(volatile int *)0x10 = 1;
    return 0;
}
