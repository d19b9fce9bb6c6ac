/*
 * Files of every format as Arrow C streams, for programs of a host: the library with its feature `host`, which has the heap and threads. A
 * file is read into memory as a whole when it is opened.
 *
 *     struct ArrowArrayStream stream;
 *     const pilaster_text path = {"log.ds", 6u}, table = {"Air", 3u};
 *     if (pilaster_open_stream(path, table, &stream, &error) == PILASTER_OK) {
 *         struct ArrowSchema schema;
 *         struct ArrowArray batch;
 *         stream.get_schema(&stream, &schema);
 *         while (stream.get_next(&stream, &batch) == 0 && batch.release != NULL) {
 *             ...
 *             batch.release(&batch);
 *         }
 *         schema.release(&schema);
 *         stream.release(&stream);
 *     }
 *
 * The structures are those of https://arrow.apache.org/docs/format/CStreamInterface.html, so that every library of Arrow takes the stream.
 */
#ifndef PILASTER_ARROW_H
#define PILASTER_ARROW_H

#include "pilaster.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/*
 * Opens a file, or the directory of a bcolz dataset. `path` and `table` are UTF-8; the table is empty if the file has one only. The stream is
 * the caller's, who releases it. After an error its `release` is NULL; PILASTER_MISSING is a file that cannot be read, `need` its errno. What
 * Arrow refuses has the field `column`, and `at` is the number of the column, from 0: PILASTER_UNSUPPORTED is a type that Arrow does not have,
 * PILASTER_INVALID a value, such as a text that is not UTF-8, and PILASTER_LIMIT more items than offsets of Arrow reach (need: the largest). A
 * thread reads the file, and waits while two batches wait; `release` waits for its end.
 */
int32_t pilaster_open_stream(pilaster_text path, pilaster_text table, struct ArrowArrayStream *stream, pilaster_error *error);

/* What a file does not say. A text is empty, and a number 0, if the file says it. */
typedef struct pilaster_hints {
    pilaster_text element; /* A Filo vector: boolean, int, long, float, double, string, utf8, blob, timestamp or datetime. */
    pilaster_text dtype;   /* A Blosc chunk: the type of its items, such as <i8. A Vortex file: the type of its rows, such as {a=i64, b=utf8?}. */
    uint32_t sequential;   /* 1: a DataSeries file without an index, as a power cut leaves it. Where it is torn, the stream has an error. */
} pilaster_hints;

/* Opens a file that does not say everything. A copy of a log in flash is no file: `pilaster recover` makes one of it. */
int32_t pilaster_open_stream_with(pilaster_text path, pilaster_text table, const pilaster_hints *hints, struct ArrowArrayStream *stream,
                                  pilaster_error *error);

#ifdef __cplusplus
}
#endif

#endif
