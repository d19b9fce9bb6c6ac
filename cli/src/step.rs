//! How many rows a group has if its size in bytes is limited.

/// Maximum number of groups that pass before a larger one is tried.
const MOST: u32 = 64;

/// The number of rows of the next group.
pub struct Step {
    rows: u64,
    /// Number of groups that pass before a larger one is tried, and how many of them are left.
    wait: u32,
    left: u32,
}

impl Step {
    pub const fn new(rows: u64) -> Self {
        Step { rows, wait: 0, left: 0 }
    }

    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// A group of `rows` rows was too large. If the groups after it grew at once, every second one would be read for nothing.
    pub fn refused(&mut self, rows: u64) {
        self.rows = rows >> 1;
        self.wait = self.wait.saturating_mul(2).clamp(8, MOST);
        self.left = self.wait;
    }

    /// A group was not too large.
    pub fn fed(&mut self) {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => self.rows = self.rows.saturating_mul(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds rows in groups. Returns the number of groups, and of rows that were read for nothing. `most`: the largest group at a
    /// row.
    fn feed(all: u64, most: impl Fn(u64) -> u64) -> (u64, u64) {
        let (mut step, mut row, mut groups, mut wasted) = (Step::new(1 << 16), 0u64, 0u64, 0u64);
        while row < all {
            let rows = step.rows().min(all.saturating_sub(row));
            if rows > most(row) {
                step.refused(rows);
                wasted = wasted.saturating_add(rows);
            } else {
                step.fed();
                (row, groups) = (row.saturating_add(rows), groups.saturating_add(1));
            }
        }
        (groups, wasted)
    }

    #[test]
    fn few_rows_are_read_for_nothing() {
        let (groups, wasted) = feed(10_000_000, |_| 3000);
        assert!(groups < 5000 && wasted < 500_000, "{groups} groups, {wasted} rows wasted");
        assert_eq!(feed(1_000_000, |_| u64::MAX), (5, 0));
        // After rows that are long, groups grow again.
        let (groups, _) = feed(10_000_000, |row| if row < 100 { 1 } else { 1 << 16 });
        assert!(groups < 1000, "{groups} groups");
    }
}
