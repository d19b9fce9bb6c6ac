/* The interface as C sees it: sizes, rows of every type, wild arguments, a sink that fails, a log that is resumed. */
#include "check.h"
#include "pilaster_filo.h"
#include "pilaster_record.h"
#include "pilaster_vortex.h"

#define EVERY_FIELDS(F)                                 \
    F(BOOL, flag, REQUIRED, ABSOLUTE, EXACT)            \
    F(BYTE, small, NULLABLE, ABSOLUTE, EXACT)           \
    F(INT32, number, REQUIRED, RELATIVE, COMMENT(EXACT, "of rows")) \
    F(INT64, time, REQUIRED, RELATIVE, EXACT)           \
    F(INT64, sent, NULLABLE, TO(time), EXACT)           \
    F(DOUBLE, temp, NULLABLE, RELATIVE, NOTED(SCALED(0.01), "degC", "in the shade")) \
    F(DOUBLE, kelvin, REQUIRED, ABSOLUTE, UNITS(BASED(273.15), "K")) \
    F(FIXED(6), mac, REQUIRED, ABSOLUTE, EXACT)         \
    F(TEXT, note, NULLABLE, ABSOLUTE, EXACT)            \
    F(UNIQUE_TEXT, place, REQUIRED, ABSOLUTE, EXACT)    \
    F(BOOL, door, NULLABLE, ABSOLUTE, EXACT)
PILASTER_RECORD(every, "Every", "example.org", "1.0", EVERY_FIELDS)

#define TICK_FIELDS(F) F(INT64, time, REQUIRED, RELATIVE, EXACT)
PILASTER_RECORD_ABOUT(tick, "Tick", "example.org", "1.0", PILASTER_ABOUT("firmware", "2.1.0") PILASTER_ABOUT("build", "b17"), TICK_FIELDS)

/* As long as a tick. */
#define TOCK_FIELDS(F) F(DOUBLE, level, REQUIRED, ABSOLUTE, EXACT)
PILASTER_RECORD(tock, "Tock", "example.org", "1.0", TOCK_FIELDS)

#define WRONG_FIELDS(F) F(TEXT, note, REQUIRED, RELATIVE, EXACT)
PILASTER_RECORD(wrong, "Wrong", "example.org", "1.0", WRONG_FIELDS)

/* What was written. */
typedef struct bytes {
    uint8_t at[65536];
    size_t len;
    size_t most; /* More is refused. */
} bytes;

static bytes out;

static int32_t put(void *context, const uint8_t *from, size_t len) {
    bytes *const to = (bytes *)context;
    if (len > to->most - to->len) {
        return -7;
    }
    (void)memcpy(&to->at[to->len], from, len);
    to->len += len;
    return 0;
}

static pilaster_ds_writer writer;
static pilaster_ds_extent everies, ticks;
static pilaster_ds_entry entries[2];
static uint8_t slots[240], packed[1024], rows[640], tick_rows[80], pool[512];
static uint16_t table[257];
static uint32_t unique[16];

static const pilaster_ds_memory tick_memory = {{tick_rows, sizeof tick_rows}, {NULL, 0u}, NULL, 0u};
static const pilaster_ds_memory every_memory = {{rows, sizeof rows}, {pool, sizeof pool}, unique, 16u};

static pilaster_ds_config config_of(const pilaster_ds_type *const *types, uint32_t count, uint32_t compression) {
    const pilaster_ds_config config = {put, &out, types, entries, count, compression, {slots, sizeof slots}, {(uint8_t *)table, sizeof table}, {packed, sizeof packed}};
    return config;
}

static void sizes(void) {
    const size_t ours[] = {sizeof(pilaster_error), sizeof(pilaster_memory), sizeof(pilaster_text), sizeof(pilaster_ds_writer),
                           sizeof(pilaster_ds_extent), sizeof(pilaster_ds_entry), sizeof(pilaster_ds_field),
                           sizeof(pilaster_ds_type), sizeof(pilaster_ds_config), sizeof(pilaster_ds_memory),
                           sizeof(pilaster_ds_found), sizeof(pilaster_ds_counts) + sizeof(pilaster_ds_extent_counts),
                           sizeof(pilaster_ring_config), sizeof(pilaster_ring), sizeof(pilaster_ring_cursor),
                           sizeof(pilaster_vortex_config), sizeof(pilaster_vortex_field), sizeof(pilaster_vortex_cell),
                           sizeof(pilaster_vortex), sizeof(pilaster_vortex_entry), sizeof(pilaster_vortex_place),
                           sizeof(pilaster_filo)};
    const uint32_t count = (uint32_t)(sizeof ours / sizeof ours[0]);
    for (uint32_t k = 0; k < count; k += 1) {
        CHECK(pilaster_size_of(k) == ours[k]);
    }
    CHECK(pilaster_size_of(count) == 0u && pilaster_size_of(UINT32_MAX) == 0u);
}

static struct every row_of(int32_t n) {
    static const char *const places[] = {"attic", "cellar"};
    struct every row = {0};
    row.flag = n % 2 == 0;
    row.small = (uint8_t)n;
    row.small_is_null = n % 3 == 0;
    row.number = n * n;
    row.time = INT64_C(1700000000000) + n;
    row.sent = row.time + n % 5;
    row.sent_is_null = n % 4 == 0;
    row.temp = 21.5 + n * 0.01;
    row.temp_is_null = n % 5 == 0;
    row.kelvin = n * 0.5;
    row.mac.bytes[5] = (uint8_t)n;
    row.note.at = "a note";
    row.note.len = (size_t)(n % 7);
    row.note_is_null = n % 6 == 0;
    row.place.at = places[n % 2];
    row.place.len = strlen(places[n % 2]);
    row.door = true;
    row.door_is_null = n % 2 == 1;
    return row;
}

static void write_with(const pilaster_ds_config *config, int32_t count) {
    pilaster_error error;
    out.len = 0;
    out.most = sizeof out.at;
    CHECK(pilaster_ds_init(&writer, config, &error) == PILASTER_OK);
    CHECK(pilaster_ds_extent_init(&everies, every_type(), &every_memory, &error) == PILASTER_OK);
    for (int32_t n = 0; n < count; n += 1) {
        const struct every row = row_of(n);
        CHECK(every_row(&writer, &everies, &row, &error) == PILASTER_OK);
    }
    CHECK(pilaster_ds_flush(&writer, &everies, &error) == PILASTER_OK);
    CHECK(pilaster_ds_finish(&writer, &error) == PILASTER_OK);
    CHECK(error.code == PILASTER_OK && error.what == 0u);
    CHECK(pilaster_ds_finish(&writer, &error) == PILASTER_STATE && error.at == 1u);
}

static void write_every(uint32_t compression, int32_t count) {
    const pilaster_ds_type *const types[] = {every_type(), tick_type()};
    const pilaster_ds_config config = config_of(types, 2u, compression);
    write_with(&config, count);
}

/* Extents that do not fit into `packed` when they are compressed are stored: the file is the one without compression. */
static void without_packed(void) {
    const pilaster_ds_type *const types[] = {every_type(), tick_type()};
    pilaster_ds_config config = config_of(types, 2u, PILASTER_DS_LZ4);
    static uint8_t stored[sizeof out.at];
    write_every(PILASTER_DS_STORED, 50);
    const size_t len = out.len;
    (void)memcpy(stored, out.at, len);
    for (size_t k = 0; k < 9u; k += 8u) {
        config.packed.len = k;
        write_with(&config, 50);
        CHECK(out.len == len && memcmp(stored, out.at, len) == 0);
    }
}

/* A record of another type is refused if its length differs, and is not noticed else. */
static void records_of_another_type(void) {
    const pilaster_ds_type *const types[] = {tick_type(), tock_type()};
    const pilaster_ds_config config = config_of(types, 2u, PILASTER_DS_STORED);
    const struct tock tock = {0.5};
    const struct every row = row_of(1);
    pilaster_error error;
    out.len = 0;
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_OK);
    CHECK(pilaster_ds_extent_init(&ticks, tick_type(), &tick_memory, &error) == PILASTER_OK);
    CHECK(tock_row(&writer, &ticks, &tock, &error) == PILASTER_OK);
    CHECK(every_row(&writer, &ticks, &row, &error) == PILASTER_MISUSE && error.need == tick_record_len);
}

static void refused_configurations(void) {
    const pilaster_ds_type *const types[] = {tick_type()};
    const pilaster_ds_type *const turned[] = {tick_type(), every_type()};
    const pilaster_ds_config good = config_of(types, 1u, PILASTER_DS_STORED);
    pilaster_error error;
    pilaster_ds_config config = good;
    CHECK(pilaster_ds_init(NULL, &good, &error) == PILASTER_ARGUMENT && error.at == 1u);
    CHECK(pilaster_ds_init(&writer, NULL, &error) == PILASTER_ARGUMENT && error.at == 2u);
    CHECK(pilaster_ds_init(&writer, NULL, NULL) == PILASTER_ARGUMENT);
    CHECK(pilaster_ds_init((pilaster_ds_writer *)(void *)((char *)&writer + 1), &good, &error) == PILASTER_ARGUMENT);
    config.put = NULL;
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_ARGUMENT && error.at == 2u);
    config = config_of(turned, 2u, PILASTER_DS_STORED);
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_MISUSE && error.at == 1u);
    config = good;
    config.types = NULL;
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_ARGUMENT);
    config = good;
    config.types = (const pilaster_ds_type *const *)(const void *)entries;
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_ARGUMENT && error.at == 2u);
    config = good;
    config.slots.len = SIZE_MAX;
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_ARGUMENT);
    config = good;
    config.packed = config.slots;
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_ARGUMENT);
    config = config_of(types, 1u, 77u);
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_UNSUPPORTED && error.need == 77u);
    config = config_of(types, 1u, PILASTER_DS_LZ4);
    config.table.len = 100u;
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_NO_ROOM && error.need > 0u);
}

static void refused_extents(void) {
    pilaster_error error;
    pilaster_ds_memory memory = tick_memory;
    CHECK(pilaster_ds_extent_init(NULL, tick_type(), &memory, &error) == PILASTER_ARGUMENT && error.at == 1u);
    CHECK(pilaster_ds_extent_init(&ticks, NULL, &memory, &error) == PILASTER_ARGUMENT && error.at == 2u);
    CHECK(pilaster_ds_extent_init(&ticks, tick_type(), NULL, &error) == PILASTER_ARGUMENT && error.at == 3u);
    memory.rows.len = 7u;
    CHECK(pilaster_ds_extent_init(&ticks, tick_type(), &memory, &error) == PILASTER_MISUSE && error.need == 8u);
    memory = tick_memory;
    memory.pool = memory.rows;
    CHECK(pilaster_ds_extent_init(&ticks, tick_type(), &memory, &error) == PILASTER_ARGUMENT && error.at == 3u);
    CHECK(pilaster_ds_extent_init(&ticks, wrong_type(), &tick_memory, &error) == PILASTER_MISUSE && error.at == 0u);
    pilaster_ds_type type = *tick_type();
    type.record_len = 16u;
    CHECK(pilaster_ds_extent_init(&ticks, &type, &tick_memory, &error) == PILASTER_MISUSE && error.need == 8u);
    type = *tick_type();
    type.name.at = "\xff\xff\xff\xff";
    CHECK(pilaster_ds_extent_init(&ticks, &type, &tick_memory, &error) == PILASTER_ARGUMENT);
    pilaster_ds_field field = tick_type()->fields[0];
    field.at = UINT32_MAX;
    type = *tick_type();
    type.fields = &field;
    CHECK(pilaster_ds_extent_init(&ticks, &type, &tick_memory, &error) == PILASTER_MISUSE && error.at == 0u);
}

static void refused_rows(void) {
    const pilaster_ds_type *const types[] = {every_type(), tick_type()};
    const pilaster_ds_config config = config_of(types, 2u, PILASTER_DS_STORED);
    const struct tick tick = {5};
    struct every row = row_of(1);
    pilaster_error error;
    out.len = 0;
    (void)memset(&everies, 0, sizeof everies);
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_OK);
    CHECK(every_row(&writer, &everies, &row, &error) == PILASTER_STATE && error.at == 2u);
    CHECK(pilaster_ds_extent_init(&everies, every_type(), &every_memory, &error) == PILASTER_OK);
    CHECK(tick_row(&writer, &everies, &tick, &error) == PILASTER_MISUSE && error.need == every_record_len);
    CHECK(pilaster_ds_row(&writer, &everies, NULL, 8u, NULL, 0u, &error) == PILASTER_ARGUMENT && error.at == 3u);
    CHECK(pilaster_ds_row(&writer, &everies, rows, every_record_len, NULL, 2u, &error) == PILASTER_ARGUMENT);
    static const pilaster_text three[3] = {{"a", 1u}, {"b", 1u}, {"c", 1u}};
    CHECK(pilaster_ds_row(&writer, &everies, out.at, every_record_len, three, 3u, &error) == PILASTER_MISUSE);
    row.place.len = 4096u;
    row.place.at = (const char *)out.at;
    CHECK(every_row(&writer, &everies, &row, &error) == PILASTER_NO_ROOM);
    row.place.at = NULL;
    CHECK(every_row(&writer, &everies, &row, &error) == PILASTER_ARGUMENT && error.at == 5u);
    pilaster_ds_extent_counts counts;
    CHECK(pilaster_ds_extent_count(&everies, &counts, &error) == PILASTER_OK && counts.rows == 0u && counts.room > 0u);
    CHECK(pilaster_ds_extent_count(&everies, NULL, &error) == PILASTER_ARGUMENT && error.at == 2u);
    CHECK(pilaster_ds_flush((pilaster_ds_writer *)(void *)&everies, &everies, &error) == PILASTER_STATE && error.at == 1u);
}

static int32_t calls_again(void *context, const uint8_t *from, size_t len) {
    pilaster_error error;
    (void)from;
    (void)len;
    CHECK(pilaster_ds_flush(&writer, &ticks, &error) == PILASTER_STATE && error.at == 1u);
    CHECK(pilaster_ds_finish(&writer, NULL) == PILASTER_STATE);
    *(int *)context += 1;
    return 5;
}

static void sinks_that_fail(void) {
    const pilaster_ds_type *const types[] = {tick_type()};
    pilaster_ds_config config = config_of(types, 1u, PILASTER_DS_STORED);
    const struct tick tick = {5};
    pilaster_error error;
    int calls = 0;
    out.len = 0;
    out.most = 100;
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_OK);
    CHECK(pilaster_ds_extent_init(&ticks, tick_type(), &tick_memory, &error) == PILASTER_OK);
    CHECK(tick_row(&writer, &ticks, &tick, &error) == PILASTER_OK);
    CHECK(pilaster_ds_flush(&writer, &ticks, &error) == -7 && error.code == -7);
    /* The writer is of no use any more; the row stays in its extent, for another. */
    CHECK(pilaster_ds_flush(&writer, &ticks, &error) == PILASTER_MISUSE);
    pilaster_ds_extent_counts waiting;
    CHECK(pilaster_ds_extent_count(&ticks, &waiting, &error) == PILASTER_OK && waiting.rows == 1u);
    config.put = calls_again;
    config.context = &calls;
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_OK);
    CHECK(pilaster_ds_flush(&writer, &ticks, &error) == PILASTER_CALLER && error.need == 5u && calls == 1);
}

/* What a log without its whole head, or with another one, is refused with; then a new one is begun in its place. */
static void heads(void) {
    const pilaster_ds_type *const types[] = {tick_type()}, *const others[] = {every_type()};
    const pilaster_ds_config config = config_of(types, 1u, PILASTER_DS_STORED), other = config_of(others, 1u, PILASTER_DS_STORED);
    static bytes whole;
    const struct tick tick = {5};
    pilaster_error error;
    pilaster_ds_found found;
    pilaster_ds_counts counts;
    out.len = 0;
    out.most = sizeof out.at;
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_OK);
    CHECK(pilaster_ds_extent_init(&ticks, tick_type(), &tick_memory, &error) == PILASTER_OK);
    CHECK(tick_row(&writer, &ticks, &tick, &error) == PILASTER_OK);
    CHECK(pilaster_ds_flush(&writer, &ticks, &error) == PILASTER_OK);
    CHECK(pilaster_ds_count(&writer, &counts, &error) == PILASTER_OK && counts.extents == 1u);
    whole = out;
    size_t head = 0;
    while (pilaster_ds_resume(&writer, &config, whole.at, head, &found, &error) != PILASTER_OK) {
        CHECK(error.code == PILASTER_TRUNCATED && head < whole.len);
        head += 1;
    }
    CHECK(head > 40u && found.rows == 0u && found.at == head && found.rest == PILASTER_DS_REST_NOTHING);
    CHECK(pilaster_ds_resume(&writer, &other, whole.at, whole.len, &found, &error) == PILASTER_MISUSE);
    for (size_t at = 0; at < head; at += 1) {
        whole.at[at] ^= 1u;
        const int32_t code = pilaster_ds_resume(&writer, &config, whole.at, whole.len, &found, &error);
        if (at < 32u) {
            CHECK(code == PILASTER_INVALID);
        } else if (at < 40u) {
            /* Any number that is none will do. */
            CHECK(code == PILASTER_INVALID || (code == PILASTER_OK && at < 39u));
        } else {
            CHECK(code == PILASTER_CHECKSUM || code == PILASTER_TRUNCATED);
        }
        whole.at[at] ^= 1u;
    }
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_OK);
    /* The index has one slot of three. */
    pilaster_ds_config small = config;
    small.slots.len = 8u;
    CHECK(pilaster_ds_init(&writer, &small, &error) == PILASTER_OK);
    for (int64_t n = 0; n < 3; n += 1) {
        CHECK(tick_row(&writer, &ticks, &tick, &error) == PILASTER_OK);
        CHECK(pilaster_ds_flush(&writer, &ticks, &error) == PILASTER_OK);
    }
    CHECK(pilaster_ds_finish(&writer, &error) == PILASTER_NO_ROOM && error.need == 3u);
}

static void resumed(void) {
    const pilaster_ds_type *const types[] = {tick_type()};
    const pilaster_ds_config config = config_of(types, 1u, PILASTER_DS_LZ4);
    static bytes whole, log;
    pilaster_error error;
    pilaster_ds_found found;
    pilaster_ds_counts counts;
    out.len = 0;
    out.most = sizeof out.at;
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_OK);
    CHECK(pilaster_ds_extent_init(&ticks, tick_type(), &tick_memory, &error) == PILASTER_OK);
    for (int64_t n = 0; n < 60; n += 1) {
        const struct tick tick = {n * n};
        CHECK(tick_row(&writer, &ticks, &tick, &error) == PILASTER_OK);
    }
    whole = out;
    CHECK(pilaster_ds_count(&writer, &counts, &error) == PILASTER_OK && counts.extents == 5u && counts.bytes == whole.len);
    /* Cut off at every byte, the log is resumed behind a whole extent. */
    for (size_t len = 0; len <= whole.len; len += 1) {
        const int32_t code = pilaster_ds_resume(&writer, &config, whole.at, len, &found, &error);
        if (code != PILASTER_OK) {
            CHECK(code == PILASTER_TRUNCATED || code == PILASTER_INVALID);
            continue;
        }
        CHECK(found.at <= len && found.rows % 10u == 0u && found.zero == 0u);
        CHECK((found.rest == PILASTER_DS_REST_NOTHING) == (found.at == len));
        log = whole;
        log.len = (size_t)found.at;
        out.len = 0;
        CHECK(pilaster_ds_extent_init(&ticks, tick_type(), &tick_memory, &error) == PILASTER_OK);
        for (int64_t n = (int64_t)found.rows; n < 60; n += 1) {
            const struct tick tick = {n * n};
            CHECK(tick_row(&writer, &ticks, &tick, &error) == PILASTER_OK);
        }
        CHECK(out.len == whole.len - log.len && memcmp(out.at, &whole.at[log.len], out.len) == 0);
    }
    CHECK(pilaster_ds_resume(&writer, &config, NULL, 10u, &found, &error) == PILASTER_ARGUMENT && error.at == 3u);
    CHECK(pilaster_ds_resume(&writer, &config, whole.at, whole.len, NULL, &error) == PILASTER_ARGUMENT && error.at == 5u);
    /* A log in memory of the writer. */
    uint8_t *const lent[] = {(uint8_t *)&writer, (uint8_t *)entries, &slots[sizeof slots - 16u], (uint8_t *)table, packed};
    for (size_t k = 0; k < sizeof lent / sizeof lent[0]; k += 1) {
        CHECK(pilaster_ds_resume(&writer, &config, lent[k], 16u, &found, &error) == PILASTER_ARGUMENT && error.at == 3u);
    }
    /* A result there, or in the log, at every place that is aligned for it. The library does not use the last words of a writer. */
    const pilaster_memory taken[] = {{(uint8_t *)&writer, sizeof writer / 2u}, {(uint8_t *)entries, sizeof entries[0]}, {slots, sizeof slots}, {(uint8_t *)table, sizeof table}, {packed, sizeof packed}, {whole.at, whole.len}};
    for (size_t k = 0; k < sizeof taken / sizeof taken[0]; k += 1) {
        const size_t skipped = (size_t)(-(uintptr_t)taken[k].at % sizeof(uint64_t));
        for (size_t at = skipped; at < taken[k].len; at += sizeof(uint64_t)) {
            pilaster_ds_found *const inside = (pilaster_ds_found *)(void *)&taken[k].at[at];
            CHECK(pilaster_ds_resume(&writer, &config, whole.at, whole.len, inside, &error) == PILASTER_ARGUMENT && error.at == 5u);
        }
    }
    CHECK(pilaster_ds_resume(&writer, &config, whole.at, whole.len, &found, &error) == PILASTER_OK);
}

/* An argument is checked before it is compared with others, so the number is that of the wrong one. */
static void numbers(void) {
    static uint64_t words[512];
    uint8_t *const memory = (uint8_t *)words;
    write_every(PILASTER_DS_STORED, 20);
    const size_t len = out.len;
    pilaster_error error;
    uint32_t finished = 7;
    pilaster_ds_type type = *tick_type();
    CHECK(pilaster_ds_check_record(&type, memory, sizeof words, &error) == PILASTER_OK);
    type.name.len = SIZE_MAX;
    CHECK(pilaster_ds_check_record(&type, memory, sizeof words, &error) == PILASTER_ARGUMENT && error.at == 1u);
    type = *tick_type();
    type.xml.at = (const char *)memory;
    type.xml.len = SIZE_MAX / 2u + 2u;
    CHECK(pilaster_ds_check_record(&type, memory, sizeof words, &error) == PILASTER_ARGUMENT && error.at == 1u);
    type = *tick_type();
    type.fields = (const pilaster_ds_field *)(const void *)&memory[1];
    CHECK(pilaster_ds_check_record(&type, &memory[1], 100u, &error) == PILASTER_ARGUMENT && error.at == 1u);
    type.fields = (const pilaster_ds_field *)(const void *)memory;
    CHECK(pilaster_ds_check_record(&type, &memory[1], 100u, &error) == PILASTER_ARGUMENT && error.at == 2u);
    CHECK(pilaster_ds_verify(out.at, SIZE_MAX, memory, sizeof words, &finished, &error) == PILASTER_ARGUMENT && error.at == 1u);
    CHECK(pilaster_ds_verify(out.at, len, out.at, SIZE_MAX, &finished, &error) == PILASTER_ARGUMENT && error.at == 3u);
    CHECK(pilaster_ds_verify(out.at, len, &out.at[len - 1u], 2u, &finished, &error) == PILASTER_ARGUMENT && error.at == 3u);
    CHECK(pilaster_ds_verify(out.at, len, memory, sizeof words, NULL, &error) == PILASTER_ARGUMENT && error.at == 5u);
    CHECK(pilaster_ds_verify(NULL, len, memory, sizeof words, NULL, &error) == PILASTER_ARGUMENT && error.at == 1u);
    CHECK(pilaster_ds_verify(out.at, len, memory, sizeof words, (uint32_t *)(void *)&memory[8], &error) == PILASTER_ARGUMENT && error.at == 5u);
    CHECK(finished == 7u);
}

int main(int count, char **arguments) {
    static const uint32_t modes[] = {PILASTER_DS_STORED, PILASTER_DS_LZF, PILASTER_DS_SNAPPY, PILASTER_DS_LZ4};
    CHECK(count == 2);
    sizes();
    refused_configurations();
    refused_extents();
    refused_rows();
    records_of_another_type();
    without_packed();
    sinks_that_fail();
    heads();
    resumed();
    numbers();
    for (size_t k = 0; k < sizeof modes / sizeof modes[0]; k += 1) {
        char name[32];
        write_every(modes[k], 200);
        (void)snprintf(name, sizeof name, "every_%u.ds", (unsigned)modes[k]);
        store(arguments[1], name, out.at, out.len);
    }
    return 0;
}
