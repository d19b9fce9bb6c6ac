/*
 * Calls with arguments that the input chooses: null and unaligned pointers, lengths beyond the address space, memory that overlaps, types
 * with wrong fields, functions that fail, calls in any order. Each call returns a code; a file that is finished is valid.
 *
 * A fuzz target of libFuzzer (clang -DFUZZER -fsanitize=fuzzer,address), or a program that makes its own input.
 */
#include "pilaster_record.h"

#define MIXED_FIELDS(F)                               \
    F(BOOL, flag, NULLABLE, ABSOLUTE, EXACT)          \
    F(INT64, time, REQUIRED, RELATIVE, EXACT)         \
    F(INT32, number, NULLABLE, RELATIVE, EXACT)       \
    F(DOUBLE, temp, NULLABLE, ABSOLUTE, SCALED(0.01)) \
    F(FIXED(5), id, REQUIRED, ABSOLUTE, EXACT)        \
    F(TEXT, note, NULLABLE, ABSOLUTE, EXACT)          \
    F(UNIQUE_TEXT, place, REQUIRED, ABSOLUTE, EXACT)
PILASTER_RECORD(mixed, "Mixed", "example.org", "1.0", MIXED_FIELDS)

#define TICK_FIELDS(F) F(INT64, time, REQUIRED, RELATIVE, EXACT)
PILASTER_RECORD(tick, "Tick", "example.org", "1.0", TICK_FIELDS)

/* After the records, whose functions have arguments with the names of variables. */
#include "wild_columns.h"

static pilaster_ds_writer writer;
static pilaster_ds_extent extents[2];
static pilaster_ds_entry entries[4];
static uint8_t slots[64], packed[256], rows[2][400], pool[2][256];
static uint16_t table[257];
static uint32_t unique[2][8];
/* Whether all arguments of each extent were right. */
static bool clean[2];

/* A type, and memory for its fields, which a state uses as long as it is used. */
typedef struct own_type {
    pilaster_ds_type type;
    pilaster_ds_field fields[8];
} own_type;

static own_type of_writer[2], of_extent[2];

/* Type k, at times with something wrong. */
static const pilaster_ds_type *type_of(uint32_t k, own_type *own) {
    pilaster_ds_type *const type = &own->type;
    *type = k == 0u ? *mixed_type() : *tick_type();
    (void)memcpy(own->fields, type->fields, type->field_count * sizeof own->fields[0]);
    type->fields = own->fields;
    if (odd()) {
        honest = false;
        switch (below(6u)) {
        case 0: ((uint8_t *)own->fields)[below((uint32_t)(type->field_count * sizeof own->fields[0]))] ^= next(); break;
        case 1: type->record_len = next(); break;
        case 2: type->field_count = below(type->field_count + 1u); break;
        case 3: type->name.len = below(5u); break;
        case 4: type->fields = NULL; break;
        default: type->xml.at = NULL; break;
        }
    }
    return type;
}

static void begin(void) {
    bool overlaps = false;
    honest = true;
    (void)memset(&writer, 0, sizeof writer);
    const pilaster_ds_type *const list[] = {type_of(0u, &of_writer[0]), type_of(1u, &of_writer[1])};
    pilaster_ds_config config = {put, &out, list, entries, 2u, 0u, memory_of(slots, sizeof slots, packed), memory_of((uint8_t *)table, sizeof table, slots), memory_of(packed, sizeof packed, slots)};
    config.compression = below(8u);
    if (odd()) {
        honest = false;
        switch (below(5u)) {
        case 0: config.put = NULL; break;
        case 1: config.entries = NULL; break;
        case 2: config.types = NULL; break;
        case 3: overlaps = true; config.types = (const pilaster_ds_type *const *)(const void *)entries; break;
        default: config.type_count = UINT32_MAX; config.entries = TOO_HIGH; break;
        }
    }
    if (below(3u) == 0u) {
        /* A log in memory of the writer is refused, and a result there or in the log. */
        pilaster_ds_found apart;
        uint8_t *const places[] = {out.at, slots, packed, (uint8_t *)table, (uint8_t *)entries, (uint8_t *)&writer};
        const uint32_t place = odd() ? below(6u) : 0u;
        pilaster_ds_found *const found = odd() ? (pilaster_ds_found *)(void *)places[below(6u)] : &apart;
        const bool right = honest;
        const int32_t code = checked(pilaster_ds_resume(&writer, &config, places[place], place == 0u ? out.len : 16u, found, &error));
        CHECK(found == &apart || !right || code != PILASTER_OK);
        CHECK(!overlaps || (code == PILASTER_ARGUMENT && error.at == 2u));
        CHECK(place == 0u || (code != PILASTER_OK && (!right || (code == PILASTER_ARGUMENT && error.at == 3u) || code == PILASTER_UNSUPPORTED)));
        if (code == PILASTER_OK) {
            CHECK(found->at <= out.len);
            out.len = (size_t)found->at;
            out.failed = false;
        }
        honest = false;
    } else {
        out.len = 0u;
        out.failed = false;
        CHECK(checked(pilaster_ds_init(odd() ? NULL : &writer, &config, &error)) == PILASTER_ARGUMENT || !overlaps);
    }
}

static void new_extent(uint32_t k) {
    const bool before = honest;
    honest = true;
    (void)memset(&extents[k], 0, sizeof extents[k]);
    const pilaster_ds_memory memory = {memory_of(rows[k], sizeof rows[k], pool[k]), memory_of(pool[k], sizeof pool[k], rows[k]), unique[k], below(9u)};
    (void)checked(pilaster_ds_extent_init(&extents[k], type_of(odd() ? 1u - k : k, &of_extent[k]), odd() ? NULL : &memory, &error));
    clean[k] = honest;
    honest = before;
}

static void add_row(uint32_t k) {
    honest = honest && clean[k];
    if (odd()) {
        uint8_t record[64];
        pilaster_text texts[3];
        for (size_t i = 0; i < sizeof record; i += 1) {
            record[i] = next();
        }
        for (size_t i = 0; i < 3u; i += 1) {
            texts[i].at = odd() ? NULL : (const char *)record;
            texts[i].len = odd() ? SIZE_MAX : below(64u);
        }
        honest = false;
        (void)checked(pilaster_ds_row(&writer, &extents[k], record, below(65u), texts, below(4u), &error));
    } else if (k == 0u) {
        struct mixed row = {0};
        row.flag_is_null = next() % 2u == 0u;
        row.time = (int64_t)below(60000u) << (below(40u));
        row.number = next();
        row.number_is_null = next() % 2u == 0u;
        row.temp = next() * 0.5;
        row.note.at = "a note that may be cut";
        row.note.len = below(23u);
        row.note_is_null = next() % 2u == 0u;
        row.place.at = next() % 2u == 0u ? "attic" : "cellar";
        row.place.len = 5u;
        (void)checked(mixed_row(&writer, &extents[0], &row, &error));
    } else {
        const struct tick row = {(int64_t)below(60000u)};
        (void)checked(tick_row(&writer, &extents[1], &row, &error));
    }
}

static void finish(void) {
    const bool valid = honest && !out.failed;
    if (checked(pilaster_ds_finish(&writer, &error)) == PILASTER_OK && valid) {
        static uint8_t memory[4096];
        uint32_t finished = 0;
        CHECK(checked(pilaster_ds_verify(out.at, out.len, memory, sizeof memory, &finished, &error)) == PILASTER_OK);
        CHECK(finished == 1u);
    }
}

static void blosc(void) {
    static uint8_t decoded[300], scratch[600];
    pilaster_blosc_info info;
    (void)checked(pilaster_blosc_examine(in.at, in.len, odd() ? NULL : &info, &error));
    (void)checked(pilaster_blosc_decode(in.at, in.len, decoded, below(301u), scratch, below(601u), &error));
}

static pilaster_ring ring;
static pilaster_ring_cursor cursor;
static uint8_t flash[4096], page[64];
static const uint8_t *page_of_ring;

/* Fails at times, and outside of the flash, which is smaller than a wrong configuration says. */
static bool fails(uint32_t at, size_t len) {
    return at > sizeof flash || len > sizeof flash - at || next() == 255u;
}

static int32_t read_flash(void *context, uint32_t at, uint8_t *bytes, size_t len) {
    CHECK(context == flash);
    if (fails(at, len)) {
        return -5;
    }
    (void)memcpy(bytes, &flash[at], len);
    /* Flash that answers otherwise than before. */
    if (len > 0u && next() % 64u == 63u) {
        bytes[below((uint32_t)len)] ^= next();
    }
    return 0;
}

static int32_t write_flash(void *context, uint32_t at, const uint8_t *bytes, size_t len) {
    CHECK(context == flash);
    if (fails(at, len)) {
        return 5;
    }
    (void)memcpy(&flash[at], bytes, len);
    return 0;
}

static int32_t erase_flash(void *context, uint32_t from, uint32_t to) {
    CHECK(context == flash && from <= to);
    if (fails(from, to - from)) {
        return -5;
    }
    (void)memset(&flash[from], 0xff, to - from);
    return 0;
}

static void mount(void) {
    static pilaster_ds_entry own[2];
    static uint8_t own_packed[256];
    bool overlaps = false;
    static uint16_t own_table[257];
    static own_type of_ring[2];
    const pilaster_ds_type *const list[] = {type_of(0u, &of_ring[0]), type_of(1u, &of_ring[1])};
    pilaster_ring_config config = {{flash, read_flash, write_flash, erase_flash, sizeof flash, 1024u, 4u, 0u}, 0u, 1024u, 4u, 2u, list, own, below(8u), 0u,
                                   memory_of((uint8_t *)own_table, sizeof own_table, page), memory_of(own_packed, sizeof own_packed, page), memory_of(page, sizeof page, own_packed)};
    if (odd()) {
        switch (below(11u)) {
        case 0: config.flash.read = NULL; break;
        case 1: config.flash.write = NULL; break;
        case 2: config.flash.erase = NULL; break;
        case 3: config.flash.capacity = below(65536u) << below(17u); break;
        case 4: config.flash.erase_size = below(2048u); break;
        case 5: config.flash.word = below(64u); break;
        case 6: config.start = below(65536u) << below(17u); break;
        case 7: config.segment = below(65536u) << below(17u); break;
        case 8: config.segments = below(65536u); break;
        case 9: overlaps = true; config.types = (const pilaster_ds_type *const *)(const void *)own; break;
        default: config.type_count = UINT32_MAX; config.entries = TOO_HIGH; break;
        }
    }
    (void)memset(&ring, 0, sizeof ring);
    page_of_ring = config.page.at;
    CHECK(checked(pilaster_ring_mount(odd() ? NULL : &ring, odd() ? NULL : &config, &error)) == PILASTER_ARGUMENT || !overlaps);
}

/* Rows of an extent that the ring has are not those of the file. */
static void use_ring(uint32_t k) {
    static uint8_t extent[1024];
    pilaster_ring_counts counts;
    const struct tick row = {(int64_t)below(60000u)};
    pilaster_text text = {odd() ? NULL : (const char *)extent, odd() ? SIZE_MAX : below(64u)};
    size_t len = 0u;
    const bool before = honest;
    switch (below(8u)) {
    case 0: mount(); break;
    case 1: clean[k] = false; (void)checked(pilaster_ring_row(&ring, &extents[k], odd() ? NULL : extent, below(65u), &text, below(2u), &error)); break;
    case 2: clean[1] = false; (void)checked(tick_log(&ring, &extents[1], &row, &error)); break;
    case 3: (void)checked(pilaster_ring_flush(&ring, odd() ? NULL : &extents[k], &error)); break;
    case 4: (void)checked(pilaster_ring_give_up(odd() ? NULL : &ring, &error)); break;
    case 5: (void)checked(pilaster_ring_count(&ring, odd() ? NULL : &counts, &error)); break;
    case 6: (void)checked(pilaster_ring_begin(odd() ? NULL : &cursor, &error)); break;
    default: {
        /* Memory of the ring is refused, and a state. */
        uint8_t *const places[] = {extent, page, (uint8_t *)&ring, (uint8_t *)&cursor};
        const uint32_t place = odd() ? below(4u) : 0u, room = place == 0u ? below(1025u) : 16u;
        if (checked(pilaster_ring_next(&ring, &cursor, odd() ? NULL : places[place], odd() ? SIZE_MAX : room, odd() ? NULL : &len, &error)) == PILASTER_OK) {
            CHECK(len <= sizeof extent && (place == 0u || (place == 1u && page_of_ring != page)));
        }
        break;
    }
    }
    honest = before;
}

/* Functions that change nothing. */
static void ask(uint32_t k) {
    static uint8_t memory[4096];
    static own_type own;
    pilaster_ds_counts counts;
    pilaster_ds_extent_counts extent_counts;
    pilaster_text name;
    const bool before = honest;
    honest = true;
    switch (below(5u)) {
    case 0: {
        const pilaster_ds_type *const type = type_of(k, &own);
        const bool right = honest, none = odd(), itself = odd();
        const size_t size = odd() ? below(sizeof memory) : sizeof memory;
        const int32_t code = checked(pilaster_ds_check_record(none ? NULL : type, itself ? (uint8_t *)&own : memory, size, &error));
        CHECK(code == PILASTER_OK || !right || none || itself || size < sizeof memory);
        break;
    }
    case 1:
        if (checked(pilaster_what(below(65536u) << (odd() ? 1u : 0u), odd() ? NULL : &name, &error)) == PILASTER_OK) {
            CHECK(name.len > 0u && name.len < 100u);
        }
        break;
    case 2: (void)checked(pilaster_ds_count(odd() ? NULL : &writer, odd() ? NULL : &counts, &error)); break;
    case 3: (void)checked(pilaster_ds_extent_count(odd() ? NULL : &extents[k], odd() ? NULL : &extent_counts, &error)); break;
    default: CHECK(pilaster_size_of(below(65536u)) < 4096u); break;
    }
    honest = before;
}

static void run(const uint8_t *data, size_t len) {
    in.at = data;
    in.len = len;
    out.len = 0u;
    (void)memset(&writer, 0, sizeof writer);
    (void)memset(extents, 0, sizeof extents);
    (void)memset(&ring, 0, sizeof ring);
    (void)memset(&cursor, 0, sizeof cursor);
    (void)memset(flash, 0xff, sizeof flash);
    begin_columns();
    while (in.len > 0u) {
        const uint32_t k = below(2u);
        switch (below(16u)) {
        case 0: begin(); break;
        case 1: new_extent(k); break;
        case 2:
            honest = honest && clean[k];
            (void)checked(pilaster_ds_flush(&writer, odd() ? NULL : &extents[k], &error));
            break;
        case 3: finish(); break;
        case 4: filo(); break;
        case 5: blosc(); break;
        case 12: use_ring(k); break;
        case 13: vortex(); break;
        case 14: ask(k); break;
        default: add_row(k); break;
        }
    }
}

#if defined(PILASTER_WILD)
/* For ../fuzz, whose Rust side is instrumented, too. */
void pilaster_wild(const uint8_t *data, size_t len);
void pilaster_wild(const uint8_t *data, size_t len) {
    run(data, len);
}
#elif defined(FUZZER)
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    run(data, len);
    return 0;
}
#else
int main(int count, char **arguments) {
    static uint8_t data[2048];
    CHECK(count >= 2);
    /* The files of the arguments after the first one are inputs, too. */
    for (int k = 2; k < count; k += 1) {
        FILE *const from = fopen(arguments[k], "rb");
        CHECK(from != NULL);
        const size_t len = fread(data, 1u, sizeof data, from);
        CHECK(fclose(from) == 0);
        run(data, len);
    }
    uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
    for (long round = strtol(arguments[1], NULL, 10); round > 0; round -= 1) {
        for (size_t k = 0; k < sizeof data; k += 1) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            data[k] = (uint8_t)(seed >> 32);
        }
        run(data, sizeof data);
    }
    return 0;
}
#endif
