/*
 * A type of records, declared once: its struct, its description and its place in the file are computed by the C compiler.
 *
 *     #define AIR_FIELDS(F)                                \
 *         F(INT64, time, REQUIRED, RELATIVE, EXACT)        \
 *         F(DOUBLE, temp, REQUIRED, ABSOLUTE, SCALED(0.01)) \
 *         F(INT32, humidity, NULLABLE, ABSOLUTE, EXACT)
 *     PILASTER_RECORD(air, "Air", "example.org", "1.0", AIR_FIELDS)
 *
 * defines
 *
 *     struct air { int64_t time; double temp; int32_t humidity; bool humidity_is_null; };
 *     enum { air_record_len = 24 };                             the size of a record in the memory for rows
 *     const pilaster_ds_type *air_type(void);                   for pilaster_ds_config and pilaster_ds_extent_init
 *     int32_t air_row(pilaster_ds_writer *, pilaster_ds_extent *, const struct air *, pilaster_error *);
 *     int32_t air_log(pilaster_ring *, pilaster_ds_extent *, const struct air *, pilaster_error *);
 *
 * Types:     BOOL, BYTE, INT32, INT64, DOUBLE, FIXED(bytes), TEXT, UNIQUE_TEXT (equal texts of an extent are stored once)
 *            Their members are bool, uint8_t, int32_t, int64_t, double, struct { uint8_t bytes[bytes]; } and, of texts, pilaster_text: where the
 *            text is, and its length. They are read by ..._row only, which copies the text.
 * Presence:  REQUIRED, or NULLABLE, which adds a member NAME_is_null; the value of a null is not stored
 * Base:      ABSOLUTE; RELATIVE: stored as the difference to the row before; TO(field): to a field above, of the same type
 * Unit:      EXACT; SCALED(unit): a DOUBLE that is stored as a multiple of the unit; BASED(base): a DOUBLE that counts from a base
 *
 *            A number is written as a reader reads it, or is a macro of such a number: 0.01, 1e-6, -40, and not 0.01f, 1.0/128 or (0.01), which
 *            do not compile.
 *
 *            NOTED(unit, units, comment): one of these, and texts that readers show: NOTED(SCALED(0.01), "degC", "in the shade")
 *            UNITS(unit, units), COMMENT(unit, comment): one of both texts; NOTED stores also one that is empty
 *
 * PILASTER_RECORD_ABOUT(air, "Air", "example.org", "1.0", PILASTER_ABOUT("firmware", "2.1.0") PILASTER_ABOUT("build", BUILD), AIR_FIELDS)
 * also stores which firmware writes the file, in attributes of the type that `pilaster info` prints and other readers ignore. No name may be name,
 * namespace or version, or begin with pack_ or opt_, or be there twice. A version is two numbers. Texts are UTF-8, names of types ASCII, and
 * none may have a character that XML escapes: & < ".
 *
 * A declaration that the format does not allow, such as a RELATIVE text, is refused by pilaster_ds_extent_init; so are texts, and DOUBLEs
 * that are RELATIVE or TO another, if the library was built without its feature `text`, or `relative-double`; and a scale of 0, and texts with
 * these characters. The rest (a version, names and texts) takes a reader to check, too large for a chip: call pilaster_ds_check_record
 * for each type in a test on the host. A file with a type that it refuses cannot be opened.
 */
#ifndef PILASTER_RECORD_H
#define PILASTER_RECORD_H

#include "pilaster.h"

#if defined(__has_include)
#if __has_include(<string.h>)
#include <string.h>
#define PILASTER_HAS_STRING_H
#endif
#else
#include <string.h>
#define PILASTER_HAS_STRING_H
#endif
#if !defined(PILASTER_HAS_STRING_H)
/* Without a C library, the Rust library has this function. */
#ifdef __cplusplus
extern "C"
#endif
void *memcpy(void *to, const void *from, size_t len);
#endif

#if defined(__GNUC__)
#define PILASTER_MAYBE_UNUSED __attribute__((unused))
#else
#define PILASTER_MAYBE_UNUSED
#endif

/* A cast, which C++ has in another form. */
#if !defined(PILASTER_TO_)
#ifdef __cplusplus
#define PILASTER_TO_(type, value) static_cast<type>(value)
#else
#define PILASTER_TO_(type, value) ((type)(value))
#endif
#endif

/* A name is followed by an argument of another macro, which it drops. */
#define PILASTER_DROP_(name)

/* Members of the struct. */
#define PILASTER_C_BOOL bool
#define PILASTER_C_BYTE uint8_t
#define PILASTER_C_INT32 int32_t
#define PILASTER_C_INT64 int64_t
#define PILASTER_C_DOUBLE double
#define PILASTER_C_FIXED(n) struct { uint8_t bytes[n]; }
#define PILASTER_C_TEXT pilaster_text
#define PILASTER_C_UNIQUE_TEXT pilaster_text
#define PILASTER_FLAG_REQUIRED(name)
#define PILASTER_FLAG_NULLABLE(name) bool name##_is_null;
#define PILASTER_MEMBER_(type, name, null, base, unit) PILASTER_C_##type name; PILASTER_FLAG_##null(name)

/* What a field takes of each group of a record: bits, bytes, words of four bytes, texts, words of eight. */
#define PILASTER_BITS_BOOL 1
#define PILASTER_BITS_BYTE 0
#define PILASTER_BITS_INT32 0
#define PILASTER_BITS_INT64 0
#define PILASTER_BITS_DOUBLE 0
#define PILASTER_BITS_FIXED(n) 0
#define PILASTER_BITS_TEXT 0
#define PILASTER_BITS_UNIQUE_TEXT 0
#define PILASTER_BYTES_BOOL 0
#define PILASTER_BYTES_BYTE 1
#define PILASTER_BYTES_INT32 0
#define PILASTER_BYTES_INT64 0
#define PILASTER_BYTES_DOUBLE 0
#define PILASTER_BYTES_FIXED(n) (n)
#define PILASTER_BYTES_TEXT 0
#define PILASTER_BYTES_UNIQUE_TEXT 0
#define PILASTER_FOURS_BOOL 0
#define PILASTER_FOURS_BYTE 0
#define PILASTER_FOURS_INT32 4
#define PILASTER_FOURS_INT64 0
#define PILASTER_FOURS_DOUBLE 0
#define PILASTER_FOURS_FIXED(n) 0
#define PILASTER_FOURS_TEXT 0
#define PILASTER_FOURS_UNIQUE_TEXT 0
#define PILASTER_TEXTS_BOOL 0
#define PILASTER_TEXTS_BYTE 0
#define PILASTER_TEXTS_INT32 0
#define PILASTER_TEXTS_INT64 0
#define PILASTER_TEXTS_DOUBLE 0
#define PILASTER_TEXTS_FIXED(n) 0
#define PILASTER_TEXTS_TEXT 4
#define PILASTER_TEXTS_UNIQUE_TEXT 4
#define PILASTER_EIGHTS_BOOL 0
#define PILASTER_EIGHTS_BYTE 0
#define PILASTER_EIGHTS_INT32 0
#define PILASTER_EIGHTS_INT64 8
#define PILASTER_EIGHTS_DOUBLE 8
#define PILASTER_EIGHTS_FIXED(n) 0
#define PILASTER_EIGHTS_TEXT 0
#define PILASTER_EIGHTS_UNIQUE_TEXT 0
#define PILASTER_NULLS_REQUIRED 0
#define PILASTER_NULLS_NULLABLE 1

/* Sums over all fields. */
#define PILASTER_ADD_BITS_(type, name, null, base, unit) +PILASTER_BITS_##type + PILASTER_NULLS_##null
#define PILASTER_ADD_BYTES_(type, name, null, base, unit) +PILASTER_BYTES_##type
#define PILASTER_ADD_FOURS_(type, name, null, base, unit) +PILASTER_FOURS_##type
#define PILASTER_ADD_TEXTS_(type, name, null, base, unit) +PILASTER_TEXTS_##type
#define PILASTER_ADD_EIGHTS_(type, name, null, base, unit) +PILASTER_EIGHTS_##type

/* The groups of a record, one after the other, the last one at a multiple of 8. */
#define PILASTER_BYTES_AT_(FIELDS) ((0 FIELDS(PILASTER_ADD_BITS_) + 7) / 8)
#define PILASTER_FOURS_AT_(FIELDS) ((PILASTER_BYTES_AT_(FIELDS) + (0 FIELDS(PILASTER_ADD_BYTES_)) + 3) / 4 * 4)
#define PILASTER_TEXTS_AT_(FIELDS) (PILASTER_FOURS_AT_(FIELDS) + (0 FIELDS(PILASTER_ADD_FOURS_)))
#define PILASTER_EIGHTS_AT_(FIELDS) ((PILASTER_TEXTS_AT_(FIELDS) + (0 FIELDS(PILASTER_ADD_TEXTS_)) + 7) / 8 * 8)
#define PILASTER_RECORD_LEN_(FIELDS) (PILASTER_EIGHTS_AT_(FIELDS) + (0 FIELDS(PILASTER_ADD_EIGHTS_)))

/*
 * Where each field lies in its group. A constant without a value is one more than the constant before, so that a pair of constants, the
 * start of a field and its last byte, adds up the sizes; a field of no size ends in front of its start. No name of a field makes both names
 * of the pair, or one of another field, equal: they differ before it.
 */
#define PILASTER_NUMBER_(type, name, null, base, unit) pil_number_##name,
#define PILASTER_BIT_(type, name, null, base, unit)                                                           \
    pil_bit_##name, pil_end_bit_##name = PILASTER_TO_(int, pil_bit_##name) + (PILASTER_BITS_##type) - 1, pil_null_##name, \
    pil_end_null_##name = PILASTER_TO_(int, pil_null_##name) + (PILASTER_NULLS_##null) - 1,
#define PILASTER_BYTE_(type, name, null, base, unit) \
    pil_byte_##name, pil_end_byte_##name = PILASTER_TO_(int, pil_byte_##name) + (PILASTER_BYTES_##type) - 1,
#define PILASTER_FOUR_(type, name, null, base, unit) \
    pil_four_##name, pil_end_four_##name = PILASTER_TO_(int, pil_four_##name) + (PILASTER_FOURS_##type) - 1,
#define PILASTER_TEXT_(type, name, null, base, unit) \
    pil_text_##name, pil_end_text_##name = PILASTER_TO_(int, pil_text_##name) + (PILASTER_TEXTS_##type) - 1,
#define PILASTER_EIGHT_(type, name, null, base, unit) \
    pil_eight_##name, pil_end_eight_##name = PILASTER_TO_(int, pil_eight_##name) + (PILASTER_EIGHTS_##type) - 1,
#define PILASTER_PLACES_(FIELDS)                                          \
    enum { FIELDS(PILASTER_NUMBER_) pil_numbers };                        \
    enum { FIELDS(PILASTER_BIT_) pil_bits };                              \
    enum { FIELDS(PILASTER_BYTE_) pil_bytes };                            \
    enum { FIELDS(PILASTER_FOUR_) pil_fours };                            \
    enum { FIELDS(PILASTER_TEXT_) pil_texts };                            \
    enum { FIELDS(PILASTER_EIGHT_) pil_eights };                          \
    enum {                                                                \
        pil_bytes_at = PILASTER_BYTES_AT_(FIELDS),                        \
        pil_fours_at = PILASTER_FOURS_AT_(FIELDS),                        \
        pil_texts_at = PILASTER_TEXTS_AT_(FIELDS),                        \
        pil_eights_at = PILASTER_EIGHTS_AT_(FIELDS)                       \
    };

/* The offset of a field in a record. */
#define PILASTER_AT_BOOL(name) (PILASTER_TO_(int, pil_bit_##name) / 8)
#define PILASTER_AT_BYTE(name) (PILASTER_TO_(int, pil_bytes_at) + PILASTER_TO_(int, pil_byte_##name))
#define PILASTER_AT_INT32(name) (PILASTER_TO_(int, pil_fours_at) + PILASTER_TO_(int, pil_four_##name))
#define PILASTER_AT_INT64(name) (PILASTER_TO_(int, pil_eights_at) + PILASTER_TO_(int, pil_eight_##name))
#define PILASTER_AT_DOUBLE(name) (PILASTER_TO_(int, pil_eights_at) + PILASTER_TO_(int, pil_eight_##name))
#define PILASTER_AT_FIXED(n) PILASTER_AT_BYTE
#define PILASTER_AT_TEXT(name) (PILASTER_TO_(int, pil_texts_at) + PILASTER_TO_(int, pil_text_##name))
#define PILASTER_AT_UNIQUE_TEXT(name) PILASTER_AT_TEXT(name)

/* The text of a number, after macros in it are replaced. */
#define PILASTER_TEXT_OF_(number) #number
/*
 * 0 for a decimal number without suffix and brackets, as a reader reads its text. Another one does not compile: with a further digit it is
 * no number, or it is a calculation, of which only the first number has a size.
 */
#define PILASTER_DECIMAL_(number) PILASTER_LONGER_(number)
#define PILASTER_LONGER_(number)                                                                                           \
    (0 * PILASTER_TO_(int, sizeof(char[(sizeof number##0 == sizeof(double)) || (sizeof number##0 == sizeof(int)) || (sizeof number##0 == sizeof(long)) \
                              ? 1                                                                                          \
                              : -1])))

/* The table of fields. */
#define PILASTER_KIND_BOOL 0
#define PILASTER_KIND_BYTE 1
#define PILASTER_KIND_INT32 2
#define PILASTER_KIND_INT64 3
#define PILASTER_KIND_DOUBLE 4
#define PILASTER_KIND_TEXT 5
#define PILASTER_KIND_UNIQUE_TEXT 5
#define PILASTER_KIND_FIXED(n) (6 + PILASTER_DECIMAL_(n))
#define PILASTER_UNIQUE_BOOL 0
#define PILASTER_UNIQUE_BYTE 0
#define PILASTER_UNIQUE_INT32 0
#define PILASTER_UNIQUE_INT64 0
#define PILASTER_UNIQUE_DOUBLE 0
#define PILASTER_UNIQUE_TEXT 0
#define PILASTER_UNIQUE_UNIQUE_TEXT 1
#define PILASTER_UNIQUE_FIXED(n) 0
#define PILASTER_BASE_ABSOLUTE(name) 0
#define PILASTER_BASE_RELATIVE(name) (PILASTER_TO_(int, pil_number_##name) + 1)
#define PILASTER_BASE_TO(other) (PILASTER_TO_(int, pil_number_##other) + 1) PILASTER_DROP_
#define PILASTER_BY_EXACT 0.0
#define PILASTER_BY_SCALED(number) (1.0 / (number))
#define PILASTER_BY_BASED(number) 0.0
#define PILASTER_BY_NOTED(unit, units, comment) PILASTER_BY_##unit
#define PILASTER_BY_UNITS(unit, units) PILASTER_BY_##unit
#define PILASTER_BY_COMMENT(unit, comment) PILASTER_BY_##unit
#define PILASTER_SCALED_EXACT 0
#define PILASTER_SCALED_SCALED(number) (2 + PILASTER_DECIMAL_(number))
#define PILASTER_SCALED_BASED(number) PILASTER_DECIMAL_(number)
#define PILASTER_SCALED_NOTED(unit, units, comment) PILASTER_SCALED_##unit
#define PILASTER_SCALED_UNITS(unit, units) PILASTER_SCALED_##unit
#define PILASTER_SCALED_COMMENT(unit, comment) PILASTER_SCALED_##unit
#define PILASTER_MASK_(bit) (1 << (PILASTER_TO_(int, bit) & 7))
#define PILASTER_FIELD_(type, name, null, base, unit)                                                             \
    {PILASTER_BY_##unit,                                                                                          \
     PILASTER_TO_(uint32_t, PILASTER_AT_##type(name)),                                                              \
     PILASTER_TO_(uint32_t, PILASTER_BYTES_##type + PILASTER_FOURS_##type + PILASTER_TEXTS_##type + PILASTER_EIGHTS_##type), \
     PILASTER_TO_(uint16_t, (PILASTER_NULLS_##null) ? PILASTER_TO_(int, pil_null_##name) / 8 : 0),                  \
     PILASTER_TO_(uint16_t, PILASTER_BASE_##base(name)),                                                            \
     PILASTER_TO_(uint8_t, PILASTER_KIND_##type),                                                                   \
     PILASTER_TO_(uint8_t, (PILASTER_BITS_##type) ? PILASTER_MASK_(pil_bit_##name) : 0),                            \
     PILASTER_TO_(uint8_t, (PILASTER_NULLS_##null) ? PILASTER_MASK_(pil_null_##name) : 0),                          \
     PILASTER_TO_(uint8_t, (PILASTER_UNIQUE_##type) | (PILASTER_SCALED_##unit))},

/* The description. */
#define PILASTER_XML_BOOL "bool"
#define PILASTER_XML_BYTE "byte"
#define PILASTER_XML_INT32 "int32"
#define PILASTER_XML_INT64 "int64"
#define PILASTER_XML_DOUBLE "double"
#define PILASTER_XML_TEXT "variable32"
#define PILASTER_XML_UNIQUE_TEXT "variable32"
#define PILASTER_XML_FIXED(n) "fixedwidth"
#define PILASTER_XML_SIZE_BOOL
#define PILASTER_XML_SIZE_BYTE
#define PILASTER_XML_SIZE_INT32
#define PILASTER_XML_SIZE_INT64
#define PILASTER_XML_SIZE_DOUBLE
#define PILASTER_XML_SIZE_TEXT
#define PILASTER_XML_SIZE_UNIQUE_TEXT
#define PILASTER_XML_SIZE_FIXED(n) " size=\"" PILASTER_TEXT_OF_(n) "\""
#define PILASTER_XML_REQUIRED
#define PILASTER_XML_NULLABLE " opt_nullable=\"yes\""
#define PILASTER_XML_SHARE_BOOL
#define PILASTER_XML_SHARE_BYTE
#define PILASTER_XML_SHARE_INT32
#define PILASTER_XML_SHARE_INT64
#define PILASTER_XML_SHARE_DOUBLE
#define PILASTER_XML_SHARE_TEXT
#define PILASTER_XML_SHARE_UNIQUE_TEXT " pack_unique=\"yes\""
#define PILASTER_XML_SHARE_FIXED(n)
#define PILASTER_XML_ABSOLUTE(name)
#define PILASTER_XML_RELATIVE(name) " pack_relative=\"" #name "\""
#define PILASTER_XML_TO(other) " pack_relative=\"" #other "\"" PILASTER_DROP_
#define PILASTER_XML_EXACT
#define PILASTER_XML_SCALED(number) " pack_scale=\"" PILASTER_TEXT_OF_(number) "\""
#define PILASTER_XML_BASED(number) " opt_doublebase=\"" PILASTER_TEXT_OF_(number) "\""
#define PILASTER_XML_UNITS(unit, units) PILASTER_XML_##unit " units=\"" units "\""
#define PILASTER_XML_COMMENT(unit, comment) PILASTER_XML_##unit " comment=\"" comment "\""
#define PILASTER_XML_NOTED(unit, units, comment) PILASTER_XML_##unit " units=\"" units "\" comment=\"" comment "\""
#define PILASTER_ABOUT(name, text) " " name "=\"" text "\""
#define PILASTER_XML_FIELD_(type, name, null, base, unit)                                                        \
    "  <field type=\"" PILASTER_XML_##type "\" name=\"" #name "\"" PILASTER_XML_SIZE_##type PILASTER_XML_##null \
    PILASTER_XML_SHARE_##type PILASTER_XML_##base(name) PILASTER_XML_##unit " />\n"

/* A row as a record. `record` is zero. */
#define PILASTER_IS_NULL_REQUIRED(name) false
#define PILASTER_IS_NULL_NULLABLE(name) row->name##_is_null
#define PILASTER_SET_(bit) record[PILASTER_TO_(int, bit) / 8] = PILASTER_TO_(uint8_t, record[PILASTER_TO_(int, bit) / 8] | PILASTER_MASK_(bit))
#define PILASTER_CELL_(at, name) (void)memcpy(&record[at], &row->name, sizeof row->name)
#define PILASTER_PUT_BOOL(name)         \
    if (row->name) {                    \
        PILASTER_SET_(pil_bit_##name); \
    }
#define PILASTER_PUT_BYTE(name) PILASTER_CELL_(PILASTER_AT_BYTE(name), name);
#define PILASTER_PUT_INT32(name) PILASTER_CELL_(PILASTER_AT_INT32(name), name);
#define PILASTER_PUT_INT64(name) PILASTER_CELL_(PILASTER_AT_INT64(name), name);
#define PILASTER_PUT_DOUBLE(name) PILASTER_CELL_(PILASTER_AT_DOUBLE(name), name);
#define PILASTER_PUT_FIXED(n) PILASTER_PUT_BYTE
#define PILASTER_PUT_TEXT(name) texts[PILASTER_TO_(int, pil_text_##name) / 4] = row->name;
#define PILASTER_PUT_UNIQUE_TEXT(name) PILASTER_PUT_TEXT(name)
#define PILASTER_NULL_BIT_REQUIRED(name)
#define PILASTER_NULL_BIT_NULLABLE(name) PILASTER_SET_(pil_null_##name);
#define PILASTER_PUT_(type, name, null, base, unit) \
    if (PILASTER_IS_NULL_##null(name)) {            \
        PILASTER_NULL_BIT_##null(name)              \
    } else {                                        \
        PILASTER_PUT_##type(name)                   \
    }

#define PILASTER_RECORD(record_name, type_name, name_space, version, FIELDS) \
    PILASTER_RECORD_ABOUT(record_name, type_name, name_space, version, "", FIELDS)

#define PILASTER_RECORD_ABOUT(record_name, type_name, name_space, version, about, FIELDS)                           \
    struct record_name {                                                                                            \
        FIELDS(PILASTER_MEMBER_)                                                                                    \
    };                                                                                                              \
    enum {                                                                                                          \
        record_name##_record_len = PILASTER_RECORD_LEN_(FIELDS),                                                    \
        record_name##_texts = (0 FIELDS(PILASTER_ADD_TEXTS_)) / 4                                                   \
    };                                                                                                              \
                                                                                                                    \
    PILASTER_MAYBE_UNUSED static inline const pilaster_ds_type *record_name##_type(void) {                          \
        PILASTER_PLACES_(FIELDS)                                                                                    \
        static const char xml[] = "<ExtentType name=\"" type_name "\" namespace=\"" name_space "\" version=\""      \
                                  version "\"" about ">\n" FIELDS(PILASTER_XML_FIELD_) "</ExtentType>\n";         \
        static const pilaster_ds_field fields[] = {FIELDS(PILASTER_FIELD_)};                                        \
        static const pilaster_ds_type type = {{type_name, sizeof type_name - 1u},                                   \
                                              {xml, sizeof xml - 1u},                                               \
                                              fields,                                                               \
                                              PILASTER_TO_(uint32_t, pil_numbers),                                  \
                                              PILASTER_TO_(uint32_t, record_name##_record_len)};                    \
        return &type;                                                                                               \
    }                                                                                                               \
                                                                                                                    \
    PILASTER_MAYBE_UNUSED static inline void record_name##_put_(const struct record_name *row, uint8_t *record,     \
                                                                pilaster_text *texts) {                             \
        PILASTER_PLACES_(FIELDS)                                                                                    \
        (void)record;                                                                                               \
        (void)texts;                                                                                                \
        FIELDS(PILASTER_PUT_)                                                                                       \
    }                                                                                                               \
                                                                                                                    \
    PILASTER_MAYBE_UNUSED static inline int32_t record_name##_row(                                                  \
        pilaster_ds_writer *writer, pilaster_ds_extent *extent, const struct record_name *row,                      \
        pilaster_error *error) {                                                                                    \
        uint8_t record[record_name##_record_len] = {0};                                                             \
        pilaster_text texts[record_name##_texts + 1] = {{NULL, 0u}};                                                \
        if (row != NULL) {                                                                                          \
            record_name##_put_(row, record, texts);                                                                 \
        }                                                                                                           \
        return pilaster_ds_row(writer, extent, (row != NULL) ? record : NULL, sizeof record, texts,\
                               PILASTER_TO_(size_t, record_name##_texts), error);                                   \
    }                                                                                                               \
                                                                                                                    \
    PILASTER_MAYBE_UNUSED static inline int32_t record_name##_log(                                                  \
        pilaster_ring *ring, pilaster_ds_extent *extent, const struct record_name *row, pilaster_error *error) {    \
        uint8_t record[record_name##_record_len] = {0};                                                             \
        pilaster_text texts[record_name##_texts + 1] = {{NULL, 0u}};                                                \
        if (row != NULL) {                                                                                          \
            record_name##_put_(row, record, texts);                                                                 \
        }                                                                                                           \
        return pilaster_ring_row(ring, extent, (row != NULL) ? record : NULL, sizeof record, texts,\
                               PILASTER_TO_(size_t, record_name##_texts), error);                                   \
    }

#endif
