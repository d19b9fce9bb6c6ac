/* The input of the wild calls, and what their arguments and results are made of. */
#ifndef WILD_INPUT_H
#define WILD_INPUT_H

#include "check.h"
#include "pilaster.h"

/* The input. */
typedef struct input {
    const uint8_t *at;
    size_t len;
} input;

static input in;

static uint8_t next(void) {
    if (in.len == 0u) {
        return 0u;
    }
    in.len -= 1u;
    in.at += 1;
    return in.at[-1];
}

static uint32_t below(uint32_t limit) {
    return ((uint32_t)next() << 8 | next()) % limit;
}

/* Whether something unusual happens: once in eight times. */
static bool odd(void) {
    return next() % 8u == 7u;
}

typedef struct file {
    uint8_t at[1 << 16];
    size_t len;
    bool failed;
} file;

static file out;

static int32_t put(void *context, const uint8_t *bytes, size_t len) {
    file *const to = (file *)context;
    if (len > sizeof to->at - to->len || next() == 255u) {
        to->failed = true;
        return next() % 2u == 0u ? -5 : 5;
    }
    (void)memcpy(&to->at[to->len], bytes, len);
    to->len += len;
    return 0;
}

static pilaster_error error;
/* Whether all arguments since the file was begun were right. */
static bool honest;

static int32_t checked(int32_t code) {
    CHECK(code == error.code);
    CHECK((code >= 0 && code <= PILASTER_UNKNOWN) || (code >= PILASTER_ARGUMENT && code <= PILASTER_CALLER) || code == -5);
    return code;
}

/* Memory of the caller, or what a wrong call has: `other` is memory of the same call. */
static pilaster_memory memory_of(uint8_t *at, size_t len, uint8_t *other) {
    pilaster_memory memory = {at, len};
    if (!odd()) {
        return memory;
    }
    honest = false;
    switch (below(6u)) {
    case 0: memory.at = NULL; break;
    case 1: memory.len = SIZE_MAX; break;
    case 2: memory.len = SIZE_MAX / 2u + 2u; break;
    case 3: memory.len = 0u; break;
    case 4: memory.len = below((uint32_t)len); break;
    default: memory.at = other; memory.len = 32u; break;
    }
    return memory;
}

#endif
