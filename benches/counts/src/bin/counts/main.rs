//! Every kernel, and opening, scanning and writing of every format.

mod codecs;
mod encodings;
mod filo;
mod formats;
mod texts;

use pilaster_counts::Run;

fn main() {
    let run = Run::from_args();
    codecs::all(&run);
    encodings::all(&run);
    texts::all(&run);
    filo::all(&run);
    formats::all(&run);
}
