int twice(int x)
{
    return 2 * x;
}

int run(void)
{
    return 0;
}
