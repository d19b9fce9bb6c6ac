#include "log.h"

#include "sensors.h"

enum { AIR, BATTERY, MOTION, PRESSURE, TYPES };

/* All memory of the logger. */
static pilaster_ds_writer writer;
static pilaster_ds_entry entries[TYPES];
static pilaster_ds_extent extents[TYPES];
static uint64_t air_rows[256 / 8], battery_rows[128 / 8], motion_rows[1024 / 8], pressure_rows[512 / 8];
static uint8_t slots[32 * 8], packed[768];
static uint16_t table[(PILASTER_DS_TABLE_LEN + 1) / 2];

#define MEMORY(array) \
    { (uint8_t *)(array), sizeof(array) }
#define ROWS(array) \
    { MEMORY(array), {NULL, 0u}, NULL, 0u }
static const pilaster_ds_memory memories[TYPES] = {ROWS(air_rows), ROWS(battery_rows), ROWS(motion_rows), ROWS(pressure_rows)};

static int32_t begin(pilaster_put put, void *context, pilaster_error *error) {
    const pilaster_ds_type *const types[TYPES] = {air_type(), battery_type(), motion_type(), pressure_type()};
    const pilaster_ds_config config = {put,           context,       types,         entries, TYPES, PILASTER_DS_LZF,
                                       MEMORY(slots), MEMORY(table), MEMORY(packed)};
    int32_t code = pilaster_ds_init(&writer, &config, error);
    for (size_t k = 0; code == PILASTER_OK && k < TYPES; k += 1) {
        code = pilaster_ds_extent_init(&extents[k], types[k], &memories[k], error);
    }
    return code;
}

/* The readings of one moment. */
static int32_t log_moment(int64_t ms, pilaster_error *error) {
    const struct motion motion = read_motion(ms);
    int32_t code = motion_row(&writer, &extents[MOTION], &motion, error);
    if (code == PILASTER_OK && ms % PRESSURE_EVERY == 0) {
        const struct pressure pressure = read_pressure(ms);
        code = pressure_row(&writer, &extents[PRESSURE], &pressure, error);
    }
    if (code == PILASTER_OK && ms % AIR_EVERY == 0) {
        const struct air air = read_air(ms);
        code = air_row(&writer, &extents[AIR], &air, error);
    }
    if (code == PILASTER_OK && ms % BATTERY_EVERY == 0) {
        const struct battery battery = read_battery(ms);
        code = battery_row(&writer, &extents[BATTERY], &battery, error);
    }
    return code;
}

int32_t log_sensors(pilaster_put put, void *context, int64_t millis, pilaster_error *error) {
    int32_t code = begin(put, context, error);
    for (int64_t ms = 0; code == PILASTER_OK && ms < millis; ms += MOTION_EVERY) {
        code = log_moment(ms, error);
    }
    for (size_t k = 0; code == PILASTER_OK && k < TYPES; k += 1) {
        code = pilaster_ds_flush(&writer, &extents[k], error);
    }
    return code == PILASTER_OK ? pilaster_ds_finish(&writer, error) : code;
}
