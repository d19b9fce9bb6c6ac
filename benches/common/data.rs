//! Data that is the same in every run and on every machine.

/// Returns pseudo-random bytes.
pub fn noise(len: usize) -> Vec<u8> {
    let mut random = Random(7);
    (0..len).map(|_| random.next() as u8).collect()
}

/// Xorshift with a multiplication.
#[derive(Debug)]
pub struct Random(pub u64);

impl Random {
    #[allow(clippy::should_implement_trait, reason = "numbers without an end")]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}

/// Returns `len` bytes of numbered lines of text, whose devices and measurements recur.
pub fn log(len: usize) -> Vec<u8> {
    let (mut random, mut bytes) = (Random(1), Vec::new());
    for id in 0.. {
        let (device, status) = (random.below(50), random.below(13));
        bytes.extend(format!("sensor-{device} reading {id} status {status}\n").bytes());
        if bytes.len() >= len {
            break;
        }
    }
    bytes.truncate(len);
    bytes
}

/// Returns packed records of 24 bytes, at most `len` bytes: steps of a clock, a counter, small numbers, steps of a random
/// walk.
pub fn records(len: usize) -> Vec<u8> {
    let (mut random, mut bytes) = (Random(2), Vec::new());
    for id in 0..len as i32 / 24 {
        bytes.extend((900 + random.below(200)).to_le_bytes());
        bytes.extend(id.to_le_bytes());
        bytes.extend((random.below(100) as i32).to_le_bytes());
        bytes.extend((random.below(2001) as f64 - 1000.0).to_le_bytes());
    }
    bytes
}

/// Returns paths of log files.
pub fn log_lines(count: usize) -> Vec<String> {
    let mut random = Random(5);
    (0..count)
        .map(|i| format!("/var/log/service-{}/2026-11-{:02}/request-{i:08}.log", random.below(40), random.below(30)))
        .collect()
}
