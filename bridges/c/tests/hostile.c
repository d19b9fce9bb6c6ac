/*
 * Hostile callers and hostile functions of the caller: calls of functions that the library has called while a state is made, states that
 * are lent as memory, empty memory inside of other memory, a configuration in memory that it lends, and flash that answers otherwise each
 * time.
 */
#include "check.h"
#include "pilaster_filo.h"
#include "pilaster_frame.h"
#include "pilaster_record.h"
#include "pilaster_vortex.h"

#define TICK_FIELDS(F) F(INT64, time, REQUIRED, RELATIVE, EXACT)
PILASTER_RECORD(tick, "Tick", "example.org", "1.0", TICK_FIELDS)

static pilaster_error error;

/* ---- A state that is made is in use ---- */

static pilaster_vortex columns;
static pilaster_vortex_config columns_config;
static int calls;
static bool again;

static int32_t put_again(void *context, const uint8_t *bytes, size_t len) {
    pilaster_vortex_counts counts;
    (void)context;
    (void)bytes;
    (void)len;
    calls += 1;
    if (again) {
        CHECK(pilaster_vortex_count(&columns, &counts, &error) == PILASTER_STATE && error.at == 1u);
        CHECK(pilaster_vortex_flush(&columns, &error) == PILASTER_STATE && error.at == 1u);
        CHECK(pilaster_vortex_init(&columns, &columns_config, &error) == PILASTER_STATE && error.at == 1u);
    }
    return 0;
}

static void a_log_of_columns_that_is_made(void) {
    static const pilaster_vortex_field fields[] = {{{"time", 4u}, {NULL, 0u}, PILASTER_VORTEX_I64, 0u}};
    static pilaster_vortex_entry entries[1];
    static pilaster_vortex_place places[1];
    static uint64_t rows[64];
    static uint32_t groups[64];
    pilaster_vortex_counts counts;
    const pilaster_vortex_config config = {put_again, NULL, NULL, fields, entries, places, 1u, 8u, {(uint8_t *)rows, sizeof rows}, groups, 64u, 1u, 0u};
    columns_config = config;
    again = false;
    CHECK(pilaster_vortex_init(&columns, &config, &error) == PILASTER_OK && calls > 0);
    again = true;
    calls = 0;
    CHECK(pilaster_vortex_init(&columns, &config, &error) == PILASTER_OK && calls > 0);
    again = false;
    CHECK(pilaster_vortex_count(&columns, &counts, &error) == PILASTER_OK && counts.groups == 0u && counts.pending == 0u);
    /* A state that was not made is none: its memory is lent to nothing. */
    columns_config.rows.len = 8u;
    CHECK(pilaster_vortex_init(&columns, &columns_config, &error) == PILASTER_NO_ROOM);
    CHECK(pilaster_vortex_count(&columns, &counts, &error) == PILASTER_STATE && error.at == 1u);
}

enum { SEGMENT = 1024, SEGMENTS = 4 };

static pilaster_ring ring;
static pilaster_ring_config ring_config;
static uint8_t flash[SEGMENT * SEGMENTS];
/* What a read adds to some bytes: flash that lies. */
static uint32_t lies;

static int32_t read_again(void *context, uint32_t at, uint8_t *bytes, size_t len) {
    pilaster_ring_counts counts;
    (void)context;
    calls += 1;
    CHECK(at <= sizeof flash && len <= sizeof flash - at);
    (void)memcpy(bytes, &flash[at], len);
    if (again) {
        CHECK(pilaster_ring_count(&ring, &counts, &error) == PILASTER_STATE && error.at == 1u);
        CHECK(pilaster_ring_mount(&ring, &ring_config, &error) == PILASTER_STATE && error.at == 1u);
    }
    if (lies > 0u && len > 0u && random_below(lies) == 0u) {
        bytes[random_below((uint32_t)len)] ^= (uint8_t)(1u << random_below(8u));
    }
    return 0;
}

static int32_t write_flash(void *context, uint32_t at, const uint8_t *bytes, size_t len) {
    (void)context;
    CHECK(at % 4u == 0u && len % 4u == 0u && at <= sizeof flash && len <= sizeof flash - at);
    (void)memcpy(&flash[at], bytes, len);
    return 0;
}

static int32_t erase_flash(void *context, uint32_t from, uint32_t to) {
    (void)context;
    CHECK(from % SEGMENT == 0u && to % SEGMENT == 0u && from < to && to <= sizeof flash);
    (void)memset(&flash[from], 0xff, to - from);
    return 0;
}

static void a_ring_that_is_made(void) {
    static const pilaster_ds_type *types[1];
    static pilaster_ds_entry entries[1];
    static uint16_t table[257];
    static uint8_t packed[128], page[64];
    pilaster_ring_counts counts;
    types[0] = tick_type();
    const pilaster_ring_config config = {
        {NULL, read_again, write_flash, erase_flash, sizeof flash, SEGMENT, 4u, 0u},
        0u, SEGMENT, SEGMENTS, 1u, types, entries, PILASTER_DS_LZ4, 0u,
        {(uint8_t *)table, sizeof table}, {packed, sizeof packed}, {page, sizeof page}};
    ring_config = config;
    (void)memset(flash, 0xff, sizeof flash);
    CHECK(pilaster_ring_mount(&ring, &config, &error) == PILASTER_OK);
    again = true;
    calls = 0;
    CHECK(pilaster_ring_mount(&ring, &config, &error) == PILASTER_OK && calls > 0);
    again = false;
    CHECK(pilaster_ring_count(&ring, &counts, &error) == PILASTER_OK && counts.segments == 0u);
    ring_config.page.len = 0u;
    CHECK(pilaster_ring_mount(&ring, &ring_config, &error) != PILASTER_OK);
    CHECK(pilaster_ring_count(&ring, &counts, &error) == PILASTER_STATE && error.at == 1u);
    ring_config = config;
}

/* Flash that answers a read otherwise than the read before: every call returns. */
static void flash_that_lies(void) {
    static pilaster_ds_extent ticks;
    static uint8_t rows[10 * tick_record_len];
    static pilaster_ring_cursor cursor;
    static uint8_t extent[512];
    const pilaster_ds_memory memory = {{rows, sizeof rows}, {NULL, 0u}, NULL, 0u};
    uint32_t mounted = 0u, logged = 0u, read = 0u, refused = 0u;
    for (uint32_t round = 0; round < 20000u; round += 1u) {
        size_t len = 0u;
        if (round % 100u == 0u) {
            (void)memset(flash, 0xff, sizeof flash);
        }
        lies = 2u + round % 7u;
        if (pilaster_ring_mount(&ring, &ring_config, &error) != PILASTER_OK) {
            continue;
        }
        mounted += 1u;
        lies *= 8u;
        CHECK(pilaster_ds_extent_init(&ticks, tick_type(), &memory, &error) == PILASTER_OK);
        for (int64_t n = 0; n < 35; n += 1) {
            const struct tick row = {n * n * (int64_t)round};
            const int32_t code = tick_log(&ring, &ticks, &row, &error);
            logged += code == PILASTER_OK ? 1u : 0u;
            if (code == PILASTER_NO_ROOM) {
                CHECK(pilaster_ring_give_up(&ring, &error) == PILASTER_OK);
            }
        }
        (void)pilaster_ring_flush(&ring, &ticks, &error);
        CHECK(pilaster_ring_begin(&cursor, &error) == PILASTER_OK);
        for (uint32_t k = 0; k < 200u; k += 1u) {
            const int32_t code = pilaster_ring_next(&ring, &cursor, extent, sizeof extent, &len, &error);
            CHECK(len <= sizeof extent);
            refused += code == PILASTER_OK ? 0u : 1u;
            read += code == PILASTER_OK && len > 0u ? 1u : 0u;
            if (code != PILASTER_OK || len == 0u) {
                break;
            }
        }
    }
    lies = 0u;
    CHECK(mounted > 1000u && logged > 1000u && read > 1000u && refused > 100u);
}

/* ---- Memory that is lent ---- */

/* The state itself, or a part of it, as the page of a vector. */
static void a_vector_in_itself(void) {
    static union {
        pilaster_filo vector;
        uint8_t bytes[sizeof(pilaster_filo)];
    } own;
    pilaster_filo *const vector = &own.vector;
    uint8_t *const bytes = own.bytes;
    const size_t len = sizeof own.bytes;
    (void)memset(&own, 0, sizeof own);
#define IN_ITSELF(call) CHECK((call) == PILASTER_ARGUMENT && error.at == 2u)
    IN_ITSELF(pilaster_filo_ints_init(vector, bytes, len, PILASTER_FILO_I32, 1u, &error));
    IN_ITSELF(pilaster_filo_longs_init(vector, &bytes[8], len - 8u, PILASTER_FILO_64, 0u, &error));
    IN_ITSELF(pilaster_filo_doubles_init(vector, bytes, len, PILASTER_FILO_64, 0u, &error));
    IN_ITSELF(pilaster_filo_lines_init(vector, bytes, len, 0, 1, PILASTER_FILO_I8, &error));
    IN_ITSELF(pilaster_filo_floats_init(vector, bytes, len, &error));
    IN_ITSELF(pilaster_filo_booleans_init(vector, bytes, len, &error));
    IN_ITSELF(pilaster_filo_timestamps_init(vector, bytes, len, 0, PILASTER_FILO_I32, &error));
    IN_ITSELF(pilaster_filo_date_times_init(vector, bytes, len, 0, 0, PILASTER_FILO_I32, &error));
    IN_ITSELF(pilaster_filo_strings_init(vector, bytes, len, 2u, &error));
    IN_ITSELF(pilaster_filo_utf8s_init(vector, bytes, len, 2u, &error));
    IN_ITSELF(pilaster_filo_fixed_init(vector, bytes, len, 4u, &error));
    CHECK(pilaster_filo_ints_push(vector, 1, &error) == PILASTER_STATE && error.at == 1u);
}

static int32_t put(void *context, const uint8_t *bytes, size_t len) {
    (void)context;
    (void)bytes;
    (void)len;
    return 0;
}

static pilaster_ds_writer writer;
static pilaster_ds_extent ticks;
static pilaster_ds_entry entries[8];
static uint64_t slots[30], rows[10];

/* Empty memory overlaps nothing, wherever it is. */
static void empty_memory(void) {
    const pilaster_ds_type *const types[] = {tick_type()};
    uint8_t *const bytes = (uint8_t *)slots;
    const pilaster_ds_config config = {put, NULL, types, entries, 1u, PILASTER_DS_STORED, {bytes, sizeof slots}, {&bytes[8], 0u}, {&bytes[16], 0u}};
    const pilaster_ds_memory memory = {{(uint8_t *)rows, sizeof rows}, {(uint8_t *)&rows[1], 0u}, (uint32_t *)(void *)&rows[2], 0u};
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_OK);
    CHECK(pilaster_ds_extent_init(&ticks, tick_type(), &memory, &error) == PILASTER_OK);
}

/* A configuration, a type or its fields in memory that they lend. */
static void lists_in_lent_memory(void) {
    static union {
        pilaster_ds_config config;
        pilaster_ds_entry entries[sizeof(pilaster_ds_config) / sizeof(pilaster_ds_entry) + 1u];
    } own;
    static union {
        pilaster_ds_field fields[1];
        uint64_t words[3];
    } table;
    const pilaster_ds_type *const types[] = {tick_type()};
    const pilaster_ds_config config = {put, NULL, types, own.entries, 1u, PILASTER_DS_STORED, {(uint8_t *)slots, sizeof slots}, {NULL, 0u}, {NULL, 0u}};
    static const uint8_t log[64] = {0u};
    pilaster_ds_found found;
    /* It is read before anything is written. */
    own.config = config;
    CHECK(pilaster_ds_init(&writer, &own.config, &error) == PILASTER_OK);
    own.config = config;
    CHECK(pilaster_ds_resume(&writer, &own.config, (const uint8_t *)slots, 16u, &found, &error) == PILASTER_ARGUMENT && error.at == 3u);
    own.config = config;
    CHECK(pilaster_ds_resume(&writer, &own.config, log, sizeof log, (pilaster_ds_found *)(void *)slots, &error) == PILASTER_ARGUMENT && error.at == 5u);
    own.config = config;
    CHECK(pilaster_ds_resume(&writer, &own.config, log, sizeof log, &found, &error) == PILASTER_INVALID);
    pilaster_ds_type type = *tick_type();
    table.fields[0] = type.fields[0];
    type.fields = table.fields;
    const pilaster_ds_memory memory = {{(uint8_t *)table.words, sizeof table.words}, {NULL, 0u}, NULL, 0u};
    CHECK(pilaster_ds_extent_init(&ticks, &type, &memory, &error) == PILASTER_ARGUMENT && error.at == 3u);
}

/* ---- Null pointers where the compiler of C packs ---- */

static void no_row(void) {
    const pilaster_ds_type *const types[] = {tick_type()};
    const pilaster_ds_config config = {put, NULL, types, entries, 1u, PILASTER_DS_STORED, {(uint8_t *)slots, sizeof slots}, {NULL, 0u}, {NULL, 0u}};
    const pilaster_ds_memory memory = {{(uint8_t *)rows, sizeof rows}, {NULL, 0u}, NULL, 0u};
    const struct tick *volatile none = NULL;
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_OK);
    CHECK(pilaster_ds_extent_init(&ticks, tick_type(), &memory, &error) == PILASTER_OK);
    CHECK(tick_row(&writer, &ticks, none, &error) == PILASTER_ARGUMENT && error.at == 3u);
    CHECK(tick_log(&ring, &ticks, none, &error) == PILASTER_ARGUMENT && error.at == 3u);
}

static void frames_of_nothing(void) {
    static uint8_t chunk[32];
    pilaster_frames frames;
    pilaster_frames *volatile none = NULL;
    const uint8_t byte = 1u;
    pilaster_frames_init(&frames, NULL, NULL, chunk, sizeof chunk, 0u);
    CHECK(pilaster_frames_put(&frames, &byte, 1u) == PILASTER_FRAME_NULL);
    CHECK(pilaster_frames_end(&frames) == PILASTER_FRAME_NULL);
    pilaster_frames_init(&frames, put, NULL, NULL, sizeof chunk, 0u);
    CHECK(pilaster_frames_put(&frames, &byte, 1u) == PILASTER_FRAME_NULL);
    CHECK(pilaster_frames_flush(&frames) == PILASTER_FRAME_NULL);
    pilaster_frames_init(none, put, NULL, chunk, sizeof chunk, 0u);
    CHECK(pilaster_frames_put(none, &byte, 1u) == PILASTER_FRAME_NULL);
    CHECK(pilaster_frames_flush(none) == PILASTER_FRAME_NULL && pilaster_frames_end(none) == PILASTER_FRAME_NULL);
    pilaster_frames_init(&frames, put, NULL, chunk, sizeof chunk, 0u);
    CHECK(pilaster_frames_put(&frames, NULL, 1u) == PILASTER_FRAME_NULL);
    CHECK(pilaster_frames_put(&frames, NULL, 0u) == 0);
}

int main(int count, char **arguments) {
    static void (*const tests[])(void) = {a_log_of_columns_that_is_made, a_ring_that_is_made, flash_that_lies, a_vector_in_itself,
                                          empty_memory, lists_in_lent_memory, no_row, frames_of_nothing};
    const size_t all = sizeof tests / sizeof tests[0];
    const size_t only = count > 1 ? strtoul(arguments[1], NULL, 10) : all;
    for (size_t k = 0; k < all; k += 1) {
        if (only == all || only == k) {
            tests[k]();
        }
    }
    return 0;
}
