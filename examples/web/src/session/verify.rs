//! Verification of a file.

use pilaster::Result;
use pilaster::bytes::Scratch;

use super::{MOST, Opened, Progress, Session, Status, closed, grow, lacks_scratch};

impl Session {
    /// Verifies the file in steps.
    pub fn verify(&mut self) -> Status {
        self.begin();
        let done = self.try_verify();
        self.end(done)
    }

    fn try_verify(&mut self) -> Result<Option<Progress>> {
        let Some(opened) = &self.opened else { return Err(closed()) };
        let left = loop {
            let scratch = &mut Scratch::new(&mut self.scratch);
            match each!(opened, file => file.verify(&self.pieces, &self.source, &mut self.walk, scratch)) {
                Err(e) if lacks_scratch(&e) && self.scratch.len() < MOST => grow(&mut self.scratch, e.need())?,
                left => break left?,
            }
        };
        if left.is_none() {
            self.reply.clear();
            self.reply.bool(true);
            self.walk = 0;
        }
        Ok(left)
    }
}
