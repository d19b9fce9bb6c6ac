//! The files of the image `log_vortex`, written on a host: the logger is the same for every chip, and so are its bytes.
//! `cargo run -p logger --example log_vortex -- FOLDER`

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::{env, io};

use embedded_io::{ErrorType, Write};
use logger::vortex::{Buffers, Outputs, log, log_samples};

/// A file of the host as an output of the logger.
struct Host(File);

impl ErrorType for Host {
    type Error = io::Error;
}

impl Write for Host {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::Write::write(&mut self.0, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::Write::flush(&mut self.0)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).ok_or("usage: log_vortex FOLDER")?;
    let create = |name: &str| File::create(Path::new(&folder).join(name)).map(Host);
    let mut buffers = Buffers::NEW;
    let to = Outputs {
        air: create("air.vortex")?,
        battery: create("battery.vortex")?,
        motion: create("motion.vortex")?,
        pressure: create("pressure.vortex")?,
    };
    let logged = log(to, &mut buffers, 30_000)?;
    println!("{logged:?}");
    println!("{:?}", log_samples(create("samples.vortex")?, &mut buffers, 2048)?);
    Ok(())
}
