/* Filo vectors: one column as one chunk of bytes, row by row. See pilaster.h for results, memory and threads. */
#ifndef PILASTER_FILO_H
#define PILASTER_FILO_H

#include "pilaster.h"

#ifdef __cplusplus
extern "C" {
#endif

#if UINTPTR_MAX > 0xffffffffu
#define PILASTER_FILO_WORDS 14
#else
#define PILASTER_FILO_WORDS 10
#endif

/*
 * A vector that grows in a page of the caller. `..._init` begins one of a type, `..._push` appends a row and `..._missing` a missing one,
 * and `..._finish` ends it: the chunk is the first *len bytes of the page, which may then be used again, after the chunk was stored. The
 * chunk does not hold its length, nor its type.
 *
 * PILASTER_NO_ROOM: the page is full; finish the vector, and append the row to the next. PILASTER_MISUSE from `..._init`: the page holds
 * no row (need: the size in bytes that would do). PILASTER_LOSSY: a value that the width cannot hold (at: the value, or its difference
 * to line or base; need: the width), or a missing row in a vector that has no mask. A refused row changes nothing.
 */
typedef struct pilaster_filo {
    uint64_t state[PILASTER_FILO_WORDS];
} pilaster_filo;

/* Widths: bits, plus 128 if negative values are possible. Not every type has every width. */
enum {
    PILASTER_FILO_U2 = 2,
    PILASTER_FILO_U4 = 4,
    PILASTER_FILO_U8 = 8,
    PILASTER_FILO_I8 = 136,
    PILASTER_FILO_U16 = 16,
    PILASTER_FILO_I16 = 144,
    PILASTER_FILO_U32 = 32,
    PILASTER_FILO_I32 = 160,
    PILASTER_FILO_64 = 64
};

/* Numbers of a width, with a mask of missing rows if `masked` is not 0. Doubles of less than 64 bits are whole numbers. */
int32_t pilaster_filo_ints_init(pilaster_filo *vector, uint8_t *page, size_t len, uint32_t width, uint32_t masked,
                                pilaster_error *error);
int32_t pilaster_filo_longs_init(pilaster_filo *vector, uint8_t *page, size_t len, uint32_t width, uint32_t masked,
                                 pilaster_error *error);
int32_t pilaster_filo_doubles_init(pilaster_filo *vector, uint8_t *page, size_t len, uint32_t width, uint32_t masked,
                                   pilaster_error *error);
/* Longs near the line base + slope * row, of whose differences `width` is the width. No row can be missing. */
int32_t pilaster_filo_lines_init(pilaster_filo *vector, uint8_t *page, size_t len, int64_t base, int32_t slope, uint32_t width,
                                 pilaster_error *error);
int32_t pilaster_filo_floats_init(pilaster_filo *vector, uint8_t *page, size_t len, pilaster_error *error);
int32_t pilaster_filo_booleans_init(pilaster_filo *vector, uint8_t *page, size_t len, pilaster_error *error);
/* Milliseconds since 1970, near a base. */
int32_t pilaster_filo_timestamps_init(pilaster_filo *vector, uint8_t *page, size_t len, int64_t base, uint32_t width,
                                      pilaster_error *error);
/* The same, with one offset from UTC in milliseconds, a multiple of a quarter of an hour. */
int32_t pilaster_filo_date_times_init(pilaster_filo *vector, uint8_t *page, size_t len, int64_t base, int32_t offset,
                                      uint32_t width, pilaster_error *error);
/* Text (String): space for `rows` rows is reserved. */
int32_t pilaster_filo_strings_init(pilaster_filo *vector, uint8_t *page, size_t len, size_t rows, pilaster_error *error);
/* Text or bytes (UTF8, Blob): space for `rows` rows is reserved. */
int32_t pilaster_filo_utf8s_init(pilaster_filo *vector, uint8_t *page, size_t len, size_t rows, pilaster_error *error);
/* Text or bytes (UTF8, Blob) of at most `longest` bytes each: 1 to 254. */
int32_t pilaster_filo_fixed_init(pilaster_filo *vector, uint8_t *page, size_t len, uint8_t longest, pilaster_error *error);

int32_t pilaster_filo_ints_push(pilaster_filo *vector, int32_t value, pilaster_error *error);
int32_t pilaster_filo_longs_push(pilaster_filo *vector, int64_t value, pilaster_error *error);
int32_t pilaster_filo_doubles_push(pilaster_filo *vector, double value, pilaster_error *error);
int32_t pilaster_filo_lines_push(pilaster_filo *vector, int64_t value, pilaster_error *error);
int32_t pilaster_filo_floats_push(pilaster_filo *vector, float value, pilaster_error *error);
int32_t pilaster_filo_booleans_push(pilaster_filo *vector, uint8_t value, pilaster_error *error);
int32_t pilaster_filo_timestamps_push(pilaster_filo *vector, int64_t millis, pilaster_error *error);
int32_t pilaster_filo_date_times_push(pilaster_filo *vector, int64_t millis, pilaster_error *error);
int32_t pilaster_filo_strings_push(pilaster_filo *vector, const char *text, size_t len, pilaster_error *error);
int32_t pilaster_filo_utf8s_push(pilaster_filo *vector, const char *text, size_t len, pilaster_error *error);
int32_t pilaster_filo_fixed_push(pilaster_filo *vector, const char *text, size_t len, pilaster_error *error);

int32_t pilaster_filo_ints_missing(pilaster_filo *vector, pilaster_error *error);
int32_t pilaster_filo_longs_missing(pilaster_filo *vector, pilaster_error *error);
int32_t pilaster_filo_doubles_missing(pilaster_filo *vector, pilaster_error *error);
int32_t pilaster_filo_lines_missing(pilaster_filo *vector, pilaster_error *error);
int32_t pilaster_filo_floats_missing(pilaster_filo *vector, pilaster_error *error);
int32_t pilaster_filo_booleans_missing(pilaster_filo *vector, pilaster_error *error);
int32_t pilaster_filo_timestamps_missing(pilaster_filo *vector, pilaster_error *error);
int32_t pilaster_filo_date_times_missing(pilaster_filo *vector, pilaster_error *error);
int32_t pilaster_filo_strings_missing(pilaster_filo *vector, pilaster_error *error);
int32_t pilaster_filo_utf8s_missing(pilaster_filo *vector, pilaster_error *error);
int32_t pilaster_filo_fixed_missing(pilaster_filo *vector, pilaster_error *error);

int32_t pilaster_filo_ints_finish(pilaster_filo *vector, size_t *len, pilaster_error *error);
int32_t pilaster_filo_longs_finish(pilaster_filo *vector, size_t *len, pilaster_error *error);
int32_t pilaster_filo_doubles_finish(pilaster_filo *vector, size_t *len, pilaster_error *error);
int32_t pilaster_filo_lines_finish(pilaster_filo *vector, size_t *len, pilaster_error *error);
int32_t pilaster_filo_floats_finish(pilaster_filo *vector, size_t *len, pilaster_error *error);
int32_t pilaster_filo_booleans_finish(pilaster_filo *vector, size_t *len, pilaster_error *error);
int32_t pilaster_filo_timestamps_finish(pilaster_filo *vector, size_t *len, pilaster_error *error);
int32_t pilaster_filo_date_times_finish(pilaster_filo *vector, size_t *len, pilaster_error *error);
int32_t pilaster_filo_strings_finish(pilaster_filo *vector, size_t *len, pilaster_error *error);
int32_t pilaster_filo_utf8s_finish(pilaster_filo *vector, size_t *len, pilaster_error *error);
int32_t pilaster_filo_fixed_finish(pilaster_filo *vector, size_t *len, pilaster_error *error);

#ifdef __cplusplus
}
#endif

#endif
