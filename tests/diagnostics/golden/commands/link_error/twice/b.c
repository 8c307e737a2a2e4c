int twice(int x);

int twice(int x)
{
    return x + x;
}
