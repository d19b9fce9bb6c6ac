/*
 * Arrow C streams of hostile files and hostile callers: `stream_hostile FOLDER ROUNDS FILE[:TABLE]...`. Wrong arguments; names and time zones with a NUL; a
 * stream that is asked after its end and after an error; a schema and a stream that are released before a batch; copies of each file with
 * changed bytes, or cut off.
 */
#include "check.h"
#include "pilaster_arrow.h"
#include "pilaster_vortex.h"

static pilaster_error error;

static pilaster_text text(const char *from) {
    const pilaster_text to = {from, strlen(from)};
    return to;
}

/* What lies in the place of a stream before it is opened. */
static struct ArrowArrayStream *wild(struct ArrowArrayStream *stream) {
    (void)memset(stream, 0x5a, sizeof *stream);
    return stream;
}

static void wrong_arguments(const char *path) {
    struct ArrowArrayStream stream;
    const pilaster_text none = text(""), null = {NULL, 4u}, high = {(const char *)(UINTPTR_MAX - 3u), 16u}, huge = {path, SIZE_MAX}, torn = {"\xff\xfe", 2u};
    const pilaster_text wrong[] = {null, high, huge, torn};
    const pilaster_hints hints = {none, none, 0u};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k += 1) {
        const int32_t code = k == 3u ? PILASTER_UTF8 : PILASTER_ARGUMENT;
        pilaster_hints hint = hints;
        CHECK(pilaster_open_stream(wrong[k], none, wild(&stream), &error) == code && error.at == 1u && stream.release == NULL);
        CHECK(pilaster_open_stream(text(path), wrong[k], wild(&stream), &error) == code && error.at == 2u && stream.release == NULL);
        CHECK(pilaster_open_stream(text(path), wrong[k], wild(&stream), NULL) == code && stream.release == NULL);
        CHECK(pilaster_open_stream_with(wrong[k], none, &hints, wild(&stream), &error) == code && error.at == 1u && stream.release == NULL);
        CHECK(pilaster_open_stream_with(text(path), wrong[k], &hints, wild(&stream), &error) == code && error.at == 2u && stream.release == NULL);
        hint.element = wrong[k];
        CHECK(pilaster_open_stream_with(text(path), none, &hint, wild(&stream), &error) == code && error.at == 3u && stream.release == NULL);
        hint = hints;
        hint.dtype = wrong[k];
        CHECK(pilaster_open_stream_with(text(path), none, &hint, wild(&stream), &error) == code && error.at == 3u && stream.release == NULL);
    }
    struct ArrowArrayStream *const odd = (struct ArrowArrayStream *)(void *)((char *)&stream + 1);
    CHECK(pilaster_open_stream(text(path), none, odd, &error) == PILASTER_ARGUMENT && error.at == 3u);
    CHECK(pilaster_open_stream(none, none, wild(&stream), &error) == PILASTER_MISSING && stream.release == NULL);
    const pilaster_text with_nul = {"a\0b", 3u};
    CHECK(pilaster_open_stream(with_nul, none, wild(&stream), &error) == PILASTER_MISSING && stream.release == NULL);
}

/* ---- A NUL in a name or a time zone ---- */

typedef struct bytes {
    uint8_t at[4096];
    size_t len;
} bytes;

static int32_t put(void *context, const uint8_t *from, size_t len) {
    bytes *const to = (bytes *)context;
    CHECK(len <= sizeof to->at - to->len);
    (void)memcpy(&to->at[to->len], from, len);
    to->len += len;
    return 0;
}

static void with_nuls(const char *folder) {
    static const pilaster_vortex_field columns[][2] = {
        {{{"k", 1u}, {NULL, 0u}, PILASTER_VORTEX_I64, 0u}, {{"a\0b", 3u}, {NULL, 0u}, PILASTER_VORTEX_I64, 0u}},
        {{{"k", 1u}, {NULL, 0u}, PILASTER_VORTEX_I64, 0u}, {{"at", 2u}, {"A/Q", 3u}, PILASTER_VORTEX_TIMESTAMP_MS, 0u}},
    };
    static pilaster_vortex log;
    static pilaster_vortex_entry entries[2];
    static pilaster_vortex_place places[2];
    static uint64_t rows[64];
    static uint32_t groups[32];
    for (size_t k = 0; k < 2u; k += 1) {
        static bytes file;
        char path[512];
        struct ArrowArrayStream stream;
        file.len = 0u;
        const pilaster_vortex_config config = {put, NULL, &file, columns[k], entries, places, 2u, 8u, {(uint8_t *)rows, sizeof rows}, groups, 32u, 1u, 0u};
        const pilaster_vortex_cell cells[2] = {{PILASTER_CELL_INT, 0u, 1u, {NULL, 0u}}, {PILASTER_CELL_INT, 0u, 2u, {NULL, 0u}}};
        CHECK(pilaster_vortex_init(&log, &config, &error) == PILASTER_OK);
        CHECK(pilaster_vortex_row(&log, cells, 2u, &error) == PILASTER_OK);
        CHECK(pilaster_vortex_finish(&log, &error) == PILASTER_OK);
        /* The writer refuses such a zone. */
        for (size_t at = 0; at + 3u <= file.len; at += 1) {
            if (memcmp(&file.at[at], "A/Q", 3u) == 0) {
                file.at[at + 1u] = 0u;
            }
        }
        store(folder, "nul.vortex", file.at, file.len);
        CHECK(snprintf(path, sizeof path, "%s/nul.vortex", folder) < (int)sizeof path);
        CHECK(pilaster_open_stream(text(path), text(""), wild(&stream), &error) == PILASTER_UNSUPPORTED && error.at == 1u);
        CHECK(stream.release == NULL);
    }
}

/* ---- Orders of calls ---- */

/* Reads all batches. After the end, and after an error, there is nothing. Returns whether it was the end. */
static bool drain(struct ArrowArrayStream *stream) {
    struct ArrowSchema schema, second;
    struct ArrowArray batch, last;
    CHECK(stream->get_schema(stream, &schema) == 0 && stream->get_schema(stream, &second) == 0);
    second.release(&second);
    (void)memset(&last, 0, sizeof last);
    /* Whether a column has numbers, and so a value for each row. */
    bool numbers[64] = {false};
    CHECK(schema.n_children <= 64);
    for (int64_t k = 0; k < schema.n_children; k += 1) {
        const char *const format = schema.children[k]->format;
        numbers[k] = strlen(format) == 1u && strchr("cCsSiIlLfg", format[0]) != NULL;
    }
    int code = stream->get_next(stream, &batch);
    while (code == 0 && batch.release != NULL) {
        CHECK(batch.n_children == schema.n_children);
        if (last.release != NULL) {
            last.release(&last);
        }
        last = batch;
        code = stream->get_next(stream, &batch);
    }
    const char *const said = stream->get_last_error(stream);
    CHECK((code == 0) == (said == NULL) && (said == NULL || strlen(said) > 0u));
    CHECK(stream->get_next(stream, &batch) == 0 && batch.release == NULL);
    CHECK(stream->get_next(stream, &batch) == 0 && batch.release == NULL);
    /* The last batch outlives the schema and the stream. */
    schema.release(&schema);
    CHECK(schema.release == NULL);
    stream->release(stream);
    CHECK(stream->release == NULL && stream->get_next == NULL);
    if (last.release != NULL) {
        volatile uint8_t sum = 0u;
        for (int64_t k = 0; k < last.n_children; k += 1) {
            const struct ArrowArray *const column = last.children[k];
            if (numbers[k] && column->length > 0) {
                sum = (uint8_t)(sum + *(const uint8_t *)column->buffers[1]);
            }
        }
        last.release(&last);
        CHECK(last.release == NULL);
    }
    return code == 0;
}

static bool open_and_drain(const char *path, const char *table, bool sequential) {
    struct ArrowArrayStream stream;
    const pilaster_hints hints = {text(""), text(""), sequential ? 1u : 0u};
    const int32_t code = pilaster_open_stream_with(text(path), text(table), &hints, wild(&stream), &error);
    CHECK(code == error.code && (code == PILASTER_OK) == (stream.release != NULL));
    return code == PILASTER_OK && drain(&stream);
}

/* FILE or FILE:TABLE. */
static void changed(const char *folder, const char *name, uint32_t count) {
    static uint8_t whole[1 << 16], copy[1 << 16];
    char path[512], at[512];
    const char *const colon = strchr(name, ':');
    const char *const table = colon == NULL ? "" : colon + 1;
    const size_t length = colon == NULL ? strlen(name) : (size_t)(colon - name);
    CHECK(length < sizeof path);
    (void)memcpy(path, name, length);
    path[length] = '\0';
    CHECK(open_and_drain(path, table, false));
    FILE *const from = fopen(path, "rb");
    CHECK(from != NULL);
    const size_t len = fread(whole, 1u, sizeof whole, from);
    CHECK(fclose(from) == 0 && len > 0u && len < sizeof whole);
    CHECK(snprintf(at, sizeof at, "%s/changed", folder) < (int)sizeof at);
    for (uint32_t round = 0; round < count; round += 1u) {
        (void)memcpy(copy, whole, len);
        const size_t kept = random_below(4u) == 0u ? random_below((uint32_t)len) : len;
        for (uint32_t k = random_below(4u); k > 0u; k -= 1u) {
            copy[random_below((uint32_t)len)] = (uint8_t)random_below(256u);
        }
        store(folder, "changed", copy, kept);
        (void)open_and_drain(at, table, random_below(2u) == 0u);
    }
}

int main(int count, char **arguments) {
    CHECK(count >= 4);
    const uint32_t rounds = (uint32_t)strtoul(arguments[2], NULL, 10);
    wrong_arguments(arguments[0]);
    with_nuls(arguments[1]);
    for (int k = 3; k < count; k += 1) {
        changed(arguments[1], arguments[k], rounds);
    }
    return 0;
}
