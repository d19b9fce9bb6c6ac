//! Description of the storage of a file.

use pilaster::Result;

use super::{Opened, Session, Status, closed};

impl Session {
    /// Describes how the file is stored.
    pub fn info(&mut self) -> Status {
        self.begin();
        let done = self.try_info();
        self.end(done.map(|()| None))
    }

    fn try_info(&mut self) -> Result<()> {
        let Some(opened) = &self.opened else { return Err(closed()) };
        self.reply.clear();
        self.reply.open(b'{');
        each!(opened, file => file.info(&self.pieces, &self.source, &mut self.reply)?);
        self.reply.close(b'}');
        Ok(())
    }
}
