#include "log.h"

#include "sensors.h"

/* All memory of the logger. */
static pilaster_ds_writer writer;
static pilaster_ds_entry entries[4];
static pilaster_ds_extent airs, batteries, motions, pressures;
static uint64_t air_rows[256 / 8], battery_rows[128 / 8], motion_rows[1024 / 8], pressure_rows[512 / 8];
static uint8_t slots[32 * 8], packed[768];
static uint16_t table[(PILASTER_DS_TABLE_LEN + 1) / 2];

#define MEMORY(array) \
    { (uint8_t *)(array), sizeof(array) }

static int32_t begin(pilaster_put put, void *context, pilaster_error *error) {
    const pilaster_ds_type *const types[] = {air_type(), battery_type(), motion_type(), pressure_type()};
    const pilaster_ds_config config = {put,           context,       types,         entries, 4u, PILASTER_DS_LZF,
                                       MEMORY(slots), MEMORY(table), MEMORY(packed)};
    const pilaster_ds_memory air_memory = {MEMORY(air_rows), {NULL, 0u}, NULL, 0u};
    const pilaster_ds_memory battery_memory = {MEMORY(battery_rows), {NULL, 0u}, NULL, 0u};
    const pilaster_ds_memory motion_memory = {MEMORY(motion_rows), {NULL, 0u}, NULL, 0u};
    const pilaster_ds_memory pressure_memory = {MEMORY(pressure_rows), {NULL, 0u}, NULL, 0u};
    int32_t code = pilaster_ds_init(&writer, &config, error);
    if (code == PILASTER_OK) {
        code = pilaster_ds_extent_init(&airs, air_type(), &air_memory, error);
    }
    if (code == PILASTER_OK) {
        code = pilaster_ds_extent_init(&batteries, battery_type(), &battery_memory, error);
    }
    if (code == PILASTER_OK) {
        code = pilaster_ds_extent_init(&motions, motion_type(), &motion_memory, error);
    }
    if (code == PILASTER_OK) {
        code = pilaster_ds_extent_init(&pressures, pressure_type(), &pressure_memory, error);
    }
    return code;
}

/* The readings of one moment. */
static int32_t log_moment(int64_t ms, pilaster_error *error) {
    const struct motion motion = read_motion(ms);
    int32_t code = motion_row(&writer, &motions, &motion, error);
    if (code == PILASTER_OK && ms % PRESSURE_EVERY == 0) {
        const struct pressure pressure = read_pressure(ms);
        code = pressure_row(&writer, &pressures, &pressure, error);
    }
    if (code == PILASTER_OK && ms % AIR_EVERY == 0) {
        const struct air air = read_air(ms);
        code = air_row(&writer, &airs, &air, error);
    }
    if (code == PILASTER_OK && ms % BATTERY_EVERY == 0) {
        const struct battery battery = read_battery(ms);
        code = battery_row(&writer, &batteries, &battery, error);
    }
    return code;
}

int32_t log_sensors(pilaster_put put, void *context, int64_t millis, pilaster_error *error) {
    pilaster_ds_extent *const extents[] = {&airs, &batteries, &motions, &pressures};
    int32_t code = begin(put, context, error);
    for (int64_t ms = 0; code == PILASTER_OK && ms < millis; ms += MOTION_EVERY) {
        code = log_moment(ms, error);
    }
    for (size_t k = 0; code == PILASTER_OK && k < sizeof extents / sizeof extents[0]; k += 1) {
        code = pilaster_ds_flush(&writer, extents[k], error);
    }
    return code == PILASTER_OK ? pilaster_ds_finish(&writer, error) : code;
}
