/* The log in flash under power cuts: one at every byte that is written or erased. Flushed rows are there after each. */
#include "check.h"
#include "pilaster_record.h"

#define TICK_FIELDS(F) F(INT64, time, REQUIRED, RELATIVE, EXACT)
PILASTER_RECORD(tick, "Tick", "example.org", "1.0", TICK_FIELDS)

enum { SEGMENT = 1024, SEGMENTS = 4, EXTENT_ROWS = 10 };

/* Simulated NOR flash: writes clear bits of erased words, and the power fails after `left` bytes. */
typedef struct simulated {
    uint8_t at[SEGMENT * SEGMENTS];
    size_t left;
} simulated;

static simulated flash;

static int32_t read_flash(void *context, uint32_t at, uint8_t *bytes, size_t len) {
    const simulated *const from = (const simulated *)context;
    CHECK(at <= sizeof from->at && len <= sizeof from->at - at);
    (void)memcpy(bytes, &from->at[at], len);
    return 0;
}

static int32_t write_flash(void *context, uint32_t at, const uint8_t *bytes, size_t len) {
    simulated *const to = (simulated *)context;
    CHECK(at % 4u == 0u && len % 4u == 0u && at <= sizeof to->at && len <= sizeof to->at - at);
    for (size_t k = 0; k < len; k += 1) {
        if (to->left == 0u) {
            return -1;
        }
        to->left -= 1;
        CHECK(to->at[at + k] == 0xffu);
        to->at[at + k] = bytes[k];
    }
    return 0;
}

static int32_t erase_flash(void *context, uint32_t from, uint32_t to) {
    simulated *const in = (simulated *)context;
    CHECK(from % SEGMENT == 0u && to % SEGMENT == 0u && from < to && to <= sizeof in->at);
    for (size_t k = from; k < to; k += 1) {
        if (in->left == 0u) {
            return -1;
        }
        in->left -= 1;
        in->at[k] = 0xffu;
    }
    return 0;
}

static pilaster_ring ring;
static pilaster_ds_extent ticks;
static pilaster_ds_entry entries[1];
static uint8_t rows[EXTENT_ROWS * tick_record_len], page[64], packed[128];
static uint16_t table[257];

static pilaster_ring_config config_of(void) {
    static const pilaster_ds_type *types[1];
    types[0] = tick_type();
    const pilaster_ring_config config = {
        {&flash, read_flash, write_flash, erase_flash, sizeof flash.at, SEGMENT, 4u, 0u},
        0u, SEGMENT, SEGMENTS, 1u, types, entries, PILASTER_DS_LZ4, 0u,
        {(uint8_t *)table, sizeof table}, {packed, sizeof packed}, {page, sizeof page}};
    return config;
}

static int32_t mount(void) {
    const pilaster_ring_config config = config_of();
    const pilaster_ds_memory memory = {{rows, sizeof rows}, {NULL, 0u}, NULL, 0u};
    CHECK(pilaster_ds_extent_init(&ticks, tick_type(), &memory, NULL) == PILASTER_OK);
    return pilaster_ring_mount(&ring, &config, NULL);
}

/* The number of rows in the log, from the headers of its extents. */
static uint64_t rows_in_log(void) {
    static pilaster_ring_cursor cursor;
    uint8_t extent[512];
    size_t len = 0;
    uint64_t sum = 0;
    CHECK(pilaster_ring_begin(&cursor, NULL) == PILASTER_OK);
    for (;;) {
        CHECK(pilaster_ring_next(&ring, &cursor, extent, sizeof extent, &len, NULL) == PILASTER_OK);
        if (len == 0u) {
            return sum;
        }
        sum += extent[8];
    }
}

/* Logs rows until `count`, or until the power fails. Returns the number of rows that were flushed. */
static uint64_t log_rows(uint64_t count) {
    uint64_t flushed = 0;
    for (uint64_t n = 0; n < count; n += 1) {
        const struct tick row = {(int64_t)(n * n)};
        pilaster_ds_extent_counts counts;
        if (tick_log(&ring, &ticks, &row, NULL) != PILASTER_OK) {
            return flushed;
        }
        CHECK(pilaster_ds_extent_count(&ticks, &counts, NULL) == PILASTER_OK);
        flushed = n + 1u - counts.rows;
    }
    return pilaster_ring_flush(&ring, &ticks, NULL) == PILASTER_OK ? count : flushed;
}

static void cut_at(size_t left) {
    (void)memset(flash.at, 0xff, sizeof flash.at);
    flash.left = left;
    CHECK(mount() == PILASTER_OK);
    const uint64_t flushed = log_rows(105u);
    CHECK(left < sizeof flash.at * 2u || flushed == 105u);
    flash.left = SIZE_MAX;
    CHECK(mount() == PILASTER_OK);
    const uint64_t found = rows_in_log();
    CHECK(found >= flushed && found <= flushed + EXTENT_ROWS);
    CHECK(log_rows(25u) == 25u && rows_in_log() == found + 25u);
    CHECK(mount() == PILASTER_OK && rows_in_log() == found + 25u);
}

/* A full log refuses rows until the oldest segment is given up. */
static void full(void) {
    pilaster_error error;
    pilaster_ring_counts counts;
    (void)memset(flash.at, 0xff, sizeof flash.at);
    CHECK(mount() == PILASTER_OK);
    struct tick row = {0};
    for (;;) {
        const int32_t code = tick_log(&ring, &ticks, &row, &error);
        row.time += 7919 * row.time % 1009 + 1;
        if (code != PILASTER_OK) {
            CHECK(code == PILASTER_NO_ROOM);
            break;
        }
    }
    CHECK(pilaster_ring_count(&ring, &counts, &error) == PILASTER_OK && counts.segments == SEGMENTS);
    const uint64_t before = rows_in_log();
    CHECK(pilaster_ring_give_up(&ring, &error) == PILASTER_OK);
    CHECK(pilaster_ring_flush(&ring, &ticks, &error) == PILASTER_OK);
    CHECK(rows_in_log() < before && pilaster_ring_count(&ring, &counts, &error) == PILASTER_OK && counts.begun == SEGMENTS + 1u);
}

static void refused(void) {
    pilaster_ring_config config = config_of();
    pilaster_error error;
    size_t len = 1;
    static pilaster_ring_cursor cursor;
    static uint8_t to[16];
    CHECK(pilaster_ring_mount(NULL, &config, &error) == PILASTER_ARGUMENT && error.at == 1u);
    config.flash.erase = NULL;
    CHECK(pilaster_ring_mount(&ring, &config, &error) == PILASTER_ARGUMENT && error.at == 2u);
    config = config_of();
    config.flash.word = 64u;
    CHECK(pilaster_ring_mount(&ring, &config, &error) == PILASTER_ARGUMENT && error.need == 4u);
    config.flash.word = 0u;
    CHECK(pilaster_ring_mount(&ring, &config, &error) == PILASTER_ARGUMENT);
    config = config_of();
    config.segment = 1000u;
    CHECK(pilaster_ring_mount(&ring, &config, &error) == PILASTER_MISUSE && error.need == SEGMENT);
    config = config_of();
    config.segments = 5u;
    CHECK(pilaster_ring_mount(&ring, &config, &error) == PILASTER_MISUSE && error.need == 0u);
    config.segments = 1u;
    CHECK(pilaster_ring_mount(&ring, &config, &error) == PILASTER_MISUSE && error.need == 0u);
    config.segments = UINT32_MAX;
    CHECK(pilaster_ring_mount(&ring, &config, &error) == PILASTER_MISUSE);
    CHECK(mount() == PILASTER_OK);
    CHECK(pilaster_ring_next(&ring, &cursor, to, 0u, &len, &error) == PILASTER_STATE && error.at == 2u && len == 0u);
    CHECK(pilaster_ring_begin(&cursor, &error) == PILASTER_OK);
    CHECK(pilaster_ring_next(&ring, &cursor, NULL, 9u, &len, &error) == PILASTER_ARGUMENT && error.at == 3u);
    CHECK(pilaster_ring_next(&ring, &cursor, to, 8u, &len, &error) == PILASTER_NO_ROOM && error.need > 8u);
    uint8_t *const lent[] = {(uint8_t *)entries, (uint8_t *)table, packed, &page[sizeof page - 9u], (uint8_t *)&ring, (uint8_t *)&cursor, (uint8_t *)&len};
    for (size_t k = 0; k < sizeof lent / sizeof lent[0]; k += 1) {
        CHECK(pilaster_ring_next(&ring, &cursor, lent[k], 9u, &len, &error) == PILASTER_ARGUMENT && error.at == 3u);
    }
    config = config_of();
    config.types = (const pilaster_ds_type *const *)(const void *)entries;
    CHECK(pilaster_ring_mount(&ring, &config, &error) == PILASTER_ARGUMENT && error.at == 2u);
    CHECK(pilaster_ring_next(&ring, &cursor, to, 8u, NULL, &error) == PILASTER_ARGUMENT && error.at == 5u);
}

/* The number of rows in the extent. */
static uint64_t kept(void) {
    pilaster_ds_extent_counts counts = {0u, 0u};
    CHECK(pilaster_ds_extent_count(&ticks, &counts, NULL) == PILASTER_OK);
    return counts.rows;
}

/* A flash that fails once, at any byte, loses no rows: they wait in their extent for the log that is mounted again. */
static void flash_that_fails(void) {
    pilaster_error error;
    size_t failed = 0u;
    for (size_t left = 0u; left < sizeof flash.at; left += 1u) {
        const struct tick first = {1}, second = {2};
        (void)memset(&flash, 0xff, sizeof flash);
        CHECK(mount() == PILASTER_OK);
        CHECK(tick_log(&ring, &ticks, &first, &error) == PILASTER_OK);
        CHECK(pilaster_ring_flush(&ring, &ticks, &error) == PILASTER_OK);
        CHECK(tick_log(&ring, &ticks, &second, &error) == PILASTER_OK);
        flash.left = left;
        if (pilaster_ring_flush(&ring, &ticks, &error) == PILASTER_OK) {
            break;
        }
        failed += 1u;
        flash.left = SIZE_MAX;
        CHECK(kept() == 1u);
        CHECK(pilaster_ring_flush(&ring, &ticks, &error) == PILASTER_MISUSE && kept() == 1u);
        const pilaster_ring_config config = config_of();
        CHECK(pilaster_ring_mount(&ring, &config, &error) == PILASTER_OK);
        CHECK(pilaster_ring_flush(&ring, &ticks, &error) == PILASTER_OK && kept() == 0u);
        CHECK(rows_in_log() == 2u);
    }
    CHECK(failed >= 40u);
}

int main(void) {
    /* The log of a cut takes less than both of these. */
    for (size_t left = 0; left < sizeof flash.at * 2u; left += 1) {
        cut_at(left);
    }
    cut_at(SIZE_MAX);
    full();
    flash_that_fails();
    refused();
    return 0;
}
