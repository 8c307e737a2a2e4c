int p_f(int x)
{
    return x + 1;
}
