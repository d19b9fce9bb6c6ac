/* Sends standard input as frames to standard output, in chunks of the size that the argument says: `pilaster receive` collects them. */
#include <stdio.h>
#include <stdlib.h>

#include "pilaster_frame.h"

static int32_t put(void *context, const uint8_t *bytes, size_t len) {
    return (fwrite(bytes, 1u, len, (FILE *)context) == len) ? 0 : -1;
}

int main(int count, char **arguments) {
    static uint8_t chunk[65536], piece[37];
    static pilaster_frames frames;
    const size_t room = (count > 1) ? (size_t)strtoul(arguments[1], NULL, 10) : 128u;
    if (room > sizeof chunk) {
        return 2;
    }
    pilaster_frames_init(&frames, put, stdout, chunk, 15u, 0u);
    if ((pilaster_frames_put(&frames, piece, 1u) != PILASTER_FRAME_SMALL) || (pilaster_frames_end(&frames) != PILASTER_FRAME_SMALL)) {
        return 3;
    }
    pilaster_frames_init(&frames, put, stdout, chunk, (size_t)PILASTER_FRAME_MOST + 1u, 0u);
    if ((pilaster_frames_put(&frames, piece, 1u) != PILASTER_FRAME_LARGE) || (pilaster_frames_flush(&frames) != PILASTER_FRAME_LARGE) ||
        (pilaster_frames_end(&frames) != PILASTER_FRAME_LARGE)) {
        return 4;
    }
    pilaster_frames_init(&frames, put, stdout, chunk, room, 0u);
    size_t len = fread(piece, 1u, sizeof piece, stdin);
    int32_t code = 0;
    while ((code == 0) && (len > 0u)) {
        code = pilaster_frames_put(&frames, piece, len);
        /* A flush in between sends a shorter frame. */
        if ((code == 0) && (piece[0] == 7u)) {
            code = pilaster_frames_flush(&frames);
        }
        len = fread(piece, 1u, sizeof piece, stdin);
    }
    if (code == 0) {
        code = pilaster_frames_end(&frames);
    }
    return ((code == 0) && (fflush(stdout) == 0)) ? 0 : 1;
}
