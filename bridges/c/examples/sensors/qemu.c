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
    end(file == UINTPTR_MAX ? -1 : log_sensors(put, &file, 30000, NULL));
}
