/* Logs four sensors into log.ds through semihosting: an image for a Cortex-M in QEMU, from the reset vector on. */
#include "log.h"

/* Set by the linker script. */
extern uint32_t stack_top, data_from, data_start, data_end, bss_start, bss_end;
void reset(void);
static void stop(void);

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[16] = {
    (uintptr_t)&stack_top, (uintptr_t)&reset, (uintptr_t)&stop, (uintptr_t)&stop,
};

static uintptr_t host(uintptr_t operation, const uintptr_t *arguments) {
    register uintptr_t r0 __asm__("r0") = operation;
    register const uintptr_t *r1 __asm__("r1") = arguments;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

enum { SYS_OPEN = 1, SYS_WRITE = 5, SYS_EXIT_EXTENDED = 0x20, WRITE_BINARY = 5, APPLICATION_EXIT = 0x20026 };

static _Noreturn void end(int32_t code) {
    const uintptr_t arguments[] = {APPLICATION_EXIT, code == 0 ? 0u : 1u};
    for (;;) {
        (void)host(SYS_EXIT_EXTENDED, arguments);
    }
}

static void stop(void) {
    end(-1);
}

static int32_t put(void *context, const uint8_t *bytes, size_t len) {
    const uintptr_t arguments[] = {*(const uintptr_t *)context, (uintptr_t)bytes, len};
    return host(SYS_WRITE, arguments) == 0u ? 0 : -1;
}

#ifdef MEASURE
/*
 * Measures the log for .ci/c: the stack of the image, which is painted before; and the ticks of the timer of the chip, which tell the instructions
 * under the option -icount of QEMU. A file of its own receives both.
 */
enum { PAINT = 0x5ca1ab1e, MOST_TICKS = 0xffffff, ENABLED = 5, BEGAN_ANEW = 1 << 16 };

static int32_t measure(uintptr_t *file) {
    /* Control, the number that the timer begins with, and the value. It counts down, and begins in the tick after it was cleared. */
    volatile uint32_t *const timer = (volatile uint32_t *)0xe000e010u;
    volatile uint32_t *bottom = &bss_end;
    for (volatile uint32_t *to = bottom; to < (uint32_t *)__builtin_frame_address(0) - 32; to += 1) {
        *to = PAINT;
    }
    timer[1] = MOST_TICKS;
    timer[2] = 0u;
    timer[0] = ENABLED;
    while (timer[2] == 0u) {
    }
    const uint32_t before = timer[2];
    const int32_t code = log_sensors(put, file, 30000, NULL);
    const uint32_t ticks = before - timer[2];
    if (code != 0 || (timer[0] & BEGAN_ANEW) != 0u) {
        return -1;
    }
    while (*bottom == PAINT) {
        bottom += 1;
    }
    const uint32_t found[] = {(uint32_t)((uintptr_t)&stack_top - (uintptr_t)bottom), ticks};
    static const char name[] = "measured";
    const uintptr_t opened[] = {(uintptr_t)name, WRITE_BINARY, sizeof name - 1u};
    uintptr_t to = host(SYS_OPEN, opened);
    return to == UINTPTR_MAX ? -1 : put(&to, (const uint8_t *)found, sizeof found);
}
#endif

void reset(void) {
#if defined(__ARM_FP)
    /* The floating-point unit is off after a reset. */
    *(volatile uint32_t *)0xe000ed88u |= 0xfu << 20;
    __asm__ volatile("dsb\n\tisb");
#endif
    for (uint32_t *to = &data_start, *from = &data_from; to < &data_end; to += 1, from += 1) {
        *to = *from;
    }
    for (uint32_t *to = &bss_start; to < &bss_end; to += 1) {
        *to = 0u;
    }
    static const char name[] = "log.ds";
    const uintptr_t arguments[] = {(uintptr_t)name, WRITE_BINARY, sizeof name - 1u};
    uintptr_t file = host(SYS_OPEN, arguments);
#ifdef MEASURE
    end(file == UINTPTR_MAX ? -1 : measure(&file));
#else
    end(file == UINTPTR_MAX ? -1 : log_sensors(put, &file, 30000, NULL));
#endif
}
