#include <camkes.h>
#include <stdlib.h>
#include <string.h>
char *values_get(int a, double *b, size_t *list_sz, int **list, size_t *names_sz, char ***names)
{
    camkes_work(CAMKES_MS(a));
    *b = 0.5;
    *list_sz = 2;
    *list = calloc(2, sizeof(int));
    *names_sz = 1;
    *names = malloc(sizeof(char *));
    (*names)[0] = strdup("x");
    return strdup("text");
}
