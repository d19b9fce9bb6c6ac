/*
 * Readings from an interrupt to the loop that logs them: a ring with one producer and one consumer, neither of which waits. An interrupt may not
 * call the library while the loop does, which would be refused with PILASTER_STATE, and a write to a card takes longer than an interrupt has.
 *
 *     static readings waiting;
 *     void timer_handler(void) { const struct motion row = read_motion(now()); readings_put(&waiting, &row); }
 *     for (;;) { (void)readings_log(&waiting, &writer, &motions, &losses, &error); sleep(); }
 *
 * The numbers are volatile, and a fence of C11 stands between them and the rows. Atomic numbers would be functions that a Cortex-M0 has not.
 */
#ifndef INTERRUPTS_H
#define INTERRUPTS_H

#include <stdatomic.h>

#include "sensors.h"

/* Rows that were lost, as the loop was behind, since the row of this type before. */
#define LOSS_FIELDS(F)                        \
    F(INT64, time, REQUIRED, RELATIVE, EXACT) \
    F(INT32, rows, REQUIRED, ABSOLUTE, EXACT)
PILASTER_RECORD(loss, "Loss", "example.org", "1.0", LOSS_FIELDS)

/* A power of two. */
#define READINGS_ROOM 16u

typedef struct readings {
    struct motion rows[READINGS_ROOM];
    volatile uint32_t put;   /* Written by the interrupt only, as the next. */
    volatile uint32_t lost;
    volatile uint32_t taken; /* Written by the loop only, as the next. */
    uint32_t told;           /* Of those that were lost. */
} readings;

/* For the interrupt: adds a row, or counts it as lost. */
static inline void readings_put(readings *to, const struct motion *row) {
    const uint32_t put = to->put;
    if (put - to->taken >= READINGS_ROOM) {
        to->lost = to->lost + 1u;
        return;
    }
    /* The loop has read the row that was here, */
    atomic_thread_fence(memory_order_acquire);
    to->rows[put % READINGS_ROOM] = *row;
    /* and sees this one before its number. */
    atomic_thread_fence(memory_order_release);
    to->put = put + 1u;
}

/* For the loop: takes the oldest row, if there is one. */
static inline bool readings_take(readings *from, struct motion *row) {
    const uint32_t taken = from->taken;
    if (from->put == taken) {
        return false;
    }
    atomic_thread_fence(memory_order_acquire);
    *row = from->rows[taken % READINGS_ROOM];
    atomic_thread_fence(memory_order_release);
    from->taken = taken + 1u;
    return true;
}

/* For the loop: logs the rows that wait, and how many were lost. After an error, the row that failed is lost and not counted. */
static inline int32_t readings_log(readings *from, pilaster_ds_writer *writer, pilaster_ds_extent *motions, pilaster_ds_extent *losses,
                                   pilaster_error *error) {
    struct motion row = {0};
    int32_t code = PILASTER_OK;
    while (code == PILASTER_OK && readings_take(from, &row)) {
        code = motion_row(writer, motions, &row, error);
    }
    const uint32_t lost = from->lost;
    if (code == PILASTER_OK && lost != from->told) {
        const struct loss loss = {row.time, (int32_t)(lost - from->told)};
        code = loss_row(writer, losses, &loss, error);
        from->told = (code == PILASTER_OK) ? lost : from->told;
    }
    return code;
}

#endif
