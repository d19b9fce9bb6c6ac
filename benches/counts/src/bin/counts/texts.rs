//! Encodings of texts: FSST and OnPair, on paths of log files.

use std::hint::black_box;

use bytemuck::Zeroable as _;
use pilaster::unstable::encoding::texts::Texts;
use pilaster::unstable::encoding::{fsst, onpair};
use pilaster_counts::Run;
use pilaster_counts::data::log_lines;

pub fn all(run: &Run) {
    let lines = log_lines(2000);
    let mut offsets = vec![0u32];
    offsets.extend(lines.iter().scan(0, |end, line| {
        *end += line.len() as u32;
        Some(*end)
    }));
    let bytes = lines.concat().into_bytes();
    let texts = Texts::new(&bytes, &offsets).expect("ascending offsets");
    symbols(run, &texts, bytes.len());
    tokens(run, &texts, bytes.len());
}

fn symbols(run: &Run, texts: &Texts<'_>, len: usize) {
    run.case("FSST, train", || _ = black_box(fsst::Table::train(black_box(texts))));
    let table = fsst::Table::train(texts);
    let (mut codes, mut ends) = (Vec::with_capacity(2 * len), Vec::with_capacity(texts.len()));
    let mut encode = || {
        codes.clear();
        ends.clear();
        table.encode(black_box(texts), &mut codes, &mut ends);
    };
    encode();
    run.case("FSST, encode", encode);
    let mut out = vec![0; len + 512];
    run.case("FSST, decode", || {
        let symbols = fsst::Symbols::new(table.symbols(), table.lengths()).expect("a valid table");
        assert_eq!(symbols.decode(black_box(&codes), black_box(&mut out)), Ok(len));
    });
}

fn tokens(run: &Run, texts: &Texts<'_>, len: usize) {
    run.case("OnPair, train", || _ = black_box(onpair::Dictionary::train(black_box(texts), 12)));
    let dictionary = onpair::Dictionary::train(texts, 12);
    let (mut codes, mut ends) = (Vec::with_capacity(len), Vec::with_capacity(texts.len()));
    let mut encode = || {
        codes.clear();
        ends.clear();
        dictionary.encode(black_box(texts), &mut codes, &mut ends);
    };
    encode();
    run.case("OnPair, encode", encode);
    let (mut out, mut room) = (vec![0; len + 4096], onpair::Room::zeroed());
    run.case("OnPair, decode", || {
        let tokens = onpair::Tokens::new(dictionary.bytes(), dictionary.offsets()).expect("a valid dictionary");
        let rows = tokens.spread(&mut room).expect("few tokens");
        assert_eq!(rows.decode(black_box(&codes), black_box(&mut out)), Ok(len));
    });
}
