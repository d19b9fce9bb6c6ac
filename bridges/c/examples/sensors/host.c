/* Logs four sensors into the file that the argument names, on a host. */
#include <inttypes.h>
#include <stdio.h>

#include "log.h"

static int32_t put(void *context, const uint8_t *bytes, size_t len) {
    return fwrite(bytes, 1, len, (FILE *)context) == len ? 0 : -1;
}

int main(int count, char **arguments) {
    FILE *const file = count == 2 ? fopen(arguments[1], "wb") : NULL;
    if (file == NULL) {
        (void)fprintf(stderr, "usage: sensors FILE\n");
        return 2;
    }
    pilaster_error error;
    int32_t code = log_sensors(put, file, 30000, &error);
    if (code != PILASTER_OK) {
        (void)fprintf(stderr, "code %" PRId32 " in field %" PRIu32 " at %" PRIu64 ", need %" PRIu64 "\n", code, error.what,
                      error.at, error.need);
    }
    if (fclose(file) != 0 && code == PILASTER_OK) {
        code = -1;
    }
    return code == PILASTER_OK ? 0 : 1;
}
