/* What the tests share. */
#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

/* The start of an array with UINT32_MAX items of 8 bytes or more: it ends beyond the address space, wherever the program lies. */
#define TOO_HIGH ((void *)(UINTPTR_MAX - 1023u))

/* Stores bytes as a file of a folder. */
static inline void store(const char *folder, const char *name, const void *bytes, size_t len) {
    char path[512];
    CHECK(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
    FILE *const file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, len, file) == len && fclose(file) == 0);
}

/* A number of a sequence that is the same in each run. */
static inline uint32_t random_below(uint32_t below) {
    static uint32_t state = 1u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % below;
}

#endif
