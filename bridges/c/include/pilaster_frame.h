/*
 * A file over a serial line or a radio, in frames that `pilaster receive` collects. It needs nothing of the library, and no memory besides
 * the chunk. A chunk holds 16 to 65,008 bytes: 8 of them are not of the file. The receiver drops longer frames.
 *
 *     static uint8_t chunk[128];
 *     static pilaster_frames frames;
 *     pilaster_frames_init(&frames, uart_put, NULL, chunk, sizeof chunk, 0u);
 *     const pilaster_ds_config config = {pilaster_frames_put, &frames, ...};    the log goes through the frames
 *     ...
 *     pilaster_frames_flush(&frames);                                           after pilaster_ds_flush: the rows are sent
 *     pilaster_frames_end(&frames);                                             after pilaster_ds_finish
 *
 * A frame is the COBS of a chunk, and a zero byte. A chunk is an offset in the file, bytes, and a CRC-32 (IEEE) of both; numbers have four
 * bytes, the lowest first. A chunk without bytes is the end of the file.
 */
#ifndef PILASTER_FRAME_H
#define PILASTER_FRAME_H

#include <stddef.h>
#include <stdint.h>

/* A cast, which C++ has in another form. */
#if !defined(PILASTER_TO_)
#ifdef __cplusplus
#define PILASTER_TO_(type, value) static_cast<type>(value)
#else
#define PILASTER_TO_(type, value) ((type)(value))
#endif
#endif

#if defined(__GNUC__)
#define PILASTER_FRAME_UNUSED __attribute__((unused))
#else
#define PILASTER_FRAME_UNUSED
#endif

/* Stores or sends bytes: 0, or a negative number. */
typedef int32_t (*pilaster_frame_put)(void *context, const uint8_t *bytes, size_t len);

typedef struct pilaster_frames {
    pilaster_frame_put put;
    void *context;
    uint8_t *chunk;
    size_t room; /* Size of the chunk. */
    size_t len;  /* Number of bytes of the file in it. */
    uint32_t at; /* Their offset in the file. */
} pilaster_frames;

/*
 * `room` is 16 to PILASTER_FRAME_MOST. With less, all other functions return PILASTER_FRAME_SMALL, with more PILASTER_FRAME_LARGE, and without
 * `put`, `chunk` or `frames` PILASTER_FRAME_NULL. `at`: the offset of the first byte.
 */
#define PILASTER_FRAME_MOST 65008u
#define PILASTER_FRAME_SMALL (-1000)
#define PILASTER_FRAME_LARGE (-1001)
#define PILASTER_FRAME_NULL (-1002)
PILASTER_FRAME_UNUSED static inline void pilaster_frames_init(pilaster_frames *frames, pilaster_frame_put put, void *context,
                                                              uint8_t *chunk, size_t room, uint32_t at) {
    if (frames != NULL) {
        frames->put = put;
        frames->context = context;
        frames->chunk = chunk;
        frames->room = room;
        frames->len = 0u;
        frames->at = at;
    }
}

/* Whether there is a chunk, of a size that is one. */
PILASTER_FRAME_UNUSED static inline int32_t pilaster_frame_room_(const pilaster_frames *frames) {
    if ((frames == NULL) || (frames->put == NULL) || (frames->chunk == NULL)) {
        return PILASTER_FRAME_NULL;
    }
    return (frames->room < 16u) ? PILASTER_FRAME_SMALL : (frames->room > PILASTER_FRAME_MOST) ? PILASTER_FRAME_LARGE : 0;
}

PILASTER_FRAME_UNUSED static inline void pilaster_frame_word_(uint8_t *to, uint32_t word) {
    to[0] = PILASTER_TO_(uint8_t, word & 255u);
    to[1] = PILASTER_TO_(uint8_t, (word >> 8) & 255u);
    to[2] = PILASTER_TO_(uint8_t, (word >> 16) & 255u);
    to[3] = PILASTER_TO_(uint8_t, word >> 24);
}

PILASTER_FRAME_UNUSED static inline uint32_t pilaster_frame_crc_(const uint8_t *bytes, size_t len) {
    static const uint32_t table[16] = {0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
                                       0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
                                       0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
    uint32_t crc = 0xffffffffu;
    for (size_t k = 0u; k < len; k++) {
        crc = (crc >> 4) ^ table[(crc ^ bytes[k]) & 15u];
        crc = (crc >> 4) ^ table[(crc ^ PILASTER_TO_(uint32_t, bytes[k] >> 4)) & 15u];
    }
    return ~crc;
}

/* Sends the chunk as a frame. */
PILASTER_FRAME_UNUSED static inline int32_t pilaster_frame_send_(pilaster_frames *frames) {
    static const uint8_t zero = 0u;
    size_t end = 0u;
    size_t at = 0u;
    int32_t code = pilaster_frame_room_(frames);
    if (code != 0) {
        return code;
    }
    end = frames->len + 8u;
    pilaster_frame_word_(frames->chunk, frames->at);
    pilaster_frame_word_(&frames->chunk[end - 4u], pilaster_frame_crc_(frames->chunk, end - 4u));
    while ((code == 0) && (at <= end)) {
        /* A run without zeros, and the zero after it, which is not sent; 254 bytes at most. */
        size_t run = 0u;
        while ((run < 254u) && ((at + run) < end) && (frames->chunk[at + run] != 0u)) {
            run++;
        }
        const uint8_t head = PILASTER_TO_(uint8_t, run + 1u);
        code = frames->put(frames->context, &head, 1u);
        if ((code == 0) && (run > 0u)) {
            code = frames->put(frames->context, &frames->chunk[at], run);
        }
        at += (run == 254u) ? run : (run + 1u);
    }
    if (code == 0) {
        code = frames->put(frames->context, &zero, 1u);
    }
    if (code == 0) {
        frames->at += PILASTER_TO_(uint32_t, frames->len);
        frames->len = 0u;
    }
    return code;
}

/* Adds bytes of the file; a full chunk is sent. A sink, whose context is the `pilaster_frames`. */
PILASTER_FRAME_UNUSED static inline int32_t pilaster_frames_put(void *context, const uint8_t *bytes, size_t len) {
    pilaster_frames *const frames = PILASTER_TO_(pilaster_frames *, context);
    int32_t code = pilaster_frame_room_(frames);
    if ((code == 0) && (bytes == NULL) && (len > 0u)) {
        code = PILASTER_FRAME_NULL;
    }
    for (size_t k = 0u; (code == 0) && (k < len); k++) {
        if ((frames->len + 8u) == frames->room) {
            code = pilaster_frame_send_(frames);
        }
        if (code == 0) {
            frames->chunk[4u + frames->len] = bytes[k];
            frames->len++;
        }
    }
    return code;
}

/* Sends the bytes that wait for a full chunk. */
PILASTER_FRAME_UNUSED static inline int32_t pilaster_frames_flush(pilaster_frames *frames) {
    const int32_t code = pilaster_frame_room_(frames);
    return ((code == 0) && (frames->len > 0u)) ? pilaster_frame_send_(frames) : code;
}

/* Sends the rest, and a frame that says where the file ends. */
PILASTER_FRAME_UNUSED static inline int32_t pilaster_frames_end(pilaster_frames *frames) {
    const int32_t code = pilaster_frames_flush(frames);
    return (code == 0) ? pilaster_frame_send_(frames) : code;
}

#endif
