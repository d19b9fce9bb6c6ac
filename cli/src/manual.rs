//! Completions for shells and manual pages, generated from the description of the command line.

use std::io::Write;

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::args::{Cli, Command};
use crate::failure::Failure;

pub fn run(command: &Command, mut out: &mut dyn Write) -> Result<(), Failure> {
    let mut cli = Cli::command();
    let name = match command {
        Command::Completions { shell } => {
            clap_complete::generate(*shell, &mut cli, "pilaster", &mut out);
            return Ok(());
        }
        Command::Man { command: Some(name) } => name,
        _ => return Ok(Man::new(cli).render(&mut out)?),
    };
    // Sets the full name of each command and the global options.
    cli.build();
    let known = cli.find_subcommand(name).cloned();
    let page = known.ok_or_else(|| Failure::Usage(format!("there is no command {name:?}; see pilaster --help")))?;
    Ok(Man::new(page.display_name(format!("pilaster-{name}"))).render(&mut out)?)
}
