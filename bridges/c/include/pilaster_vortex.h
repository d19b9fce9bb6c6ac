/* Vortex logs: columns in a file that every reader of Vortex opens, written row by row. See pilaster.h for results, memory and threads. */
#ifndef PILASTER_VORTEX_H
#define PILASTER_VORTEX_H

#include "pilaster.h"

#ifdef __cplusplus
extern "C" {
#endif

#if UINTPTR_MAX > 0xffffffffu
#define PILASTER_VORTEX_WORDS 36
#define PILASTER_VORTEX_ENTRY_WORDS 6
#else
#define PILASTER_VORTEX_WORDS 26
#define PILASTER_VORTEX_ENTRY_WORDS 3
#endif

/* A log. */
typedef struct pilaster_vortex {
    uint64_t state[PILASTER_VORTEX_WORDS];
} pilaster_vortex;

/* Memory for a column, and for its cell of a row. */
typedef struct pilaster_vortex_entry {
    uint64_t state[PILASTER_VORTEX_ENTRY_WORDS];
} pilaster_vortex_entry;
typedef struct pilaster_vortex_place {
    uint64_t state[3];
} pilaster_vortex_place;

/* Types of columns. */
enum {
    PILASTER_VORTEX_BOOL = 0,
    PILASTER_VORTEX_I8 = 1,
    PILASTER_VORTEX_I16 = 2,
    PILASTER_VORTEX_I32 = 3,
    PILASTER_VORTEX_I64 = 4,
    PILASTER_VORTEX_U8 = 5,
    PILASTER_VORTEX_U16 = 6,
    PILASTER_VORTEX_U32 = 7,
    PILASTER_VORTEX_U64 = 8,
    PILASTER_VORTEX_F32 = 9,
    PILASTER_VORTEX_F64 = 10,
    PILASTER_VORTEX_UTF8 = 11,
    PILASTER_VORTEX_BINARY = 12,
    PILASTER_VORTEX_DATE_DAYS = 13,
    PILASTER_VORTEX_DATE_MS = 14,
    PILASTER_VORTEX_TIME_S = 15,
    PILASTER_VORTEX_TIME_MS = 16,
    PILASTER_VORTEX_TIME_US = 17,
    PILASTER_VORTEX_TIME_NS = 18,
    PILASTER_VORTEX_TIMESTAMP_S = 19,
    PILASTER_VORTEX_TIMESTAMP_MS = 20,
    PILASTER_VORTEX_TIMESTAMP_US = 21,
    PILASTER_VORTEX_TIMESTAMP_NS = 22
};

/* A column. */
typedef struct pilaster_vortex_field {
    pilaster_text name; /* ASCII. */
    pilaster_text zone; /* Of a timestamp: a name such as UTC, or nothing. */
    uint32_t type;
    uint32_t nullable;  /* Not 0: values can be missing. */
} pilaster_vortex_field;

/* Kinds of cells. */
enum {
    PILASTER_CELL_NULL = 0,
    PILASTER_CELL_BOOL = 1,   /* word: 0 or 1 */
    PILASTER_CELL_INT = 2,    /* word: an int64_t, for integers, dates and times of every width that has the value */
    PILASTER_CELL_UINT = 3,   /* word: a uint64_t, as above */
    PILASTER_CELL_FLOAT = 4,  /* word: the bits of a float */
    PILASTER_CELL_DOUBLE = 5, /* word: the bits of a double */
    PILASTER_CELL_TEXT = 6,   /* text: UTF-8 */
    PILASTER_CELL_BYTES = 7   /* text: bytes */
};

/* A value. */
typedef struct pilaster_vortex_cell {
    uint32_t kind;
    uint32_t zero;
    uint64_t word;
    pilaster_text text;
} pilaster_vortex_cell;

/* Makes the bytes so far survive a power cut. Returns 0, or a negative number. */
typedef int32_t (*pilaster_sync)(void *context);

/* What a log is written with. It is read by the call only; what it points to is lent. */
typedef struct pilaster_vortex_config {
    pilaster_put put;
    pilaster_sync sync; /* Called after each row group and checkpoint; may be NULL. */
    void *context;
    const pilaster_vortex_field *fields;
    pilaster_vortex_entry *entries; /* As many as fields. */
    pilaster_vortex_place *places;  /* As many as fields. */
    uint32_t field_count;
    uint32_t row_count;             /* Of a row group, rounded up to a multiple of 8; multiples of 1,024 are packed best. */
    pilaster_memory rows;           /* For the values of a row group, and its texts. */
    uint32_t *groups;               /* For each row group 3 words, and one more per column. */
    size_t group_words;
    uint32_t every; /* Row groups between checkpoints; 0: only by pilaster_vortex_checkpoint; UINT32_MAX: after 1, 2, 4, 8 ... */
    uint32_t zero;
} pilaster_vortex_config;

/* Where a log is resumed. */
typedef struct pilaster_vortex_found {
    uint64_t at;   /* The first byte that `put` receives belongs here. */
    uint64_t rows; /* In front of it. */
    uint32_t full; /* Not 0: no memory for another row group; the log is complete. */
    uint32_t zero;
} pilaster_vortex_found;

/* How far a log is. */
typedef struct pilaster_vortex_counts {
    uint64_t groups;
    uint64_t pending; /* Rows that are not in a row group yet. */
} pilaster_vortex_counts;

/* Begins a file: writes a checkpoint without rows. */
int32_t pilaster_vortex_init(pilaster_vortex *log, const pilaster_vortex_config *config, pilaster_error *error);

/* Continues the log in the `len` bytes at `bytes`, which has the same columns; they are read by the call only. */
int32_t pilaster_vortex_resume(pilaster_vortex *log, const pilaster_vortex_config *config, const uint8_t *bytes, size_t len,
                               pilaster_vortex_found *found, pilaster_error *error);

/*
 * Adds a row, a cell per column. A full row group is written. PILASTER_MISUSE: at is the column whose cell has another type. No text lies in the state
 * or in memory that is lent to it: the call compares only `cells` with `places`.
 */
int32_t pilaster_vortex_row(pilaster_vortex *log, const pilaster_vortex_cell *cells, size_t count, pilaster_error *error);

/* Writes the rows as a row group; with a checkpoint the file is valid for every reader. */
int32_t pilaster_vortex_flush(pilaster_vortex *log, pilaster_error *error);
int32_t pilaster_vortex_checkpoint(pilaster_vortex *log, pilaster_error *error);

/* Writes the rows and a checkpoint. The state is not initialised then, whatever happens. */
int32_t pilaster_vortex_finish(pilaster_vortex *log, pilaster_error *error);

int32_t pilaster_vortex_count(pilaster_vortex *log, pilaster_vortex_counts *counts, pilaster_error *error);

#ifdef __cplusplus
}
#endif

#endif
