//! Smaller and better ordered arcs: codes for probabilities, and arcs by blocks of columns.

use crate::layout::is_long;
use crate::parallel::{fill, in_parts};
use backsweep_mdp::Mdp;
use std::ops::Range;

/// Rows or arcs that a thread handles at a time.
const PART: usize = 1 << 18;

/// States that a thread orders by columns at a time.
const STATES: usize = 1 << 16;

/// Probabilities as bytes: `table[of_arcs[arc]]` has the same bits as the arc's probability.
pub struct Codes {
    /// The different probabilities, in ascending order, filled up with 0.
    pub table: [f64; 256],
    /// The code of each arc.
    pub of_arcs: Vec<u8>,
}

impl Codes {
    /// The codes of arcs whose probabilities are all among at most 256.
    pub(crate) fn new(different: &[f64], probabilities: &[f64], threads: usize) -> Self {
        let mut table = [0.0; 256];
        table[..different.len()].copy_from_slice(different);
        let mut found = Table::default();
        different.iter().for_each(|p| _ = found.add(p.to_bits()));
        let sorted = found.places(different);
        let mut of_arcs = vec![0; probabilities.len()];
        fill(&mut of_arcs, PART, threads, |first, codes| {
            for (code, p) in codes.iter_mut().zip(&probabilities[first..]) {
                *code = sorted[found.find(p.to_bits())];
            }
        });
        Self { table, of_arcs }
    }
}

/// The facts that one look at all rows tells.
pub(crate) struct Survey {
    /// The different probabilities in ascending order, if there are at most 256.
    pub table: Option<Vec<f64>>,
    pub mass: Range<f64>,
    pub has_terminal: bool,
}

/// Looks at all rows.
pub(crate) fn survey(mdp: &Mdp, threads: usize) -> Survey {
    let parts = in_parts(mdp.n_choices(), PART, threads, |rows| {
        let mut seen = Table::default();
        let mut few = true;
        let mut mass = 1.0..0.0;
        let mut last = 0;
        for row in rows {
            let probabilities = mdp.row(row).1;
            let sum: f64 = probabilities.iter().sum();
            mass = sum.min(mass.start)..sum.max(mass.end);
            if few {
                for p in probabilities {
                    let bits = p.to_bits();
                    if bits != last {
                        few &= seen.add(bits);
                        last = bits;
                    }
                }
            }
        }
        (few.then_some(seen), mass)
    });
    let mut all = Some(Table::default());
    let mut mass = 1.0..0.0_f64;
    for part in parts {
        let (seen, of_part) = part.found;
        mass = mass.start.min(of_part.start)..mass.end.max(of_part.end);
        all = match (all, seen) {
            (Some(mut all), Some(seen)) => seen.items().all(|bits| all.add(bits)).then_some(all),
            _ => None,
        };
    }
    let table = all.map(|all| {
        let mut table: Vec<f64> = all.items().map(f64::from_bits).collect();
        table.sort_unstable_by(f64::total_cmp);
        table
    });
    Survey { table, mass, has_terminal: mdp.choice_starts().windows(2).any(|w| w[0] == w[1]) }
}

/// A small hash set of the bits of probabilities above 0; empty places hold 0.
struct Table {
    bits: [u64; Self::PLACES],
    len: usize,
}

impl Default for Table {
    fn default() -> Self {
        Self { bits: [0; Self::PLACES], len: 0 }
    }
}

impl Table {
    const PLACES: usize = 1024;

    fn find(&self, bits: u64) -> usize {
        let mut place = (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
        while self.bits[place] != bits && self.bits[place] != 0 {
            place = (place + 1) % Self::PLACES;
        }
        place
    }

    /// Returns whether there is room.
    fn add(&mut self, bits: u64) -> bool {
        let place = self.find(bits);
        if self.bits[place] != bits {
            if self.len == 256 {
                return false;
            }
            (self.bits[place], self.len) = (bits, self.len + 1);
        }
        true
    }

    fn items(&self) -> impl Iterator<Item = u64> {
        self.bits.iter().copied().filter(|bits| *bits != 0)
    }

    /// For each place, the position of its number in a list.
    fn places(&self, list: &[f64]) -> [u8; Self::PLACES] {
        let mut places = [0; Self::PLACES];
        list.iter().enumerate().for_each(|(i, p)| places[self.find(p.to_bits())] = i as u8);
        places
    }
}

/// The arcs of a model, pass by pass; within a pass, in the order of the model.
pub(crate) struct Parted {
    pub row_starts: Vec<u32>,
    pub targets: Vec<u32>,
    pub probabilities: Vec<f64>,
}

/// Orders arcs by blocks of columns. The rows of states that fit no tile stay together, in the last pass.
pub(crate) fn by_columns(mdp: &Mdp, passes: usize, threads: usize) -> Parted {
    let (choices, starts) = (mdp.choice_starts(), mdp.arc_starts());
    let n_rows = mdp.n_choices();
    let width = mdp.n_states().div_ceil(passes).max(1) as u32;
    let pass_of = |target: u32, long: bool| if long { passes - 1 } else { (target / width) as usize };
    let counted = in_parts(mdp.n_states(), STATES, threads, |part| {
        let mut totals = vec![0_usize; passes];
        for state in part.clone() {
            let long = is_long(state, choices, starts);
            for row in mdp.choices_of(state) {
                mdp.row(row).0.iter().for_each(|&target| totals[pass_of(target, long)] += 1);
            }
        }
        (part, totals)
    });
    let mut row_starts = vec![0_u32; passes * (n_rows + 1)];
    let (mut targets, mut probabilities) = (vec![0_u32; mdp.n_arcs()], vec![0.0; mdp.n_arcs()]);
    // Every piece of the arrays that one part of the states writes in one pass, in the order of the arrays.
    let mut pieces: Vec<Vec<Piece>> = counted.iter().map(|_| Vec::new()).collect();
    let (mut left, mut t, mut p) = (&mut row_starts[..], &mut targets[..], &mut probabilities[..]);
    let mut first_arc = 0;
    for pass in 0..passes {
        for (part, pieces) in counted.iter().zip(&mut pieces) {
            let (states, totals) = &part.found;
            let n_rows = (choices[states.end] - choices[states.start]) as usize;
            let starts = left.split_off_mut(..n_rows).unwrap_or_default();
            let targets = t.split_off_mut(..totals[pass]).unwrap_or_default();
            let probabilities = p.split_off_mut(..totals[pass]).unwrap_or_default();
            pieces.push(Piece { first_arc, starts, targets, probabilities });
            first_arc += totals[pass];
        }
        if let Some(end) = left.split_off_first_mut() {
            *end = first_arc as u32;
        }
    }
    let mut work: Vec<_> = counted.into_iter().map(|part| part.found.0).zip(pieces).collect();
    fill(&mut work, 1, threads, |_, work| {
        for (states, pieces) in work {
            let first_row = choices[states.start] as usize;
            let mut filled = vec![0_usize; passes];
            for state in states.clone() {
                let long = is_long(state, choices, starts);
                for row in mdp.choices_of(state) {
                    for (piece, &filled) in pieces.iter_mut().zip(&filled) {
                        piece.starts[row - first_row] = (piece.first_arc + filled) as u32;
                    }
                    let (row_targets, row_probabilities) = mdp.row(row);
                    for (&target, &probability) in row_targets.iter().zip(row_probabilities) {
                        let pass = pass_of(target, long);
                        pieces[pass].targets[filled[pass]] = target;
                        pieces[pass].probabilities[filled[pass]] = probability;
                        filled[pass] += 1;
                    }
                }
            }
        }
    });
    Parted { row_starts, targets, probabilities }
}

/// The output of one part of the states in one pass.
struct Piece<'a> {
    first_arc: usize,
    starts: &'a mut [u32],
    targets: &'a mut [u32],
    probabilities: &'a mut [f64],
}
