//! Recovery: writes the intact extents of a damaged DataSeries file to a new one.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pilaster::Result;
use pilaster::bytes::{BigEndian, Endian, Input, LittleEndian, Scratch};
use pilaster::dataseries::recover::{Loss, Recovered, Salvage};
use pilaster::dataseries::write::{Description, Descriptions, IndexSlot, Writer};
use pilaster::dataseries::{Extent, ExtentType, Order, ReadOptions, Types};
use pilaster::dataseries::{HEADER_LEN, INDEX_TYPE};
use pilaster::error::{Error, Kind, What};

use crate::describe;
use crate::heap::{filled, lasting, memory, push};
use crate::json::Json;
use crate::write::{File, Writing, either};

impl Writing {
    /// Writes a file of the intact extents in `bytes`, and describes what is lost.
    pub fn recover(&mut self, bytes: Vec<u8>) -> Result<()> {
        let bytes: &'static [u8] = Box::leak(bytes.into_boxed_slice());
        match Order::of(bytes)? {
            Order::Little => self.recover_as::<LittleEndian>(bytes),
            Order::Big => self.recover_as::<BigEndian>(bytes),
        }
    }

    fn recover_as<E: Endian>(&mut self, bytes: &'static [u8]) -> Result<()> {
        let options = &ReadOptions::DEFAULT;
        let first = Extent::<E>::of(bytes.get(HEADER_LEN..).unwrap_or_default(), HEADER_LEN as u64)?;
        let types = lasting(|scratch| Types::open(&first, options, scratch))?;
        let types = all::<ExtentType<'_>>(types.iter())?;
        let json = &mut self.about;
        json.open(b'{').key("lost").open(b'[');
        let mut salvage = Salvage::<E>::new(Input::whole(bytes), &types);
        let (mut whole, mut rows, mut room) = (Vec::new(), 0u64, memory(1 << 16)?);
        loop {
            match salvage.next(options, &mut Scratch::new(&mut room)) {
                None => break,
                Some(Ok(Recovered::Extent(header))) => {
                    rows = rows.saturating_add(header.rows.into());
                    push(&mut whole, header.at)?;
                }
                Some(Ok(Recovered::Lost(loss))) => lost(json, &loss, bytes),
                // `need` is the size of one slice of several.
                Some(Err(e)) if e.kind() == Kind::NoRoom => {
                    let more = (room.len() as u64).saturating_add(e.need().into()).saturating_mul(2);
                    // Frees the old memory first, so that not both are allocated at once.
                    drop(core::mem::take(&mut room));
                    room = memory(more)?;
                }
                Some(Err(e)) => return Err(e),
            }
        }
        json.close(b']').count("rows", rows).count("extents", whole.len() as u64).close(b'}');
        let descriptions = all(types.iter().map(Description::from))?;
        let mut slots = filled(whole.len(), IndexSlot::EMPTY)?;
        let none = || Error::needing(Kind::NoRoom, What::DESTINATION, 0, bytes.len() as u64);
        let mut file = Vec::new();
        file.try_reserve_exact(bytes.len()).map_err(|_| none())?;
        let mut writer = Writer::<E, _>::new(File(file), Descriptions::new(&descriptions)?, &mut slots);
        for at in &whole {
            let stored = bytes.get(usize::try_from(*at).unwrap_or(usize::MAX)..).unwrap_or_default();
            writer.put_stored(&Extent::of(stored, *at)?).map_err(either)?;
        }
        self.made = writer.finish().map_err(either)?.0;
        Ok(())
    }
}

/// Collects the items of an iterator.
fn all<T>(items: impl Iterator<Item = T>) -> Result<Vec<T>> {
    let mut all = Vec::new();
    for item in items {
        push(&mut all, item)?;
    }
    Ok(all)
}

fn lost(json: &mut Json, loss: &Loss, bytes: &[u8]) {
    describe::error(json, &loss.why);
    json.count("at", loss.span.at).count("size", loss.span.len);
    let name = loss.header.map(|header| Input::whole(bytes).get(header.name_span(), What::DATASERIES_TYPE_NAME));
    if let Some(Ok(name)) = name {
        json.key("table").text(name).key("index").bool(name == INDEX_TYPE.as_bytes());
    }
    json.close(b'}');
}
