/*
 * Power cuts of logs of the four sensors, for instance of those that the images wrote in QEMU: each file of the arguments is cut at every
 * byte, once as a shorter file, and once as flash whose rest is erased. Each time the log is resumed behind the last whole extent, as the
 * headers of the extents say, which this program reads itself. Then the logger continues to the end: all rows are there, and what was in
 * front of the cut has not changed. After `same`, the file must also be the same again, which the same build of the library has written.
 */
#include "check.h"

#include "../examples/sensors/sensors.h"

enum { MOST = 1 << 14, ENDS = 64, TYPES = 4, MILLIS = 30000 };

static uint8_t whole[MOST], cut[MOST + 100];
static size_t whole_len;

/* The rows of each type in front of an offset: the head, and then the end of each extent. */
typedef struct end {
    size_t at;
    uint64_t rows[TYPES];
} end;

static end ends[ENDS];
static size_t end_count;

static size_t word(size_t at) {
    CHECK(at + 4u <= whole_len);
    return (size_t)whole[at] | (size_t)whole[at + 1u] << 8 | (size_t)whole[at + 2u] << 16 | (size_t)whole[at + 3u] << 24;
}

static size_t padded(size_t len) {
    return (len + 3u) / 4u * 4u;
}

/* Finds the extents: a header of 28 bytes, the name, and both parts, each padded to four bytes. The file begins with 40 bytes. */
static void walk(void) {
    static const char *const names[TYPES] = {"Air", "Battery", "Motion", "Pressure"};
    size_t at = 40u;
    end now = {0u, {0u, 0u, 0u, 0u}};
    end_count = 0u;
    for (;;) {
        const size_t len = whole[at + 26u];
        const char *const name = (const char *)&whole[at + 28u];
        size_t type = 0u;
        while (type < TYPES && (strlen(names[type]) != len || memcmp(names[type], name, len) != 0)) {
            type += 1u;
        }
        /* The list of types is the first extent, and the index ends them. */
        if (type == TYPES && end_count > 0u) {
            break;
        }
        CHECK((type < TYPES) == (end_count > 0u) && end_count < ENDS);
        if (type < TYPES) {
            now.rows[type] += word(at + 8u);
        }
        at += 28u + padded(len) + padded(word(at)) + padded(word(at + 4u));
        CHECK(at < whole_len);
        now.at = at;
        ends[end_count] = now;
        end_count += 1u;
    }
    CHECK(now.rows[0] == 30u && now.rows[1] == 6u && now.rows[2] == 750u && now.rows[3] == 150u);
}

static uint64_t all_rows(const end *of) {
    return of->rows[0] + of->rows[1] + of->rows[2] + of->rows[3];
}

typedef struct file {
    uint8_t at[MOST];
    size_t len;
} file;

static file out;

static int32_t put(void *context, const uint8_t *bytes, size_t len) {
    file *const to = (file *)context;
    CHECK(len <= sizeof to->at - to->len);
    (void)memcpy(&to->at[to->len], bytes, len);
    to->len += len;
    return 0;
}

static pilaster_ds_writer writer;
static pilaster_ds_entry entries[TYPES];
static pilaster_ds_extent extents[TYPES];
static uint64_t air_rows[256 / 8], battery_rows[128 / 8], motion_rows[1024 / 8], pressure_rows[512 / 8];
static uint8_t slots[32 * 8], packed[768];
static uint16_t table[(PILASTER_DS_TABLE_LEN + 1) / 2];
static pilaster_error error;

/* Continues the log with the rows that are not in it, and ends it. `from`: NULL for a log that is begun. */
static void go_on(const pilaster_ds_type *const *types, const end *from) {
    uint64_t seen[TYPES] = {0u, 0u, 0u, 0u};
    const end none = {0u, {0u, 0u, 0u, 0u}}, *const kept = from == NULL ? &none : from;
    const pilaster_ds_memory memories[TYPES] = {{{(uint8_t *)air_rows, sizeof air_rows}, {NULL, 0u}, NULL, 0u},
                                                {{(uint8_t *)battery_rows, sizeof battery_rows}, {NULL, 0u}, NULL, 0u},
                                                {{(uint8_t *)motion_rows, sizeof motion_rows}, {NULL, 0u}, NULL, 0u},
                                                {{(uint8_t *)pressure_rows, sizeof pressure_rows}, {NULL, 0u}, NULL, 0u}};
    for (size_t k = 0; k < TYPES; k += 1u) {
        CHECK(pilaster_ds_extent_init(&extents[k], types[k], &memories[k], &error) == PILASTER_OK);
    }
    /* The order of ../examples/sensors/log.c. */
    for (int64_t ms = 0; ms < MILLIS; ms += MOTION_EVERY) {
        const struct motion motion = read_motion(ms);
        const struct pressure pressure = read_pressure(ms);
        const struct air air = read_air(ms);
        const struct battery battery = read_battery(ms);
        seen[2] += 1u;
        CHECK(seen[2] <= kept->rows[2] || motion_row(&writer, &extents[2], &motion, &error) == PILASTER_OK);
        if (ms % PRESSURE_EVERY == 0) {
            seen[3] += 1u;
            CHECK(seen[3] <= kept->rows[3] || pressure_row(&writer, &extents[3], &pressure, &error) == PILASTER_OK);
        }
        if (ms % AIR_EVERY == 0) {
            seen[0] += 1u;
            CHECK(seen[0] <= kept->rows[0] || air_row(&writer, &extents[0], &air, &error) == PILASTER_OK);
        }
        if (ms % BATTERY_EVERY == 0) {
            seen[1] += 1u;
            CHECK(seen[1] <= kept->rows[1] || battery_row(&writer, &extents[1], &battery, &error) == PILASTER_OK);
        }
    }
    for (size_t k = 0; k < TYPES; k += 1u) {
        CHECK(pilaster_ds_flush(&writer, &extents[k], &error) == PILASTER_OK);
    }
    CHECK(pilaster_ds_finish(&writer, &error) == PILASTER_OK);
}

/* The log that is resumed after a cut: what the library finds, and what it says of the rest. */
static void resume(const pilaster_ds_config *config, size_t len, bool erased, const end *expected) {
    pilaster_ds_found found;
    (void)memcpy(cut, whole, len);
    (void)memset(&cut[len], 0xff, 100u);
    (void)memset(&writer, 0, sizeof writer);
    const int32_t code = pilaster_ds_resume(&writer, config, cut, erased ? len + 100u : len, &found, &error);
    if (expected == NULL) {
        CHECK(code != PILASTER_OK);
        return;
    }
    CHECK(code == PILASTER_OK && found.at == expected->at && found.rows == all_rows(expected));
    const bool exact = found.at == len;
    switch (found.rest) {
    case PILASTER_DS_REST_NOTHING: CHECK(exact && !erased); break;
    case PILASTER_DS_REST_ERASED: CHECK(exact && erased); break;
    case PILASTER_DS_REST_INDEX: CHECK(len > ends[end_count - 1u].at); break;
    default: CHECK(found.rest == PILASTER_DS_REST_DAMAGE && !exact); break;
    }
}

static void cut_at_every_byte(const pilaster_ds_config *config, bool same) {
    static uint8_t memory[8192];
    for (size_t len = 0; len <= whole_len; len += 1u) {
        const end *expected = NULL;
        for (size_t k = 0; k < end_count && ends[k].at <= len; k += 1u) {
            expected = &ends[k];
        }
        resume(config, len, true, expected);
        resume(config, len, false, expected);
        if (expected == NULL) {
            (void)memset(&writer, 0, sizeof writer);
            CHECK(pilaster_ds_init(&writer, config, &error) == PILASTER_OK);
        }
        out.len = expected == NULL ? 0u : expected->at;
        (void)memcpy(out.at, whole, out.len);
        go_on(config->types, expected);
        uint32_t finished = 0u;
        pilaster_ds_found found;
        CHECK(pilaster_ds_verify(out.at, out.len, memory, sizeof memory, &finished, &error) == PILASTER_OK && finished == 1u);
        CHECK(pilaster_ds_resume(&writer, config, out.at, out.len, &found, &error) == PILASTER_OK);
        CHECK(found.rows == all_rows(&ends[end_count - 1u]) && found.rest == PILASTER_DS_REST_INDEX);
        CHECK(expected == NULL || memcmp(out.at, whole, expected->at) == 0);
        CHECK(!same || (out.len == whole_len && memcmp(out.at, whole, whole_len) == 0));
    }
}

int main(int count, char **arguments) {
    const pilaster_ds_type *const types[TYPES] = {air_type(), battery_type(), motion_type(), pressure_type()};
    const pilaster_ds_config config = {put, &out, types, entries, TYPES, PILASTER_DS_LZF, {slots, sizeof slots}, {(uint8_t *)table, sizeof table}, {packed, sizeof packed}};
    bool same = false;
    CHECK(count > 1);
    for (int k = 1; k < count; k += 1) {
        if (strcmp(arguments[k], "same") == 0) {
            same = true;
            continue;
        }
        FILE *const from = fopen(arguments[k], "rb");
        CHECK(from != NULL);
        whole_len = fread(whole, 1u, sizeof whole, from);
        CHECK(fclose(from) == 0 && whole_len < sizeof whole);
        walk();
        cut_at_every_byte(&config, same);
        (void)printf("%s: %zu cuts, %zu extents\n", arguments[k], whole_len + 1u, end_count - 1u);
    }
    return 0;
}
