/* Filo vectors, Vortex logs, Blosc chunks, and checks of files. */
#include "check.h"
#include "pilaster_filo.h"
#include "pilaster_record.h"
#include "pilaster_vortex.h"

static pilaster_filo vector;
static uint8_t page[512];

static void filo_ints(void) {
    static const uint8_t expected[] = {6, 7, 0, 0, 12, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0x07, 0x1f};
    pilaster_error error;
    size_t len = 0;
    CHECK(pilaster_filo_ints_init(&vector, page, sizeof expected, PILASTER_FILO_U4, 1u, &error) == PILASTER_OK);
    CHECK(pilaster_filo_ints_push(&vector, 7, &error) == PILASTER_OK);
    CHECK(pilaster_filo_ints_missing(&vector, &error) == PILASTER_OK);
    CHECK(pilaster_filo_ints_push(&vector, 16, &error) == PILASTER_LOSSY && error.at == 16u && error.need == PILASTER_FILO_U4);
    CHECK(pilaster_filo_longs_push(&vector, 1, &error) == PILASTER_STATE);
    CHECK(pilaster_filo_ints_push(&vector, 15, &error) == PILASTER_OK);
    CHECK(pilaster_filo_ints_push(&vector, 1, &error) == PILASTER_OK);
    CHECK(pilaster_filo_ints_push(&vector, 1, &error) == PILASTER_NO_ROOM);
    CHECK(pilaster_filo_ints_finish(&vector, &len, &error) == PILASTER_OK);
    CHECK(len == sizeof expected && memcmp(page, expected, len) == 0);
    CHECK(pilaster_filo_ints_push(&vector, 1, &error) == PILASTER_STATE);
    CHECK(pilaster_filo_ints_init(&vector, page, 8u, PILASTER_FILO_U4, 0u, &error) == PILASTER_MISUSE && error.need == 9u);
    CHECK(pilaster_filo_ints_init(&vector, page, 64u, 3u, 0u, &error) == PILASTER_UNSUPPORTED && error.need == 3u);
    CHECK(pilaster_filo_ints_init(&vector, NULL, 64u, PILASTER_FILO_U4, 0u, &error) == PILASTER_ARGUMENT && error.at == 2u);
    CHECK(pilaster_filo_ints_init(&vector, page, 64u, PILASTER_FILO_U4, 0u, &error) == PILASTER_OK);
    CHECK(pilaster_filo_ints_missing(&vector, &error) == PILASTER_LOSSY && error.at == 0u);
    CHECK(pilaster_filo_ints_finish(&vector, NULL, &error) == PILASTER_ARGUMENT && error.at == 2u);
}

/* Begins, pushes three rows and ends; stores the chunk. */
#define THREE(type, init, a, b, c)                                                         \
    do {                                                                                   \
        size_t len = 0;                                                                    \
        CHECK(init == PILASTER_OK);                                                        \
        CHECK(pilaster_filo_##type##_push a == PILASTER_OK);                               \
        CHECK(pilaster_filo_##type##_push b == PILASTER_OK);                               \
        CHECK(pilaster_filo_##type##_push c == PILASTER_OK);                               \
        CHECK(pilaster_filo_##type##_finish(&vector, &len, NULL) == PILASTER_OK && len > 4u); \
        store(folder, #type ".filo", page, len);                                           \
    } while (0)

static void filo_of_every_type(const char *folder) {
    const int64_t noon = INT64_C(1480000000000);
    const size_t size = sizeof page;
    THREE(ints, pilaster_filo_ints_init(&vector, page, size, PILASTER_FILO_I32, 0u, NULL), (&vector, 1, NULL), (&vector, -2, NULL), (&vector, 3, NULL));
    THREE(longs, pilaster_filo_longs_init(&vector, page, size, PILASTER_FILO_64, 0u, NULL), (&vector, noon, NULL), (&vector, -2, NULL), (&vector, 3, NULL));
    THREE(doubles, pilaster_filo_doubles_init(&vector, page, size, PILASTER_FILO_64, 1u, NULL), (&vector, 0.5, NULL), (&vector, -2.0, NULL), (&vector, 3.0, NULL));
    THREE(lines, pilaster_filo_lines_init(&vector, page, size, noon, 1000, PILASTER_FILO_U4, NULL), (&vector, noon, NULL), (&vector, noon + 1003, NULL), (&vector, noon + 2015, NULL));
    THREE(floats, pilaster_filo_floats_init(&vector, page, size, NULL), (&vector, 0.5f, NULL), (&vector, -2.0f, NULL), (&vector, 3.0f, NULL));
    THREE(booleans, pilaster_filo_booleans_init(&vector, page, size, NULL), (&vector, 1u, NULL), (&vector, 0u, NULL), (&vector, 7u, NULL));
    THREE(timestamps, pilaster_filo_timestamps_init(&vector, page, size, noon, PILASTER_FILO_U16, NULL), (&vector, noon, NULL), (&vector, noon + 1, NULL), (&vector, noon + 65535, NULL));
    THREE(date_times, pilaster_filo_date_times_init(&vector, page, size, noon, 3600000, PILASTER_FILO_I16, NULL), (&vector, noon, NULL), (&vector, noon - 1, NULL), (&vector, noon + 9, NULL));
    THREE(strings, pilaster_filo_strings_init(&vector, page, size, 3u, NULL), (&vector, "one", 3u, NULL), (&vector, NULL, 0u, NULL), (&vector, "three", 5u, NULL));
    THREE(utf8s, pilaster_filo_utf8s_init(&vector, page, size, 3u, NULL), (&vector, "one", 3u, NULL), (&vector, "", 0u, NULL), (&vector, "three", 5u, NULL));
    THREE(fixed, pilaster_filo_fixed_init(&vector, page, size, 5u, NULL), (&vector, "one", 3u, NULL), (&vector, "", 0u, NULL), (&vector, "three", 5u, NULL));
}

/* A file in memory. */
typedef struct bytes {
    uint8_t at[32768];
    size_t len;
    int synced;
} bytes;

static int32_t put(void *context, const uint8_t *from, size_t len) {
    bytes *const to = (bytes *)context;
    if (len > sizeof to->at - to->len) {
        return -1;
    }
    (void)memcpy(&to->at[to->len], from, len);
    to->len += len;
    return 0;
}

static int32_t sync_file(void *context) {
    ((bytes *)context)->synced += 1;
    return 0;
}

static pilaster_vortex_cell number(int64_t value) {
    const pilaster_vortex_cell cell = {PILASTER_CELL_INT, 0u, (uint64_t)value, {NULL, 0u}};
    return cell;
}

static void vortex(const char *folder) {
    static const pilaster_vortex_field fields[] = {
        {{"time", 4u}, {"UTC", 3u}, PILASTER_VORTEX_TIMESTAMP_MS, 0u},
        {{"temp", 4u}, {NULL, 0u}, PILASTER_VORTEX_F64, 1u},
        {{"place", 5u}, {NULL, 0u}, PILASTER_VORTEX_UTF8, 0u},
    };
    static pilaster_vortex log;
    static pilaster_vortex_entry entries[3];
    static pilaster_vortex_place places[3];
    static uint8_t rows[64 * (8 + 8 + 4) + 8 + 600];
    static uint32_t groups[16 * 6];
    static bytes file, whole;
    pilaster_error error;
    pilaster_vortex_counts counts;
    pilaster_vortex_found found;
    pilaster_vortex_config config = {put, sync_file, &file, fields, entries, places, 3u, 64u, {rows, sizeof rows}, groups, 16u * 6u, 4u, 0u};
    CHECK(pilaster_vortex_init(&log, &config, &error) == PILASTER_OK);
    for (int64_t n = 0; n < 300; n += 1) {
        pilaster_vortex_cell cells[3] = {number(INT64_C(1700000000000) + n), {PILASTER_CELL_DOUBLE, 0u, 0u, {NULL, 0u}}, {PILASTER_CELL_TEXT, 0u, 0u, {"attic", (size_t)(n % 6)}}};
        const double temp = 21.5 + (double)n * 0.5;
        (void)memcpy(&cells[1].word, &temp, sizeof temp);
        cells[1].kind = n % 5 == 0 ? PILASTER_CELL_NULL : PILASTER_CELL_DOUBLE;
        CHECK(pilaster_vortex_row(&log, cells, 3u, &error) == PILASTER_OK);
    }
    CHECK(pilaster_vortex_count(&log, &counts, &error) == PILASTER_OK && counts.groups == 4u && counts.pending == 44u);
    const pilaster_vortex_cell wrong[3] = {number(0), number(1), number(2)};
    CHECK(pilaster_vortex_row(&log, wrong, 3u, &error) == PILASTER_MISUSE && error.at == 1u);
    CHECK(pilaster_vortex_row(&log, wrong, 2u, &error) == PILASTER_MISUSE && error.need == 3u);
    CHECK(pilaster_vortex_row(&log, NULL, 3u, &error) == PILASTER_ARGUMENT && error.at == 2u);
    CHECK(pilaster_vortex_finish(&log, &error) == PILASTER_OK && file.synced > 1);
    CHECK(pilaster_vortex_flush(&log, &error) == PILASTER_STATE);
    store(folder, "more.vortex", file.at, file.len);
    whole = file;
    file.len = 0;
    CHECK(pilaster_vortex_resume(&log, &config, whole.at, whole.len, &found, &error) == PILASTER_OK);
    CHECK(found.at == whole.len && found.rows == 300u && found.full == 0u);
    CHECK(pilaster_vortex_resume(&log, &config, whole.at, 40u, &found, &error) == PILASTER_TRUNCATED);
    uint8_t *const lent[] = {(uint8_t *)&log, (uint8_t *)entries, (uint8_t *)places, &rows[sizeof rows - 16u], (uint8_t *)groups};
    for (size_t k = 0; k < sizeof lent / sizeof lent[0]; k += 1) {
        CHECK(pilaster_vortex_resume(&log, &config, lent[k], 16u, &found, &error) == PILASTER_ARGUMENT && error.at == 3u);
        /* A result there. */
        pilaster_vortex_found *const inside = (pilaster_vortex_found *)(void *)(lent[k] - (uintptr_t)lent[k] % sizeof(uint64_t));
        CHECK(pilaster_vortex_resume(&log, &config, whole.at, whole.len, inside, &error) == PILASTER_ARGUMENT && error.at == 5u);
    }
    CHECK(pilaster_vortex_resume(&log, &config, whole.at, whole.len, (pilaster_vortex_found *)(void *)&whole, &error) == PILASTER_ARGUMENT && error.at == 5u);
    CHECK(pilaster_vortex_resume(&log, &config, NULL, 16u, &found, &error) == PILASTER_ARGUMENT && error.at == 3u);
    CHECK(pilaster_vortex_init(&log, &config, &error) == PILASTER_OK);
    CHECK(pilaster_vortex_row(&log, (const pilaster_vortex_cell *)(const void *)places, 3u, &error) == PILASTER_ARGUMENT && error.at == 2u);
    config.fields = (const pilaster_vortex_field *)(const void *)entries;
    CHECK(pilaster_vortex_init(&log, &config, &error) == PILASTER_ARGUMENT && error.at == 2u);
    config.fields = fields;
    config.rows.len = 100u;
    CHECK(pilaster_vortex_init(&log, &config, &error) == PILASTER_NO_ROOM && error.need > 100u);
    config.put = NULL;
    CHECK(pilaster_vortex_init(&log, &config, &error) == PILASTER_ARGUMENT && error.at == 2u);
    config.put = put;
    config.field_count = UINT32_MAX;
    config.entries = TOO_HIGH;
    CHECK(pilaster_vortex_init(&log, &config, &error) == PILASTER_ARGUMENT && error.at == 2u);
}

/* A plain copy of five bytes. */
static void blosc(void) {
    static const uint8_t chunk[] = {2, 1, 2, 1, 5, 0, 0, 0, 5, 0, 0, 0, 21, 0, 0, 0, 'a', 'b', 'c', 'd', 'e'};
    uint8_t decoded[8];
    pilaster_blosc_info info;
    pilaster_error error;
    CHECK(pilaster_blosc_examine(chunk, sizeof chunk, &info, &error) == PILASTER_OK);
    CHECK(info.decoded == 5u && info.item == 1u && info.scratch == 0u);
    CHECK(pilaster_blosc_decode(chunk, sizeof chunk, decoded, sizeof decoded, NULL, 0u, &error) == PILASTER_OK);
    CHECK(memcmp(decoded, "abcde", 5) == 0);
    CHECK(pilaster_blosc_decode(chunk, sizeof chunk, decoded, 4u, NULL, 0u, &error) == PILASTER_NO_ROOM);
    CHECK(pilaster_blosc_decode(chunk, 3u, decoded, 8u, NULL, 0u, &error) == PILASTER_TRUNCATED);
    CHECK(pilaster_blosc_decode(NULL, 3u, decoded, 8u, NULL, 0u, &error) == PILASTER_ARGUMENT && error.at == 1u);
    CHECK(pilaster_blosc_examine(chunk, sizeof chunk, NULL, &error) == PILASTER_ARGUMENT && error.at == 3u);
    CHECK(pilaster_blosc_decode(chunk, SIZE_MAX, decoded, 8u, NULL, 0u, &error) == PILASTER_ARGUMENT && error.at == 1u);
    CHECK(pilaster_blosc_decode(decoded, 8u, &decoded[7], 1u, NULL, 0u, &error) == PILASTER_ARGUMENT && error.at == 3u);
    CHECK(pilaster_blosc_decode(chunk, sizeof chunk, decoded, 8u, &decoded[7], 1u, &error) == PILASTER_ARGUMENT && error.at == 5u);
}

static void verify(const char *name) {
    static uint8_t file[65536], memory[8192];
    FILE *const from = fopen(name, "rb");
    pilaster_error error;
    uint32_t finished = 7;
    CHECK(from != NULL);
    const size_t len = fread(file, 1, sizeof file, from);
    CHECK(fclose(from) == 0 && len > 1000u && len < sizeof file);
    CHECK(pilaster_ds_verify(file, len, memory, sizeof memory, &finished, &error) == PILASTER_OK && finished == 1u);
    CHECK(pilaster_ds_verify(file, len, memory, 10u, &finished, &error) == PILASTER_NO_ROOM && finished == 0u);
    CHECK(pilaster_ds_verify(file, len, file, 10u, &finished, &error) == PILASTER_ARGUMENT && error.at == 3u);
    file[len / 2] ^= 1u;
    CHECK(pilaster_ds_verify(file, len, memory, sizeof memory, &finished, &error) > PILASTER_OK && finished == 0u);
}

int main(int count, char **arguments) {
    CHECK(count == 3);
    filo_ints();
    filo_of_every_type(arguments[1]);
    vortex(arguments[1]);
    blosc();
    verify(arguments[2]);
    return 0;
}
