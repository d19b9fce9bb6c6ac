/* A log of four sensors in one DataSeries file. */
#ifndef LOG_H
#define LOG_H

#include "pilaster.h"

/* Logs the readings of so many milliseconds. Returns 0, or what the library returned. */
int32_t log_sensors(pilaster_put put, void *context, int64_t millis, pilaster_error *error);

#endif
