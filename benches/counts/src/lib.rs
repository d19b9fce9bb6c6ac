//! Work whose instructions are counted by callgrind, one case at a time.
//!
//! `.ci/counts` lets callgrind collect inside `counted` only and write a profile whenever it returns: the n-th profile
//! belongs to the n-th name that the program prints. All data is the same in every run.

#[path = "../../common/data.rs"]
pub mod data;
pub mod files;
pub mod table;

/// The cases of a program. Arguments of the program choose the cases whose name contains one of them.
#[derive(Debug, Default)]
pub struct Run {
    wanted: Vec<String>,
}

impl Run {
    /// Takes the arguments of the program.
    #[must_use]
    pub fn from_args() -> Self {
        Run { wanted: std::env::args().skip(1).collect() }
    }

    /// Prints the name, and runs the work: once to find out what the processor has and to warm up, then counted.
    pub fn case(&self, name: &str, mut work: impl FnMut()) {
        if !self.wanted.is_empty() && !self.wanted.iter().any(|wanted| name.contains(wanted)) {
            return;
        }
        work();
        println!("{name}");
        counted(&mut work);
    }
}

/// Runs the work that callgrind counts; `.ci/counts` finds the function by its name.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
}
