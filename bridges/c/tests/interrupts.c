/* The ring of examples/sensors/interrupts.h: a thread is the interrupt. No row comes twice or in another order, and each is logged or counted. */
#include <pthread.h>

#include "check.h"
#include "../examples/sensors/interrupts.h"

#define ROWS 200000

static readings waiting;
static volatile bool over;
static pilaster_ds_writer writer;
static pilaster_ds_extent motions, losses;
static pilaster_ds_entry entries[2];
static uint64_t motion_rows[32 * motion_record_len / 8], loss_rows[8 * loss_record_len / 8];
static uint64_t stored;

static int32_t put(void *context, const uint8_t *bytes, size_t len) {
    (void)context;
    (void)bytes;
    stored += len;
    return 0;
}

static void *interrupt(void *context) {
    for (int32_t k = 0; k < ROWS; k += 1) {
        const struct motion row = {k, k, ~k, k};
        readings_put(&waiting, &row);
    }
    over = true;
    return context;
}

/* A loop that does not take rows loses them. */
static void full(void) {
    struct motion row = {0};
    for (int32_t k = 0; k < 20; k += 1) {
        row.x = k;
        readings_put(&waiting, &row);
    }
    CHECK(waiting.lost == 20u - READINGS_ROOM);
    for (int32_t k = 0; k < (int32_t)READINGS_ROOM; k += 1) {
        CHECK(readings_take(&waiting, &row) && row.x == k);
    }
    CHECK(!readings_take(&waiting, &row));
    (void)memset(&waiting, 0, sizeof waiting);
}

static void ordered(void) {
    pthread_t thread;
    struct motion row;
    uint32_t taken = 0;
    int32_t before = -1;
    CHECK(pthread_create(&thread, NULL, interrupt, NULL) == 0);
    for (bool last = false; !last;) {
        last = over;
        while (readings_take(&waiting, &row)) {
            CHECK(row.x > before && row.y == ~row.x && row.z == row.x && row.time == row.x);
            before = row.x;
            taken += 1;
        }
    }
    CHECK(pthread_join(thread, NULL) == 0 && taken + waiting.lost == ROWS && taken > 0u);
    (void)memset(&waiting, 0, sizeof waiting);
}

static void logged(void) {
    const pilaster_ds_type *const types[] = {loss_type(), motion_type()};
    const pilaster_ds_config config = {put, NULL, types, entries, 2u, PILASTER_DS_STORED, {NULL, 0u}, {NULL, 0u}, {NULL, 0u}};
    const pilaster_ds_memory of_motions = {{(uint8_t *)motion_rows, sizeof motion_rows}, {NULL, 0u}, NULL, 0u};
    const pilaster_ds_memory of_losses = {{(uint8_t *)loss_rows, sizeof loss_rows}, {NULL, 0u}, NULL, 0u};
    pilaster_error error;
    pilaster_ds_extent_counts count;
    CHECK(pilaster_ds_init(&writer, &config, &error) == PILASTER_OK);
    CHECK(pilaster_ds_extent_init(&motions, motion_type(), &of_motions, &error) == PILASTER_OK);
    CHECK(pilaster_ds_extent_init(&losses, loss_type(), &of_losses, &error) == PILASTER_OK);
    for (int32_t k = 0; k < 20; k += 1) {
        const struct motion row = {k, k, k, k};
        readings_put(&waiting, &row);
    }
    /* Twice: the loss is told once. */
    CHECK(readings_log(&waiting, &writer, &motions, &losses, &error) == PILASTER_OK);
    CHECK(readings_log(&waiting, &writer, &motions, &losses, &error) == PILASTER_OK);
    CHECK(pilaster_ds_extent_count(&motions, &count, &error) == PILASTER_OK && count.rows == READINGS_ROOM);
    CHECK(pilaster_ds_extent_count(&losses, &count, &error) == PILASTER_OK && count.rows == 1u);
    CHECK(waiting.told == 4u && stored == 0u);
}

int main(void) {
    full();
    ordered();
    logged();
    return 0;
}
