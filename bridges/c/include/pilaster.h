/*
 * pilaster for C and C++: columnar files on microcontrollers, without a heap.
 *
 * Results. A function returns 0, or why it failed: a positive code below, or the negative number that a function of the caller
 * returned. `error` may be NULL; else it receives the details.
 *
 * Memory. A state (`pilaster_ds_writer`, for instance) lies where the caller wants, for example in `.bss`, and must be zero, or a
 * state of the same type, before its first use. It has no destructor. A call that begins a state (init, resume, mount, begin) and fails
 * leaves none, also where one was. A copy of a state is no second one: only one of both is used. Memory that is lent to a state is not touched
 * by the caller, and not freed, until the state is finished or is not used again; different states have different memory. Memory
 * that is lent overlaps neither other memory of the call nor the lists of types or columns, or the log, that the call reads, nor the place for
 * what a log ends with: PILASTER_ARGUMENT. Records, cells, texts and other results lie outside of states and of memory that is lent, too: no
 * call compares them, unless it says so.
 *
 * Threads. A state is used by one thread at a time. A call from an interrupt, or from a function of the caller that the library has
 * called, while another call uses or begins the state is refused with PILASTER_STATE. A function of the caller returns: neither longjmp nor an
 * exception of C++ leaves it.
 *
 * C99 and C++17. No function allocates, is recursive, or aborts.
 */
#ifndef PILASTER_H
#define PILASTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Codes: what failed. `what`, `at` and `need` of pilaster_error say where, and what would do. */
enum {
    PILASTER_OK = 0,
    PILASTER_TRUNCATED = 1,    /* The input ends inside of a field. need: its size in bytes. */
    PILASTER_TRAILING = 2,     /* Bytes after the end. need: their number. */
    PILASTER_INVALID = 3,      /* A value that the format does not allow. need: the value. */
    PILASTER_UNSUPPORTED = 4,  /* An unknown number, or one that this build leaves out. need: the number. */
    PILASTER_WRONG_TYPE = 5,   /* The bytes do not have the type that was asked for. need: the type found. */
    PILASTER_CHECKSUM = 6,     /* A checksum differs. need: the stored one. */
    PILASTER_OVERFLOW = 7,     /* A number out of range. */
    PILASTER_LIMIT = 8,        /* A limit was reached. need: the limit. */
    PILASTER_NO_ROOM = 9,      /* Memory is full, or too small. need: the size in bytes that would do; of pilaster_ds_finish, the number of slots. */
    PILASTER_OUT_OF_RANGE = 10, /* at: an index; need: the number of items. */
    PILASTER_UTF8 = 11,        /* A text is not UTF-8. */
    PILASTER_LOSSY = 12,       /* A value that the encoding cannot hold. */
    PILASTER_MISUSE = 13,      /* A call in the wrong order, or with values that do not fit each other. */
    PILASTER_MISSING = 14,     /* Bytes of a file that were not provided. */
    PILASTER_UNKNOWN = 15,     /* No column, table or field of an error has this name or number. at, need: the first 12 bytes of a name. */
    PILASTER_ARGUMENT = 32,    /* at: the number of the argument, from 1: NULL, unaligned, too short (need: bytes), overlapping. */
    PILASTER_STATE = 33,       /* at: the argument whose state is not initialised, is finished, or is in use. */
    PILASTER_CALLER = 34       /* A function of the caller returned the positive number `need`. */
};

/* Details of a failure. */
typedef struct pilaster_error {
    int32_t code;  /* What the function returned. */
    uint32_t what; /* The field, as numbered by the library: pilaster_what has its name. */
    uint64_t at;   /* An offset, a row, or the number of an argument. */
    uint64_t need; /* See the code. */
} pilaster_error;

/* Memory that is lent. `at` may be NULL if `len` is 0. */
typedef struct pilaster_memory {
    uint8_t *at;
    size_t len;
} pilaster_memory;

/* Bytes that are only read. `at` may be NULL if `len` is 0. */
typedef struct pilaster_text {
    const char *at;
    size_t len;
} pilaster_text;

/*
 * Stores `len` bytes after those of the call before. Returns 0, or a negative number if they could not be stored. After that, nobody knows how
 * many of them are in the file: the writer refuses every call with PILASTER_MISUSE, and its rows stay in their extents. A sink that can try
 * again does so itself. Else the log is resumed from what was stored, and the extents are flushed to the resumed writer.
 */
typedef int32_t (*pilaster_put)(void *context, const uint8_t *bytes, size_t len);

/* ---- DataSeries: typed records in extents that check themselves; what was flushed survives a power cut ---- */

#if UINTPTR_MAX > 0xffffffffu
#define PILASTER_DS_WRITER_WORDS 20
#define PILASTER_DS_EXTENT_WORDS 26
#define PILASTER_DS_ENTRY_WORDS 4
#else
#define PILASTER_DS_WRITER_WORDS 14
#define PILASTER_DS_EXTENT_WORDS 14
#define PILASTER_DS_ENTRY_WORDS 2
#endif

/* The writer of a file. */
typedef struct pilaster_ds_writer {
    uint64_t state[PILASTER_DS_WRITER_WORDS];
} pilaster_ds_writer;

/* Rows of one type that are not yet written. */
typedef struct pilaster_ds_extent {
    uint64_t state[PILASTER_DS_EXTENT_WORDS];
} pilaster_ds_extent;

/* Memory for one type of a file. */
typedef struct pilaster_ds_entry {
    uint64_t state[PILASTER_DS_ENTRY_WORDS];
} pilaster_ds_entry;

/* A field of a record. pilaster_record.h computes it; 24 bytes. */
typedef struct pilaster_ds_field {
    double multiplier;  /* 1 / scale */
    uint32_t at;        /* Offset in the record. */
    uint32_t size;      /* In bytes; 0 for a bool. */
    uint16_t null_at;   /* Offset of the byte with the null bit. */
    uint16_t relative;  /* Number of the base, from 1; 0 if there is none. */
    uint8_t kind;       /* bool, byte, int32, int64, double, variable32, fixedwidth: 0 to 6. */
    uint8_t mask;       /* Of a bool. */
    uint8_t null_mask;  /* 0 if the field is not nullable. */
    uint8_t flags;      /* 1: unique strings; 2: scaled. */
} pilaster_ds_field;

/* A type of records. pilaster_record.h makes it, as a constant. */
typedef struct pilaster_ds_type {
    pilaster_text name; /* ASCII. */
    pilaster_text xml;  /* The description that the file has. */
    const pilaster_ds_field *fields;
    uint32_t field_count;
    uint32_t record_len; /* In bytes. */
} pilaster_ds_type;

/* Does not compile where a structure has another size than the library asserts. The states are asserted there: src/lib.rs. */
typedef char pilaster_sizes_[(sizeof(pilaster_ds_field) == 24u && sizeof(pilaster_error) == 24u && sizeof(pilaster_memory) == 2u * sizeof(size_t)) ? 1 : -1];

/* Compression of extents. */
enum {
    PILASTER_DS_STORED = 0,
    PILASTER_DS_LZF = 4,
    PILASTER_DS_SNAPPY = 5,
    PILASTER_DS_LZ4 = 6
};

/* Length in bytes of the table of a compressor. */
#define PILASTER_DS_TABLE_LEN 513

/* What a file is written with. It is read by the call only; what it points to is lent, but for `types`. */
typedef struct pilaster_ds_config {
    pilaster_put put;
    void *context;
    const pilaster_ds_type *const *types; /* In ascending order of their names. */
    pilaster_ds_entry *entries;           /* As many as types. */
    uint32_t type_count;
    uint32_t compression;
    pilaster_memory slots;  /* For the index: 8 bytes for each extent. Without enough, finish fails (need: the number of extents, not of
                               bytes), and all rows are readable. */
    pilaster_memory table;  /* PILASTER_DS_TABLE_LEN bytes; none if stored. */
    pilaster_memory packed; /* For compressed extents: half of the largest one, or more; none if stored. What is larger when it is compressed is
                               stored uncompressed, without an error. */
} pilaster_ds_config;

/* Memory of an extent. */
typedef struct pilaster_ds_memory {
    pilaster_memory rows; /* As many records as an extent is to have. */
    pilaster_memory pool; /* For strings: each takes its length plus 4 bytes, rounded up to a multiple of 8. */
    uint32_t *unique;     /* For unique strings: twice their number; may be NULL. */
    size_t unique_count;
} pilaster_ds_memory;

/* What a log ends with. */
enum {
    PILASTER_DS_REST_NOTHING = 0,
    PILASTER_DS_REST_ERASED = 1, /* 0xff to the end: it can be written. */
    PILASTER_DS_REST_INDEX = 2,  /* The file was finished; its index is written again. */
    PILASTER_DS_REST_DAMAGE = 3  /* Cut off, or erase, what follows `at`. A cut leaves less than one extent. If there is more, a byte has changed
                                    and intact extents may follow: first copy the log; `pilaster recover` finds them. */
};

/* Where a log is resumed. */
typedef struct pilaster_ds_found {
    uint64_t at;   /* The first byte that `put` receives belongs here. */
    uint64_t rows; /* In front of it. */
    uint32_t rest;
    uint32_t zero;
} pilaster_ds_found;

/* How far a file is. */
typedef struct pilaster_ds_counts {
    uint64_t bytes;
    uint64_t extents;
} pilaster_ds_counts;

/* How full an extent is. */
typedef struct pilaster_ds_extent_counts {
    uint64_t rows;
    uint64_t room; /* Further rows that fit. */
} pilaster_ds_extent_counts;

/* Begins a file. Nothing is written before the first extent. */
int32_t pilaster_ds_init(pilaster_ds_writer *writer, const pilaster_ds_config *config, pilaster_error *error);

/*
 * Continues the log in the `len` bytes at `log`, which have the same types; they are read by the call only. It continues at the end of the
 * extent before the first damage.
 *
 * The head of a log is 40 bytes and the descriptions of its types; only with it can rows be read. No log can be continued without it:
 *     PILASTER_TRUNCATED  cut in the head, or no bytes: there are no rows yet. Begin the file again: pilaster_ds_init.
 *     PILASTER_MISUSE     the log has other types, as another firmware writes. Keep the file, and begin another.
 *     PILASTER_INVALID, PILASTER_CHECKSUM, and PILASTER_TRUNCATED for a log that is longer than its head: a byte of the first 40, or of the
 *                         descriptions, has changed. Keep the file for `pilaster recover`, and begin another.
 * examples/sensors/card.c does all of it.
 */
int32_t pilaster_ds_resume(pilaster_ds_writer *writer, const pilaster_ds_config *config, const uint8_t *log, size_t len,
                           pilaster_ds_found *found, pilaster_error *error);

/*
 * Creates an extent without rows. It refuses with PILASTER_MISUSE a field that the format does not allow, such as a scale of 0, with
 * PILASTER_UNSUPPORTED one that this build leaves out (at: its number), and, as pilaster_ds_init does, with PILASTER_INVALID a text with " < or & (at: an
 * offset in the description). pilaster_ds_check_record finds the other errors.
 */
int32_t pilaster_ds_extent_init(pilaster_ds_extent *extent, const pilaster_ds_type *type, const pilaster_ds_memory *memory,
                                pilaster_error *error);

/*
 * Adds a record, as the function that PILASTER_RECORD defines does. If it does not fit, the extent is flushed first. `texts`: one for
 * each text field, in their order, and no more. After an error the row is not in the extent; the other rows stay. Neither the record nor `texts`
 * or their bytes lie in the states or in memory that is lent to them: the call does not compare them. The extent is the one of the record's type:
 * a record of another type is refused with PILASTER_MISUSE if its length or its number of texts differs (need: the length), and is not noticed else.
 */
int32_t pilaster_ds_row(pilaster_ds_writer *writer, pilaster_ds_extent *extent, const uint8_t *record, size_t len,
                        const pilaster_text *texts, size_t text_count, pilaster_error *error);

/* Writes the rows of the extent, if it has any. After an error they stay in the extent. */
int32_t pilaster_ds_flush(pilaster_ds_writer *writer, pilaster_ds_extent *extent, pilaster_error *error);

/* Writes the index. Rows that were not flushed are not in the file. The state is not initialised then, whatever happens. */
int32_t pilaster_ds_finish(pilaster_ds_writer *writer, pilaster_error *error);

int32_t pilaster_ds_count(pilaster_ds_writer *writer, pilaster_ds_counts *counts, pilaster_error *error);
int32_t pilaster_ds_extent_count(pilaster_ds_extent *extent, pilaster_ds_extent_counts *counts, pilaster_error *error);

/*
 * Checks every byte of a file in memory, finished or not; not for small chips (35 KB of code). `memory`: for types, index and one extent
 * (PILASTER_NO_ROOM tells how much more). *finished is 1 if the file has its index.
 */
int32_t pilaster_ds_verify(const uint8_t *file, size_t len, uint8_t *memory, size_t size, uint32_t *finished,
                           pilaster_error *error);

/*
 * Checks a type of records with the code of a reader: whether files with it can be opened, and whether its description says the same as its
 * table. For a test on the host, or a debug build (some 20 KB of code): call it once for each type. `memory`: 4 KiB do for most types
 * (PILASTER_NO_ROOM tells how much more). PILASTER_INVALID: at is an offset in the description. PILASTER_MISUSE: at is the number of a field.
 */
int32_t pilaster_ds_check_record(const pilaster_ds_type *type, uint8_t *memory, size_t size, pilaster_error *error);

/* The name of a field of pilaster_error, a text without a zero at its end; not for small chips. PILASTER_UNKNOWN: there is none. */
int32_t pilaster_what(uint32_t what, pilaster_text *name, pilaster_error *error);

/* ---- A log of records in NOR flash: a ring of segments, which survives a power cut at any byte ---- */

#if UINTPTR_MAX > 0xffffffffu
#define PILASTER_RING_WORDS 40
#else
#define PILASTER_RING_WORDS 28
#endif

/* A log in flash. */
typedef struct pilaster_ring {
    uint64_t state[PILASTER_RING_WORDS];
} pilaster_ring;

/* A position in a log. */
typedef struct pilaster_ring_cursor {
    uint64_t state[3];
} pilaster_ring_cursor;

/* Flash. Each function returns 0, or a negative number if it failed; after that the log must be mounted again. */
typedef struct pilaster_flash {
    void *context;
    int32_t (*read)(void *context, uint32_t at, uint8_t *bytes, size_t len);
    int32_t (*write)(void *context, uint32_t at, const uint8_t *bytes, size_t len); /* Whole words, which are erased. */
    int32_t (*erase)(void *context, uint32_t from, uint32_t to);                    /* Whole units. */
    uint32_t capacity;   /* In bytes. */
    uint32_t erase_size; /* Of a unit, in bytes. */
    uint32_t word;       /* In bytes: divides 4, or the size that the library was built for (word-8, word-16, word-32). */
    uint32_t zero;
} pilaster_flash;

/* What a log is kept in. It is read by the call only; what it points to is lent, but for `types`. */
typedef struct pilaster_ring_config {
    pilaster_flash flash;
    uint32_t start;    /* Offset of the first segment: the start of a unit. */
    uint32_t segment;  /* Its size in bytes: whole units. Each segment has the descriptions of the types. */
    uint32_t segments; /* At least 2. */
    uint32_t type_count;
    const pilaster_ds_type *const *types; /* In ascending order of their names. */
    pilaster_ds_entry *entries;           /* As many as types. */
    uint32_t compression;
    uint32_t zero;
    pilaster_memory table;  /* As in pilaster_ds_config. */
    pilaster_memory packed; /* As in pilaster_ds_config. */
    pilaster_memory page;   /* Gathers the bytes of a write: one word or more. */
} pilaster_ring_config;

/* How full a ring is. */
typedef struct pilaster_ring_counts {
    uint32_t segments; /* That hold the log. */
    uint32_t begun;    /* Since the log exists: divided by the number of segments, the erasures of each unit. */
} pilaster_ring_counts;

/*
 * Finds the log, and where it continues. Writes nothing. PILASTER_MISUSE: `start` or `segment` is not a multiple of `erase_size` (need), or, if need
 * is 0, there are fewer than two segments, or they end after `capacity`. PILASTER_ARGUMENT with need not 0: a function of the flash is NULL, or `word`
 * does not divide need.
 */
int32_t pilaster_ring_mount(pilaster_ring *ring, const pilaster_ring_config *config, pilaster_error *error);

/*
 * Adds a record, as pilaster_ds_row does, which is also true of where the record and the texts lie. PILASTER_NO_ROOM: the log is full; give up
 * the oldest segment, and log the row again.
 */
int32_t pilaster_ring_row(pilaster_ring *ring, pilaster_ds_extent *extent, const uint8_t *record, size_t len,
                          const pilaster_text *texts, size_t text_count, pilaster_error *error);

/*
 * Writes the rows of the extent, if it has any. They are in the flash then. After an error they stay in the extent; after one of the flash, mount the
 * log again, and flush the extent to it, without pilaster_ds_extent_init: the rows are in the log twice if the flash stored them nevertheless.
 */
int32_t pilaster_ring_flush(pilaster_ring *ring, pilaster_ds_extent *extent, pilaster_error *error);

/* Gives up the oldest segment: it is erased when its space is needed. */
int32_t pilaster_ring_give_up(pilaster_ring *ring, pilaster_error *error);

int32_t pilaster_ring_count(pilaster_ring *ring, pilaster_ring_counts *counts, pilaster_error *error);

/* Places a cursor before the oldest extent. */
int32_t pilaster_ring_begin(pilaster_ring_cursor *cursor, pilaster_error *error);

/* Reads the next intact extent to `to`; *len is 0 after the newest. A later call finds extents that were flushed meanwhile. */
int32_t pilaster_ring_next(pilaster_ring *ring, pilaster_ring_cursor *cursor, uint8_t *to, size_t room, size_t *len,
                           pilaster_error *error);

/* ---- Blosc chunks, as bcolz, Zarr and HDF5 have them ---- */

/* What a chunk says of itself. */
typedef struct pilaster_blosc_info {
    uint64_t decoded; /* Size of the decoded bytes. */
    uint64_t scratch; /* Size of the memory that decoding takes. */
    uint64_t item;    /* Size of an item. */
} pilaster_blosc_info;

int32_t pilaster_blosc_examine(const uint8_t *chunk, size_t len, pilaster_blosc_info *info, pilaster_error *error);

/* Decodes a chunk to `to`. */
int32_t pilaster_blosc_decode(const uint8_t *chunk, size_t len, uint8_t *to, size_t room, uint8_t *scratch, size_t size,
                              pilaster_error *error);

/*
 * The size in bytes of structure `k`, for a test that this header belongs to the library; 0 if there is none, or this build leaves it out.
 * From 0 on: pilaster_error, memory, text; pilaster_ds_writer, ds_extent, ds_entry, ds_field, ds_type, ds_config, ds_memory, ds_found,
 * ds_counts and ds_extent_counts together; from 12 on ring_config, ring, ring_cursor; from 15 on vortex_config, vortex_field, vortex_cell,
 * vortex, vortex_entry, vortex_place; 21: filo.
 */
size_t pilaster_size_of(uint32_t k);

#ifdef __cplusplus
}
#endif

#endif
