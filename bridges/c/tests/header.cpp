// The headers as C++: a record, and the calls.
#include "pilaster_arrow.h"
#include "pilaster_filo.h"
#include "pilaster_frame.h"
#include "pilaster_record.h"
#include "pilaster_vortex.h"

#define READING_FIELDS(F)                             \
    F(INT64, time, REQUIRED, RELATIVE, EXACT)         \
    F(DOUBLE, temp, NULLABLE, ABSOLUTE, SCALED(0.01)) \
    F(FIXED(6), mac, REQUIRED, ABSOLUTE, EXACT)       \
    F(TEXT, note, REQUIRED, ABSOLUTE, EXACT)
PILASTER_RECORD(reading, "Reading", "example.org", "1.0", READING_FIELDS)

static_assert(reading_record_len == 32, "one byte of bits, six bytes, a text, two words of eight");

int32_t log_one(pilaster_ds_writer *writer, pilaster_ds_extent *extent) {
    reading row = {};
    row.time = 1000;
    row.temp_is_null = true;
    row.note = {"door", 4};
    return reading_row(writer, extent, &row, nullptr);
}

int32_t begin(pilaster_ds_extent *extent, const pilaster_ds_memory *memory) {
    return pilaster_ds_extent_init(extent, reading_type(), memory, nullptr);
}
