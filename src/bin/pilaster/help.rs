//! What the tool says about itself.

pub const MAIN: &str = "\
pilaster looks into columnar files.

Usage: pilaster COMMAND [OPTIONS] FILE

Commands:
  info      what the file is: format, encoding, sizes, columns
  head      its first rows
  cat       all its rows, as CSV or JSON lines
  dump      every value exactly, as one JSON document
  verify    walk everything; say ok, or what is wrong and where
  recover   write what is whole in a damaged file to a clean one
  convert   write its rows to another file: format, compression, byte order

FILE is a path, or - for standard input.
Each command explains itself: pilaster COMMAND --help.
";

pub const INFO: &str = "\
What the file is: its format, encoding and sizes, and for each column the type,
the rows, and how many of them are missing.

Usage: pilaster info [OPTIONS] FILE
";

pub const HEAD: &str = "\
The first rows.

Usage: pilaster head [OPTIONS] FILE

Options:
  -n, --rows N         so many rows (default 10), or a range: 100..200
";

pub const CAT: &str = "\
All rows.

Usage: pilaster cat [OPTIONS] FILE

Options:
  -n, --rows N         at most so many rows, or a range: 100..200, 100.., ..200
";

pub const TEXT: &str = "      --table NAME     which table, where the file has several
      --columns A,B    these columns, in this order
      --from T, --to T rows from T on, and before T, by a column of stored times
      --time COLUMN    which column that is (default: the first of 64 bits)
      --to csv|jsonl   the form of the text (default csv)
      --json-lines     the same as --to jsonl
      --no-header      CSV: leave out the line with the names of the columns
      --missing TEXT   CSV: what stands for a missing value (default: nothing)
";

pub const RULES: &str = "
CSV quotes a field that holds a comma, a quote or a line break, and one that
reads like a missing value: an empty field is missing, \"\" is an empty string.
JSON lines have an object per row, with null for a missing value. Numbers that
JSON lacks are the strings \"NaN\", \"Infinity\" and \"-Infinity\"; decimals are
strings. In both, dates and times are the stored counts, bytes are hexadecimal
(variable32 of DataSeries: where they are not text); a nested value in CSV is
its JSON text. --rows counts all rows, also those that --from and --to leave
out.
";

pub const DUMP: &str = "\
Every value exactly, as one JSON document: integers as decimal strings, floats
as the hexadecimal digits of their bits, bytes in hexadecimal, missing values
null. A column of up to 2000 rows has its values, a longer one its head and
tail; sha256 is always that of all values, joined by line feeds.
Nothing is printed about a file that pilaster verify refuses.

Usage: pilaster dump [OPTIONS] FILE

Options:
      --json           the only form so far, and the default
";

pub const VERIFY: &str = "\
Walks everything in the file: every row, string and code. Says what it counted,
or fails with the first thing that is wrong and its offset.

Usage: pilaster verify [OPTIONS] FILE
";

pub const RECOVER: &str = "\
Writes what is whole in a damaged file to a clean one, and says what is lost.
Of a DataSeries file: every extent, whatever happened around it, with a new
index. Of a Jay file: every column that can be read; strings that are none
are missing there. Of a bcolz dataset: every row that all columns have whose
metadata can be read.

Usage: pilaster recover [OPTIONS] FILE TARGET

Options, of DataSeries:
      --types SOUND    a sound file with the same types, for one whose own
                       description is lost
      --order ORDER    little or big, for a file whose header is lost
";

pub const CONVERT: &str = "\
Writes the rows of a table to another file: of another format, or, from
DataSeries to DataSeries, extent for extent with other compression and packing.

Usage: pilaster convert [OPTIONS] FILE TARGET

Options:
      --to FORMAT      filo, dataseries, jay or bcolz (default: by the name of
                       TARGET, .filo .ds .jay .bcolz, or the format of FILE);
                       x.blosc is a single Blosc chunk of one column
      --columns A,B    these columns, in this order; of another format only
      --table NAME     which table, where the file has several; the name of the
                       one to write, where the target has names
      --stored-times   dates and times as the integers that are stored
To Jay:
      --layout new|old how columns are described: the old way is for releases of
                       datatable that know no other (default new)
      --keys N         the first N columns are the key; rows must ascend by it
      --no-stats       leave out least and greatest values
      --bytes-as-text  bytes become strings; those that are no text are an error
      --any-time       timestamps of any unit become nanoseconds, without a zone
To bcolz, where TARGET is a directory that does not exist yet:
      --codec NAME     blosclz, lz4, lz4hc, snappy, zlib or zstd (default lz4)
      --clevel N       0 to 9 (default 5)
      --shuffle WHAT   none, bytes or bits (default bytes)
      --chunklen N     rows of a chunk (default: as the original chooses)
      --fill-missing   missing values become NaN, 0, false or an empty text
      --records        structs become records, which the original itself cannot
                       open again
      --any-time       timestamps lose their zone
      --append         put the rows behind those of a TARGET that exists
To DataSeries:
      --compress MODES which modes to try, of each extent keeping the smallest:
                       none, or some of lzo,zlib,bz2,lzf,snappy,lz4,lz4hc
                       (default: all of them)
      --level N        of zlib, bz2 and lz4hc, 1 to 9 (default 9)
      --order ORDER    little or big (default: as it is)
From DataSeries to DataSeries:
      --plain          cells are the values: neither relative, scaled nor unique
      --compact yes|no leave out null cells, or do not (default: as it is)
      --pad RULE       original or max_column_size (default: as it is)
      --ordering RULE  small_to_big or big_to_small (default: as it is)

A type that the target cannot hold is an error that names it.
";

pub const COMMON: &str = "
What a file may not say about itself:
      --format FORMAT  filo, dataseries, jay, bcolz or vortex. By default the
                       content decides, or the extension .filo. FILE is a
                       directory for a bcolz dataset
      --no-index       read a DataSeries file from the front, without its
                       trailer and index
      --tolerant       of a damaged or odd Jay file or bcolz dataset read
                       what can be read, and say what cannot
      --type ELEMENT   what a Filo vector holds: boolean, int, long, float,
                       double, string, utf8, blob, timestamp or datetime
      --dtype DTYPE    what a single Blosc chunk holds, as numpy spells it:
                       int32, '>f8', '|S5' (default: items of bytes, shown in
                       hexadecimal)

  -h, --help           this text
  -V, --version        the version

Exit status: 0 done, 1 the input is bad, 2 the call is bad.
";
