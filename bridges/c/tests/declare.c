/*
 * Declarations: numbers that are macros, names that begin alike, and those that no reader would open: refused when an extent is created,
 * or by the check of a record. `-DNUMBER=...`: one number of a declaration; `.ci/c` compiles those that must not compile.
 */
#include "check.h"
#include "pilaster_record.h"

#if defined(SIZE)
#define NUMBER 1
#else
#define SIZE LENGTH
#endif
#if !defined(NUMBER)
#define NUMBER UNIT
#endif
#define UNIT 0.01
#define LENGTH 6
#define ZERO -273.15

#define GOOD_FIELDS(F)                                  \
    F(DOUBLE, scaled, REQUIRED, RELATIVE, SCALED(NUMBER)) \
    F(FIXED(SIZE), mac, REQUIRED, ABSOLUTE, EXACT)      \
    F(INT64, time, REQUIRED, RELATIVE, EXACT)           \
    F(INT64, end_time, NULLABLE, TO(time), EXACT)       \
    F(BOOL, byte, NULLABLE, ABSOLUTE, EXACT)            \
    F(BYTE, end_byte, NULLABLE, ABSOLUTE, EXACT)        \
    F(UNIQUE_TEXT, text, NULLABLE, ABSOLUTE, EXACT)     \
    F(INT32, end_bit_byte, REQUIRED, ABSOLUTE, EXACT)   \
    F(DOUBLE, based, REQUIRED, ABSOLUTE, NOTED(BASED(ZERO), "\xc2\xb0" "C", "it's > 0"))
PILASTER_RECORD_ABOUT(good, "Good", "example.org", "1.0", PILASTER_ABOUT("firmware", "1"), GOOD_FIELDS)

/* What the compiler cannot refuse. */
#define OK_FIELDS(F) F(DOUBLE, t, REQUIRED, ABSOLUTE, SCALED(0.01))
#define ZERO_FIELDS(F) F(DOUBLE, t, REQUIRED, ABSOLUTE, SCALED(0.0))
#define QUOTE_FIELDS(F) F(INT32, t, REQUIRED, ABSOLUTE, COMMENT(EXACT, "a \"b\""))
#define LESS_FIELDS(F) F(INT32, t, REQUIRED, ABSOLUTE, UNITS(EXACT, "m<s"))
#define AMPERSAND_FIELDS(F) F(INT32, t, REQUIRED, ABSOLUTE, UNITS(EXACT, "m & s"))
#define LATIN_FIELDS(F) F(INT32, t, REQUIRED, ABSOLUTE, UNITS(EXACT, "\xb0" "C"))
#define OCTAL_FIELDS(F) F(DOUBLE, t, REQUIRED, ABSOLUTE, SCALED(010))
PILASTER_RECORD(zero, "A", "e", "1.0", ZERO_FIELDS)
PILASTER_RECORD(quote, "A", "e", "1.0", QUOTE_FIELDS)
PILASTER_RECORD(less, "A", "e", "1.0", LESS_FIELDS)
PILASTER_RECORD(ampersand, "A", "e", "1.0", AMPERSAND_FIELDS)
PILASTER_RECORD(latin, "A", "e", "1.0", LATIN_FIELDS)
PILASTER_RECORD(octal, "A", "e", "1.0", OCTAL_FIELDS)
PILASTER_RECORD(named, "R<1>", "e", "1.0", OK_FIELDS)
PILASTER_RECORD(beta, "A", "e", "beta", OK_FIELDS)
PILASTER_RECORD(empty, "A", "e", "", OK_FIELDS)
PILASTER_RECORD_ABOUT(name, "A", "e", "1.0", PILASTER_ABOUT("name", "z"), OK_FIELDS)
PILASTER_RECORD_ABOUT(twice, "A", "e", "1.0", PILASTER_ABOUT("fw", "z") PILASTER_ABOUT("fw", "y"), OK_FIELDS)
PILASTER_RECORD_ABOUT(option, "A", "e", "1.0", PILASTER_ABOUT("pack_x", "z"), OK_FIELDS)

static pilaster_ds_extent extent;
static uint8_t rows[640], pool[256], scratch[4096];

static int32_t created(const pilaster_ds_type *type, pilaster_error *error) {
    const pilaster_ds_memory memory = {{rows, sizeof rows}, {pool, sizeof pool}, NULL, 0u};
    return pilaster_ds_extent_init(&extent, type, &memory, error);
}

static int32_t checked(const pilaster_ds_type *type, pilaster_error *error) {
    return pilaster_ds_check_record(type, scratch, sizeof scratch, error);
}

/* The text of a type has a part. */
static bool says(const pilaster_ds_type *type, const char *part) {
    return strstr(type->xml.at, part) != NULL;
}

static void good(void) {
    pilaster_error error;
    CHECK(created(good_type(), &error) == PILASTER_OK);
    CHECK(checked(good_type(), &error) == PILASTER_OK);
    CHECK(says(good_type(), "pack_scale=\"0.01\"") && says(good_type(), "size=\"6\"") && says(good_type(), "opt_doublebase=\"-273.15\""));
    CHECK(pilaster_ds_check_record(good_type(), scratch, 16u, &error) == PILASTER_NO_ROOM && error.need > 16u);
    CHECK(pilaster_ds_check_record(NULL, scratch, sizeof scratch, &error) == PILASTER_ARGUMENT && error.at == 1u);
    CHECK(pilaster_ds_check_record(good_type(), NULL, 8u, &error) == PILASTER_ARGUMENT && error.at == 2u);
    pilaster_ds_type type = *good_type();
    (void)memcpy(pool, type.xml.at, 100u);
    type.xml.at = (const char *)pool;
    type.xml.len = 100u;
    CHECK(pilaster_ds_check_record(&type, pool, sizeof pool, &error) == PILASTER_ARGUMENT && error.at == 2u);
}

static void refused(void) {
    pilaster_error error;
    CHECK(created(zero_type(), &error) == PILASTER_MISUSE && error.at == 0u);
    const pilaster_ds_type *const torn[] = {quote_type(), less_type(), ampersand_type(), named_type()};
    for (size_t k = 0; k < sizeof torn / sizeof torn[0]; k += 1) {
        CHECK(created(torn[k], &error) == PILASTER_INVALID);
        /* Where: in or after the text with the character. */
        CHECK(strchr("\"<&", torn[k]->xml.at[error.at]) != NULL);
        CHECK(checked(torn[k], &error) == PILASTER_INVALID);
    }
    const pilaster_ds_type *const invalid[] = {zero_type(), latin_type(), beta_type(), empty_type(), name_type(), twice_type()};
    for (size_t k = 0; k < sizeof invalid / sizeof invalid[0]; k += 1) {
        CHECK(checked(invalid[k], &error) == PILASTER_INVALID && error.at < invalid[k]->xml.len);
    }
    CHECK(checked(option_type(), &error) == PILASTER_UNSUPPORTED);
    /* 8 in C, 10 for a reader. */
    CHECK(checked(octal_type(), &error) == PILASTER_MISUSE && error.at == 0u);
}

/* A table that is written by hand, and does not say what the description says. */
static void differing(void) {
    pilaster_error error;
    pilaster_ds_field fields[9];
    pilaster_ds_type type = *good_type();
    for (size_t k = 0; k < 9u; k += 1) {
        (void)memcpy(fields, good_type()->fields, sizeof fields);
        type.fields = fields;
        fields[k].at ^= 1u;
        CHECK(checked(&type, &error) == PILASTER_MISUSE && error.at == k);
    }
    type = *good_type();
    type.name.len = 3u;
    CHECK(checked(&type, &error) == PILASTER_MISUSE);
    type = *good_type();
    type.record_len += 8u;
    CHECK(checked(&type, &error) == PILASTER_MISUSE && error.need == good_type()->record_len);
    type = *good_type();
    type.field_count -= 1u;
    CHECK(checked(&type, &error) == PILASTER_MISUSE);
}

static void names(void) {
    pilaster_error error;
    pilaster_text name;
    CHECK(checked(beta_type(), &error) == PILASTER_INVALID && pilaster_what(error.what, &name, NULL) == PILASTER_OK);
    CHECK(name.len == strlen("dataseries extent type") && memcmp(name.at, "dataseries extent type", name.len) == 0);
    CHECK(pilaster_what(0xffffu, &name, &error) == PILASTER_UNKNOWN && name.len == 0u);
    CHECK(pilaster_what(UINT32_MAX, &name, &error) == PILASTER_UNKNOWN && pilaster_what(1u, NULL, &error) == PILASTER_ARGUMENT);
}

int main(void) {
    good();
    refused();
    differing();
    names();
    return 0;
}
