//! Logs for tests: in memory, random, shuffled, compressed.

use backsweep_log::{BinnedColumn, Counts, Input, Spec};
use std::io::Write;

/// The settings of the logs in these tests.
pub fn spec() -> Spec {
    Spec {
        case: Some("case".into()),
        order: Some("t".into()),
        state: vec![BinnedColumn::plain("state")],
        action: vec![BinnedColumn::plain("action")],
        reward: Some("reward".into()),
        threads: 2,
        ..Spec::default()
    }
}

pub fn named(name: &str, bytes: impl Into<Vec<u8>>) -> Input {
    Input::Bytes(name.to_owned(), bytes.into().into())
}

pub fn bytes(text: &str) -> Input {
    named("log", text)
}

/// Counts as lines that can be read and compared.
pub fn lines(counts: &Counts) -> String {
    let state = |id: u32| counts.states[id as usize].as_str();
    let starts = counts
        .starts
        .iter()
        .map(|start| format!("start {} {} {}\n", state(start.state), start.fold, start.n));
    let rows = counts.rows.iter().map(|row| {
        let (action, next) = (&counts.actions[row.action as usize], row.next.map_or("end", state));
        format!("{} {action} {next} {} {} {}\n", state(row.state), row.fold, row.n, row.reward_sum)
    });
    starts.chain(rows).collect()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// Random numbers (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % n
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

pub const HEADER: &str = "case,t,state,action,reward,done\n";

/// The rows of some cases, in order; some of the cases end.
pub fn rows(n_cases: u64, seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let mut rows = Vec::new();
    for case in 0..n_cases {
        let length = 1 + random.below(12);
        let ends = random.below(3) > 0;
        for t in 0..length {
            let (state, action) = (random.below(30), random.below(4));
            let cents = random.below(2000);
            let reward = format!("{}{}.{:02}", ["", "-"][(cents % 2) as usize], cents / 100, cents % 100);
            let done = u8::from(ends && t + 1 == length);
            rows.push(format!("c{case},{t},s{state},a{action},{reward},{done}\n"));
        }
    }
    rows
}
