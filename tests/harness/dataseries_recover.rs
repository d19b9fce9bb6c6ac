//! The intact extents in arbitrary bytes make a valid file.

use pilaster::bytes::{Endian, Input, Scratch, SliceSink, WriteError};
use pilaster::dataseries::recover::{Recovered, Salvage};
use pilaster::dataseries::write::{Description, Descriptions, IndexSlot, Writer};
use pilaster::dataseries::{End, Extent, ExtentType, File, ReadOptions};
use pilaster::error::Kind;

use super::dataseries::in_order;

/// For bytes that do not describe their own types.
const SOME: &[u8] = b"<ExtentType name=\"Tiny\" namespace=\"example.org\" version=\"1.0\">\n\
    <field type=\"bool\" name=\"flag\" /><field type=\"byte\" name=\"b\" />\
    <field type=\"int32\" name=\"i\" opt_nullable=\"yes\" /><field type=\"variable32\" name=\"s\" />\
    <field type=\"double\" name=\"d\" /></ExtentType>";

const ROOM: usize = 1 << 16;

/// All of `data` is the file; its fifth byte says in which order it is read.
pub fn run(data: &[u8]) {
    in_order!(data.get(4) == Some(&0x12), order(data));
}

fn order<E: Endian>(data: &[u8]) {
    let mut memory = [0; 2 * ROOM];
    let (kept, unpacked) = memory.split_at_mut(ROOM);
    let mut kept = Scratch::new(kept);
    let some = ExtentType::parse(SOME, &Default::default(), &mut kept).expect("a sound type");
    let mut types = [some; 4];
    let mut count = 1;
    if let Ok(file) = File::<E>::open_sequential(data, &ReadOptions::DEFAULT, &mut kept) {
        for (to, ty) in types.iter_mut().zip(file.types().iter()) {
            *to = ty;
        }
        count = file.types().len().min(types.len());
    }
    let types = &types[..count];
    let mut names = [Description { name: "", xml: &[] }; 4];
    for (to, ty) in names.iter_mut().zip(types) {
        *to = Description::from(ty);
    }
    let (mut bytes, mut slots) = ([0; ROOM], [IndexSlot::EMPTY; 256]);
    // Not every list is valid for a file.
    let Ok(names) = Descriptions::new(&names[..count]) else { return };
    let mut clean = Writer::<E, _>::new(SliceSink::new(&mut bytes), names, &mut slots);
    let mut salvage = Salvage::<E>::new(Input::whole(data), types);
    let (mut at, mut rows) = (0, 0u64);
    while let Some(piece) = salvage.next(&ReadOptions::DEFAULT, &mut Scratch::new(unpacked)) {
        match piece {
            Ok(Recovered::Extent(header)) => {
                assert!(header.at >= at, "pieces follow each other");
                at = header.span().end().expect("an end");
                rows += u64::from(header.rows);
                let extent = Extent::<E>::of(&data[header.at as usize..], header.at).expect("it was read already");
                match clean.put_stored(&extent) {
                    Ok(()) => {}
                    Err(WriteError::Sink(e)) => return assert_eq!(e.kind(), Kind::NoRoom),
                    Err(e) => panic!("{e:?}"),
                }
            }
            Ok(Recovered::Lost(loss)) => {
                assert!(loss.span.at >= at && loss.span.len > 0, "pieces follow each other");
                at = loss.span.end().expect("an end");
            }
            // More than there is here.
            Err(e) => return assert_eq!(e.kind(), Kind::NoRoom),
        }
        assert!(at <= data.len() as u64 && salvage.at() == at);
    }
    let extents = clean.extents();
    let Ok(sink) = clean.finish() else { return };
    let mut memory = [0; 2 * ROOM];
    let (kept, unpacked) = memory.split_at_mut(ROOM);
    let file = match File::<E>::open(sink.written(), &ReadOptions::DEFAULT, &mut Scratch::new(kept)) {
        Ok(file) => file,
        Err(e) => return assert_eq!(e.kind(), Kind::NoRoom, "{e:?}"),
    };
    assert!(matches!(file.verify(&mut Scratch::new(unpacked)), Ok(End::Trailer { .. })));
    assert_eq!(file.extents().count(), extents + 2);
    let all = file.extents().map(|extent| extent.expect("verified")).filter(|e| !e.type_name().starts_with(b"DataS"));
    assert_eq!(all.map(|extent| u64::from(extent.header().rows)).sum::<u64>(), rows);
}
