void e_f(void)
{
}
