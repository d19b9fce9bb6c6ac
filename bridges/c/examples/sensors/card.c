/*
 * A log on a card, continued at each start, whatever the last power cut left: `card FILE` adds 40 rows of one sensor. It destroys no rows
 * that could be saved: what it does not continue it copies to FILE.1, FILE.2 and so on, for `pilaster recover`.
 */
#define _POSIX_C_SOURCE 200112L
#include <stdio.h>
#include <unistd.h>

#include "sensors.h"

/* The log as it was found. A chip whose flash or card is not in its memory reads it there; a log must be as small as this memory. */
static uint8_t image[1u << 20];
static pilaster_ds_writer writer;
static pilaster_ds_extent airs;
static pilaster_ds_entry entries[1];
static uint64_t rows[10 * air_record_len / 8];
static uint8_t slots[64 * 8];

/* More bytes than an extent has, with its header and name. A cut leaves a part of one. */
#define LONGEST (sizeof rows + 128u)

static int32_t put(void *context, const uint8_t *bytes, size_t len) {
    FILE *const file = (FILE *)context;
    return (fwrite(bytes, 1, len, file) == len && fflush(file) == 0) ? 0 : -1;
}

/* Copies the log to a file that does not exist yet. */
static bool keep(const char *path, size_t len) {
    for (unsigned n = 1u; n < 1000u; n += 1u) {
        char name[512];
        if (snprintf(name, sizeof name, "%s.%u", path, n) >= (int)sizeof name) {
            return false;
        }
        FILE *file = fopen(name, "rb");
        if (file == NULL) {
            file = fopen(name, "wb");
            const bool written = file != NULL && fwrite(image, 1, len, file) == len;
            (void)printf("kept a copy: %s\n", name);
            return file != NULL && fclose(file) == 0 && written;
        }
        (void)fclose(file);
    }
    return false;
}

/* Continues the log in the first `len` bytes of the image, or begins another. `file` is cut off where it is written on. */
static int32_t begin(FILE *file, const char *path, size_t len, pilaster_error *error) {
    const pilaster_ds_type *const types[] = {air_type()};
    const pilaster_ds_config config = {put, file, types, entries, 1u, PILASTER_DS_STORED, {slots, sizeof slots}, {NULL, 0u}, {NULL, 0u}};
    pilaster_ds_found found = {0u, 0u, PILASTER_DS_REST_NOTHING, 0u};
    int32_t code = (len == 0u) ? PILASTER_TRUNCATED : pilaster_ds_resume(&writer, &config, image, len, &found, error);
    if (code > 0 && code < PILASTER_ARGUMENT) {
        /* No log with these types: cut in its head, of another firmware, or damaged there. */
        found.at = 0u;
        code = (len == 0u || keep(path, len)) ? pilaster_ds_init(&writer, &config, error) : -1;
    } else if (code == PILASTER_OK && found.rest == PILASTER_DS_REST_DAMAGE && len - found.at > LONGEST && !keep(path, len)) {
        /* Not from a cut: there may be intact extents behind a damaged one. */
        code = -1;
    }
    if (code == PILASTER_OK && (ftruncate(fileno(file), (off_t)found.at) != 0 || fseek(file, (long)found.at, SEEK_SET) != 0)) {
        code = -1;
    }
    return code;
}

int main(int count, char **arguments) {
    FILE *file = count == 2 ? fopen(arguments[1], "r+b") : NULL;
    if (file == NULL) {
        file = count == 2 ? fopen(arguments[1], "w+b") : NULL;
    }
    if (file == NULL) {
        (void)fprintf(stderr, "usage: card FILE\n");
        return 2;
    }
    const pilaster_ds_memory memory = {{(uint8_t *)rows, sizeof rows}, {NULL, 0u}, NULL, 0u};
    pilaster_error error = {0, 0u, 0u, 0u};
    const size_t len = fread(image, 1, sizeof image, file);
    int32_t code = (len < sizeof image) ? begin(file, arguments[1], len, &error) : -1;
    if (code == PILASTER_OK) {
        code = pilaster_ds_extent_init(&airs, air_type(), &memory, &error);
    }
    for (int64_t k = 0; code == PILASTER_OK && k < 40; k += 1) {
        const struct air air = read_air(k * AIR_EVERY);
        code = air_row(&writer, &airs, &air, &error);
    }
    if (code == PILASTER_OK) {
        code = pilaster_ds_flush(&writer, &airs, &error);
    }
    if (code != PILASTER_OK) {
        (void)fprintf(stderr, "code %d in field %u at %u\n", (int)code, (unsigned)error.what, (unsigned)error.at);
    }
    return (fclose(file) == 0 && code == PILASTER_OK) ? 0 : 1;
}
