void s_put(void) {}
