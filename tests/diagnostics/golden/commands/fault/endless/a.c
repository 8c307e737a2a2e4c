int run(void)
{
    for (volatile int i = 0;; i++) {
    }
}
