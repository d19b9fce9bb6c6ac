/* The logger of log.c with records that are declared in Rust: rust/src/rows.rs. */
#include "log.h"

#include "sensors.h"

/* As rust/src/rows.rs has them. */
typedef struct sensors_log {
    uint64_t opaque[100];
} sensors_log;
typedef struct sensors_memory {
    uint64_t lent[3464 / 8];
} sensors_memory;
int32_t sensors_begin(sensors_log *log, sensors_memory *memory, pilaster_put put, void *context, pilaster_error *error);
int32_t sensors_air(sensors_log *log, const struct air *row, pilaster_error *error);
int32_t sensors_battery(sensors_log *log, const struct battery *row, pilaster_error *error);
int32_t sensors_motion(sensors_log *log, const struct motion *row, pilaster_error *error);
int32_t sensors_pressure(sensors_log *log, const struct pressure *row, pilaster_error *error);
int32_t sensors_end(sensors_log *log, pilaster_error *error);

static sensors_log logger;
static sensors_memory memory;

/* The readings of one moment. */
static int32_t log_moment(int64_t ms, pilaster_error *error) {
    const struct motion motion = read_motion(ms);
    int32_t code = sensors_motion(&logger, &motion, error);
    if (code == PILASTER_OK && ms % PRESSURE_EVERY == 0) {
        const struct pressure pressure = read_pressure(ms);
        code = sensors_pressure(&logger, &pressure, error);
    }
    if (code == PILASTER_OK && ms % AIR_EVERY == 0) {
        const struct air air = read_air(ms);
        code = sensors_air(&logger, &air, error);
    }
    if (code == PILASTER_OK && ms % BATTERY_EVERY == 0) {
        const struct battery battery = read_battery(ms);
        code = sensors_battery(&logger, &battery, error);
    }
    return code;
}

int32_t log_sensors(pilaster_put put, void *context, int64_t millis, pilaster_error *error) {
    int32_t code = sensors_begin(&logger, &memory, put, context, error);
    for (int64_t ms = 0; code == PILASTER_OK && ms < millis; ms += MOTION_EVERY) {
        code = log_moment(ms, error);
    }
    return code == PILASTER_OK ? sensors_end(&logger, error) : code;
}
