/* Four sensors with different rates: their records, and simulated readings. The same as examples/firmware/logger/src/sensors.rs. */
#ifndef SENSORS_H
#define SENSORS_H

#include "pilaster_record.h"

/* Temperature and humidity, once a second. The humidity is missing while the sensor heats itself dry. */
#define AIR_FIELDS(F)                                 \
    F(INT64, time, REQUIRED, RELATIVE, EXACT)         \
    F(DOUBLE, temp, REQUIRED, ABSOLUTE, SCALED(0.01)) \
    F(INT32, humidity, NULLABLE, ABSOLUTE, EXACT)
PILASTER_RECORD(air, "Air", "example.org", "1.0", AIR_FIELDS)

/* The battery, every five seconds. */
#define BATTERY_FIELDS(F)                           \
    F(INT64, time, REQUIRED, RELATIVE, EXACT)       \
    F(INT32, millivolts, REQUIRED, RELATIVE, EXACT) \
    F(BOOL, charging, REQUIRED, ABSOLUTE, EXACT)
PILASTER_RECORD(battery, "Battery", "example.org", "1.0", BATTERY_FIELDS)

/* Acceleration in thousandths of standard gravity, 25 times a second. */
#define MOTION_FIELDS(F)                      \
    F(INT64, time, REQUIRED, RELATIVE, EXACT) \
    F(INT32, x, REQUIRED, ABSOLUTE, EXACT)    \
    F(INT32, y, REQUIRED, ABSOLUTE, EXACT)    \
    F(INT32, z, REQUIRED, ABSOLUTE, EXACT)
PILASTER_RECORD(motion, "Motion", "example.org", "1.0", MOTION_FIELDS)

/* Air pressure in pascal, five times a second. */
#define PRESSURE_FIELDS(F)                    \
    F(INT64, time, REQUIRED, RELATIVE, EXACT) \
    F(DOUBLE, pascal, REQUIRED, ABSOLUTE, SCALED(0.1))
PILASTER_RECORD(pressure, "Pressure", "example.org", "1.0", PRESSURE_FIELDS)

/* Milliseconds between two readings. */
enum { AIR_EVERY = 1000, BATTERY_EVERY = 5000, MOTION_EVERY = 40, PRESSURE_EVERY = 200 };

/* The start of the log in milliseconds since 1970. */
#define START INT64_C(1700000000000)

/* A pseudo-random number from 0 to below - 1, which depends on n only. */
static inline int32_t noise(int64_t n, int32_t below) {
    const uint64_t mixed = (((uint64_t)n ^ UINT64_C(0x5851f42d)) * UINT64_C(0x9e3779b97f4a7c15)) >> 33;
    return (int32_t)((uint32_t)mixed % (uint32_t)below);
}

/* A triangle wave from 0 to height and back. */
static inline int32_t wave(int64_t n, int32_t period, int32_t height) {
    const int32_t at = (int32_t)(n % period) * 2;
    const int32_t up = at > period ? 2 * period - at : at;
    return up * height / period;
}

/* Readings so many milliseconds after the start. */
static inline struct air read_air(int64_t ms) {
    struct air row = {0};
    row.time = START + ms;
    row.temp = (double)(2130 + wave(ms / 1000, 600, 90) + noise(ms, 2)) * 0.01;
    row.humidity_is_null = ms / 1000 % 16 == 15;
    row.humidity = 41 + wave(ms / 1000, 240, 5);
    return row;
}

static inline struct battery read_battery(int64_t ms) {
    struct battery row = {0};
    row.time = START + ms;
    row.millivolts = 3912 - (int32_t)(ms / 60000) + noise(ms, 3);
    row.charging = ms > 20000;
    return row;
}

static inline struct motion read_motion(int64_t ms) {
    struct motion row = {0};
    row.time = START + ms;
    row.x = noise(ms, 5) - 2;
    row.y = wave(ms, 900, 40);
    row.z = 998 + noise(ms + 1, 4);
    return row;
}

static inline struct pressure read_pressure(int64_t ms) {
    struct pressure row = {0};
    row.time = START + ms;
    row.pascal = (double)(1013250 + wave(ms / 200, 300, 60) + noise(ms, 3)) * 0.1;
    return row;
}

#endif
