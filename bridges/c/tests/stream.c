/*
 * Sums columns of a file through its Arrow C stream: the number of rows, the sum of an int64 column, and the missing values of a column.
 * `stream FILE element TYPE` and `stream FILE sequential TABLE`: the rows, and the sum of the first column, an int64, up to the end or an error.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pilaster_arrow.h"

static pilaster_text text(const char *from) {
    const pilaster_text to = {from, strlen(from)};
    return to;
}

static int64_t place(const struct ArrowSchema *schema, const char *name, const char *format) {
    for (int64_t k = 0; k < schema->n_children; k++) {
        if (strcmp(schema->children[k]->name, name) == 0) {
            CHECK(strcmp(schema->children[k]->format, format) == 0);
            return k;
        }
    }
    CHECK(false);
    return 0;
}

/* Prints the rows and the sum of a file that does not say everything. */
static void with_hints(const char *path, bool sequential, const char *name) {
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    pilaster_error error = {0, 0u, 0u, 0u};
    const pilaster_hints hints = {text(sequential ? "" : name), text(""), sequential ? 1u : 0u};
    const pilaster_hints wrong = {text("number"), text(""), 0u}, odd = {text(""), text(""), 2u};
    const pilaster_text table = text(sequential ? name : "");
    CHECK(pilaster_open_stream(text(path), table, &stream, &error) != PILASTER_OK && stream.release == NULL);
    CHECK(pilaster_open_stream_with(text(path), table, NULL, &stream, &error) == PILASTER_ARGUMENT && error.at == 3u);
    CHECK(pilaster_open_stream_with(text(path), table, &hints, NULL, &error) == PILASTER_ARGUMENT && error.at == 4u);
    CHECK(pilaster_open_stream_with(text(path), table, &wrong, &stream, &error) == PILASTER_UNSUPPORTED);
    CHECK(pilaster_open_stream_with(text(path), table, &odd, &stream, &error) == PILASTER_ARGUMENT && error.at == 3u);
    CHECK(stream.release == NULL);
    CHECK(pilaster_open_stream_with(text(path), table, &hints, &stream, &error) == PILASTER_OK);
    CHECK(stream.get_schema(&stream, &schema) == 0 && strcmp(schema.children[0]->format, "l") == 0);
    int64_t rows = 0, sum = 0;
    int code = stream.get_next(&stream, &batch);
    while (code == 0 && batch.release != NULL) {
        const struct ArrowArray *const column = batch.children[0];
        const uint8_t *const valid = (const uint8_t *)column->buffers[0];
        for (int64_t row = 0; row < batch.length; row++) {
            const int64_t at = column->offset + row;
            if (valid == NULL || (valid[at / 8] >> (at % 8) & 1) != 0) {
                sum += ((const int64_t *)column->buffers[1])[at];
            }
        }
        rows += batch.length;
        batch.release(&batch);
        code = stream.get_next(&stream, &batch);
    }
    (void)printf("%lld %lld %s\n", (long long)rows, (long long)sum, (code == 0) ? "end" : "torn");
    schema.release(&schema);
    stream.release(&stream);
}

int main(int count, char **arguments) {
    pilaster_error error = {0, 0u, 0u, 0u};
    struct ArrowArrayStream stream;
    if (count == 4) {
        with_hints(arguments[1], strcmp(arguments[2], "sequential") == 0, arguments[3]);
        return 0;
    }
    CHECK(count == 2);
    /* What is wrong. */
    CHECK(pilaster_open_stream(text("no such file"), text(""), &stream, &error) == PILASTER_MISSING && error.need == 2u);
    CHECK(stream.release == NULL);
    CHECK(pilaster_open_stream(text(arguments[1]), text("Air"), NULL, &error) == PILASTER_ARGUMENT && error.at == 3u);
    CHECK(pilaster_open_stream(text(arguments[1]), text("None"), &stream, &error) != PILASTER_OK && stream.release == NULL);
    const pilaster_text no_text = {NULL, 4u};
    CHECK(pilaster_open_stream(no_text, text(""), &stream, &error) == PILASTER_ARGUMENT && error.at == 1u);
    /* A stream that is released before its end. */
    CHECK(pilaster_open_stream(text(arguments[1]), text("Motion"), &stream, NULL) == PILASTER_OK);
    stream.release(&stream);

    struct ArrowSchema schema;
    struct ArrowArray batch;
    int64_t rows = 0, sum = 0, missing = 0;
    CHECK(pilaster_open_stream(text(arguments[1]), text("Air"), &stream, &error) == PILASTER_OK);
    CHECK(stream.get_schema(&stream, &schema) == 0);
    const int64_t time = place(&schema, "time", "l"), humidity = place(&schema, "humidity", "i");
    for (;;) {
        CHECK(stream.get_next(&stream, &batch) == 0);
        if (batch.release == NULL) {
            break;
        }
        const struct ArrowArray *const times = batch.children[time], *const others = batch.children[humidity];
        const int64_t *const values = (const int64_t *)times->buffers[1];
        const uint8_t *const valid = (const uint8_t *)others->buffers[0];
        for (int64_t row = 0; row < batch.length; row++) {
            const int64_t at = others->offset + row;
            sum += values[times->offset + row] - INT64_C(1700000000000);
            missing += (valid == NULL || (valid[at / 8] >> (at % 8) & 1) != 0) ? 0 : 1;
        }
        rows += batch.length;
        batch.release(&batch);
    }
    schema.release(&schema);
    stream.release(&stream);
    CHECK(stream.release == NULL);
    (void)printf("%lld %lld %lld\n", (long long)rows, (long long)sum, (long long)missing);
    return 0;
}
