/* Wild calls of the writers of Filo and Vortex. */
#ifndef WILD_COLUMNS_H
#define WILD_COLUMNS_H

#include "pilaster_filo.h"
#include "pilaster_vortex.h"
#include "wild_input.h"

static pilaster_filo vector;
static uint8_t vector_page[128];
static pilaster_vortex log_of_columns;
static file columns;

static int32_t sync_columns(void *context) {
    CHECK(context == &columns);
    return next() == 255u ? -5 : 0;
}

static void begin_columns(void) {
    (void)memset(&vector, 0, sizeof vector);
    (void)memset(&log_of_columns, 0, sizeof log_of_columns);
    columns.len = 0u;
}

static void begin_vector(uint32_t type) {
    /* A page in the vector is refused. */
    const bool itself = odd();
    const size_t len = itself ? 16u : odd() ? SIZE_MAX : below(129u), rows_of = odd() ? SIZE_MAX : below(9u);
    uint8_t *const page = itself ? (uint8_t *)&vector : odd() ? NULL : vector_page;
    const uint32_t width = next(), masked = next() % 2u;
    const int64_t base = (int64_t)((uint64_t)below(65536u) << below(49u));
    const int32_t slope = (int32_t)below(2000u) - 1000;
    int32_t code = PILASTER_OK;
    switch (type) {
    case 0: code = checked(pilaster_filo_ints_init(&vector, page, len, width, masked, &error)); break;
    case 1: code = checked(pilaster_filo_longs_init(&vector, page, len, width, masked, &error)); break;
    case 2: code = checked(pilaster_filo_doubles_init(&vector, page, len, width, masked, &error)); break;
    case 3: code = checked(pilaster_filo_lines_init(&vector, page, len, base, slope, width, &error)); break;
    case 4: code = checked(pilaster_filo_floats_init(&vector, page, len, &error)); break;
    case 5: code = checked(pilaster_filo_booleans_init(&vector, page, len, &error)); break;
    case 6: code = checked(pilaster_filo_timestamps_init(&vector, page, len, base, width, &error)); break;
    case 7: code = checked(pilaster_filo_date_times_init(&vector, page, len, base, slope * 900000, width, &error)); break;
    case 8: code = checked(pilaster_filo_strings_init(&vector, page, len, rows_of, &error)); break;
    case 9: code = checked(pilaster_filo_utf8s_init(&vector, page, len, rows_of, &error)); break;
    default: code = checked(pilaster_filo_fixed_init(&vector, page, len, (uint8_t)width, &error)); break;
    }
    CHECK(!itself || (code == PILASTER_ARGUMENT && error.at == 2u) || code == PILASTER_UNSUPPORTED);
}

static void push_value(uint32_t type) {
    const int64_t value = (int64_t)((uint64_t)below(65536u) << below(49u)) - (int64_t)below(300u);
    const char *const text = odd() ? NULL : (const char *)columns.at;
    const size_t len = odd() ? (text == NULL ? SIZE_MAX : 300u) : below(40u);
    switch (type) {
    case 0: (void)checked(pilaster_filo_ints_push(&vector, (int32_t)below(300u) - 150, &error)); break;
    case 1: (void)checked(pilaster_filo_longs_push(&vector, value, &error)); break;
    case 2: (void)checked(pilaster_filo_doubles_push(&vector, (double)value * 0.5, &error)); break;
    case 3: (void)checked(pilaster_filo_lines_push(&vector, value, &error)); break;
    case 4: (void)checked(pilaster_filo_floats_push(&vector, (float)value, &error)); break;
    case 5: (void)checked(pilaster_filo_booleans_push(&vector, next(), &error)); break;
    case 6: (void)checked(pilaster_filo_timestamps_push(&vector, value, &error)); break;
    case 7: (void)checked(pilaster_filo_date_times_push(&vector, value, &error)); break;
    case 8: (void)checked(pilaster_filo_strings_push(&vector, text, len, &error)); break;
    case 9: (void)checked(pilaster_filo_utf8s_push(&vector, text, len, &error)); break;
    default: (void)checked(pilaster_filo_fixed_push(&vector, text, len, &error)); break;
    }
}

static int32_t (*const missing[])(pilaster_filo *, pilaster_error *) = {
    pilaster_filo_ints_missing,       pilaster_filo_longs_missing,    pilaster_filo_doubles_missing,    pilaster_filo_lines_missing,
    pilaster_filo_floats_missing,     pilaster_filo_booleans_missing, pilaster_filo_timestamps_missing, pilaster_filo_date_times_missing,
    pilaster_filo_strings_missing,    pilaster_filo_utf8s_missing,    pilaster_filo_fixed_missing,
};
static int32_t (*const ends[])(pilaster_filo *, size_t *, pilaster_error *) = {
    pilaster_filo_ints_finish,       pilaster_filo_longs_finish,    pilaster_filo_doubles_finish,    pilaster_filo_lines_finish,
    pilaster_filo_floats_finish,     pilaster_filo_booleans_finish, pilaster_filo_timestamps_finish, pilaster_filo_date_times_finish,
    pilaster_filo_strings_finish,    pilaster_filo_utf8s_finish,    pilaster_filo_fixed_finish,
};

/* The type of the vector, mostly. */
static void filo(void) {
    static uint32_t begun;
    const uint32_t type = odd() ? below(11u) : begun;
    size_t len = 0u;
    switch (below(5u)) {
    case 0: begun = below(11u); begin_vector(begun); break;
    case 1: (void)checked(missing[type](odd() ? NULL : &vector, &error)); break;
    case 2: (void)checked(ends[type](&vector, odd() ? NULL : &len, &error)); break;
    default: push_value(type); break;
    }
    CHECK(len <= sizeof vector_page);
}

static void begin_log(void) {
    static pilaster_vortex_entry entries[5];
    static pilaster_vortex_place places[5];
    static uint64_t rows_of[256];
    static uint32_t groups[64];
    const bool before = honest;
    bool overlaps = false;
    honest = true;
    pilaster_vortex_field fields[5] = {{{"flag", 4u}, {NULL, 0u}, PILASTER_VORTEX_BOOL, 0u},
                                       {{"time", 4u}, {"UTC", 3u}, PILASTER_VORTEX_TIMESTAMP_MS, 0u},
                                       {{"count", 5u}, {NULL, 0u}, PILASTER_VORTEX_I32, 1u},
                                       {{"temp", 4u}, {NULL, 0u}, PILASTER_VORTEX_F64, 1u},
                                       {{"note", 4u}, {NULL, 0u}, PILASTER_VORTEX_UTF8, 1u}};
    pilaster_vortex_config config = {put, sync_columns, &columns, fields, entries, places, 5u, 8u, memory_of((uint8_t *)rows_of, sizeof rows_of, (uint8_t *)groups), groups, 64u, below(3u), 0u};
    if (odd()) {
        pilaster_vortex_field *const field = &fields[below(5u)];
        honest = false;
        switch (below(13u)) {
        case 0: config.put = NULL; break;
        case 1: config.sync = NULL; break;
        case 2: config.fields = NULL; break;
        case 3: config.entries = NULL; break;
        case 4: config.places = NULL; break;
        case 5: {
            const bool high = odd();
            config.field_count = high ? UINT32_MAX : below(6u);
            config.entries = high ? TOO_HIGH : entries;
            break;
        }
        case 6: config.row_count = below(65536u) << below(17u); break;
        case 7: config.groups = NULL; config.group_words = below(65536u); break;
        case 8: config.group_words = below(65u); break;
        case 9: field->type = below(32u); break;
        case 10: overlaps = true; config.fields = (const pilaster_vortex_field *)(const void *)places; break;
        case 11: field->name.len = below((uint32_t)field->name.len + 1u); break;
        default: field->zone.at = NULL; field->zone.len = below(3u); break;
        }
    }
    (void)memset(&log_of_columns, 0, sizeof log_of_columns);
    if (below(3u) == 0u) {
        /* A log in memory of the writer is refused, and a result there or in the log. */
        pilaster_vortex_found apart;
        uint8_t *const from[] = {columns.at, (uint8_t *)groups, (uint8_t *)entries, (uint8_t *)rows_of, (uint8_t *)places};
        const uint32_t place = odd() ? below(5u) : 0u;
        const size_t len = place > 0u ? 16u : odd() ? below(65536u) % (columns.len + 1u) : columns.len;
        pilaster_vortex_found *const found = odd() ? (pilaster_vortex_found *)(void *)from[below(5u)] : odd() ? NULL : &apart;
        const bool right = honest;
        const int32_t code = checked(pilaster_vortex_resume(&log_of_columns, &config, from[place], len, found, &error));
        CHECK(found == &apart || !right || code != PILASTER_OK);
        CHECK(!overlaps || (code == PILASTER_ARGUMENT && error.at == 2u));
        CHECK(place == 0u || code != PILASTER_OK);
        if (code == PILASTER_OK) {
            CHECK(found->at <= columns.len);
            columns.len = (size_t)found->at;
        }
    } else {
        columns.len = 0u;
        CHECK(checked(pilaster_vortex_init(odd() ? NULL : &log_of_columns, &config, &error)) == PILASTER_ARGUMENT || !overlaps);
    }
    honest = before;
}

static void add_cells(void) {
    static const char note[] = "a note that may be cut";
    pilaster_vortex_cell cells[5] = {{PILASTER_CELL_BOOL, 0u, next() % 2u, {NULL, 0u}},
                                     {PILASTER_CELL_INT, 0u, below(60000u), {NULL, 0u}},
                                     {PILASTER_CELL_INT, 0u, next(), {NULL, 0u}},
                                     {PILASTER_CELL_DOUBLE, 0u, (uint64_t)below(65536u) << 40, {NULL, 0u}},
                                     {PILASTER_CELL_TEXT, 0u, 0u, {note, below((uint32_t)sizeof note)}}};
    if (odd()) {
        pilaster_vortex_cell *const cell = &cells[below(5u)];
        cell->kind = below(10u);
        cell->word = (uint64_t)below(65536u) << below(49u);
        cell->text.at = odd() ? NULL : (const char *)cells;
        cell->text.len = odd() && cell->text.at == NULL ? SIZE_MAX : below(64u);
    }
    (void)checked(pilaster_vortex_row(&log_of_columns, odd() ? NULL : cells, odd() ? below(6u) : 5u, &error));
}

static void vortex(void) {
    pilaster_vortex_counts counts;
    pilaster_vortex *const log = odd() ? NULL : &log_of_columns;
    switch (below(12u)) {
    case 0: begin_log(); break;
    case 1: (void)checked(pilaster_vortex_flush(log, &error)); break;
    case 2: (void)checked(pilaster_vortex_checkpoint(log, &error)); break;
    case 3: (void)checked(pilaster_vortex_finish(log, &error)); break;
    case 4: (void)checked(pilaster_vortex_count(log, odd() ? NULL : &counts, &error)); break;
    default: add_cells(); break;
    }
}

#endif
