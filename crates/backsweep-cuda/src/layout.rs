//! The model as the kernels read it: tiles, passes over blocks of columns, codes for probabilities.

use crate::pack::{self, Codes};
use crate::parallel::{Part, in_parts};
use backsweep_mdp::Mdp;
use std::borrow::Cow;
use std::ops::Range;

/// The arcs that fit the shared memory of a block of threads.
pub const TILE_ARCS: usize = 2048;

/// The most rows, and the most states, of a tile.
pub const TILE_ROWS: usize = 1024;

/// Rows longer than this get a block of threads each: one thread would add them too slowly.
pub const LONG_ROW: usize = 256;

/// Tiles end at multiples of this many states, so that threads can lay out the parts in between.
const STATES_PER_PART: usize = 1 << 16;

/// The states of a zone.
const ZONE: u32 = 4096;

/// Values of 20 MB stay in the second-level cache of a large card while a pass reads them in any order.
const CACHED_VALUES: usize = 5 << 19;

/// A run of states that one block of threads sweeps, with its rows and arcs; as `struct Tile` in `kernels/sweep.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tile {
    /// The first row.
    pub row: u32,
    /// After the last row.
    pub end_row: u32,
    /// The first state.
    pub state: u32,
    /// After the last state.
    pub end_state: u32,
    /// The first arc.
    pub arc: u32,
    /// After the last arc.
    pub end_arc: u32,
    /// The first zone that its arcs lead to, if the layout is local.
    pub zone: u32,
    /// After the last of them.
    pub end_zone: u32,
}

/// Options for laying a model out; by default the model decides.
#[derive(Clone, Copy, Debug, Default)]
pub struct LayoutOptions {
    /// The number of passes over blocks of columns.
    pub passes: Option<usize>,
    /// True if probabilities may be stored as codes.
    pub uncoded: bool,
    /// True to note what each tile reads.
    pub local: Option<bool>,
    /// The threads to use; the layout does not depend on it.
    pub threads: usize,
}

/// A model laid out for the kernels.
pub struct Layout<'a> {
    /// Where the rows of each state begin.
    pub choices: &'a [u32],
    /// For each pass, where its part of each row begins; the passes follow each other, with one more entry than rows each.
    pub row_starts: Cow<'a, [u32]>,
    /// The targets of all arcs, pass by pass.
    pub targets: Cow<'a, [u32]>,
    /// The probabilities of all arcs, unless `codes` stand for them.
    pub probabilities: Cow<'a, [f64]>,
    /// One byte per arc, where a model has few different probabilities.
    pub codes: Option<Codes>,
    /// The tiles of each pass. Those of the last are whole states; those before are rows.
    pub tiles: Vec<Vec<Tile>>,
    /// The states that fit no tile, in ascending order.
    pub long_states: Vec<u32>,
    /// Where the rows of each of those begin in `long_rows`; one more entry.
    pub long_firsts: Vec<u32>,
    /// The rows of those states.
    pub long_rows: Vec<u32>,
    /// Tiles with space for the longest row of each of their states: where a policy's rows are gathered.
    pub chain_tiles: Vec<Tile>,
    /// The states with a row that is too long for that.
    pub long_chain: Vec<u32>,
    /// The size of that space, in arcs.
    pub chain_space: usize,
    /// True if tiles know the zones that they read, so that a sweep can omit those whose zones did not change.
    pub local: bool,
    /// Product `i` of a tile is kept at `i + (i >> pad)`, so that threads that add rows of even length use different banks.
    pub pad: u32,
    /// The smallest and the largest sum of a row.
    pub mass: Range<f64>,
    /// True if a state has no choices.
    pub has_terminal: bool,
}

impl<'a> Layout<'a> {
    /// Lays a model out.
    pub fn new(mdp: &'a Mdp, options: &LayoutOptions) -> Self {
        let threads = options.threads.max(1);
        let (choices, starts) = (mdp.choice_starts(), mdp.arc_starts());
        let seen = pack::survey(mdp, threads);
        let passes = options.passes.unwrap_or_else(|| passes_for(mdp)).max(1);
        let codes = if options.uncoded { None } else { seen.table };
        let (row_starts, targets, probabilities) = if passes == 1 {
            (Cow::from(starts), Cow::from(mdp.targets()), Cow::from(mdp.probabilities()))
        } else {
            let parted = pack::by_columns(mdp, passes, threads);
            (Cow::from(parted.row_starts), Cow::from(parted.targets), Cow::from(parted.probabilities))
        };
        let local = passes == 1 && options.local.unwrap_or_else(|| is_local(mdp));
        let codes = codes.map(|table| Codes::new(&table, &probabilities, threads));

        let n_rows = mdp.n_choices();
        let tiled = in_parts(mdp.n_states(), STATES_PER_PART, threads, |states| {
            let rows = choices[states.start] as usize..choices[states.end] as usize;
            let before = (0..passes - 1).map(|pass| {
                row_tiles(rows.clone(), &row_starts[pass * (n_rows + 1)..(pass + 1) * (n_rows + 1)])
            });
            let before = before.collect::<Vec<_>>();
            let last = &row_starts[(passes - 1) * (n_rows + 1)..];
            let mut best = state_tiles(states.clone(), choices, starts, last);
            if local {
                best.tiles.iter_mut().for_each(|tile| note_zones(tile, &targets));
            }
            (before, best, chain_tiles(states, choices, starts))
        });
        let mut layout = Self {
            choices,
            local,
            pad: padding(mdp),
            row_starts,
            targets,
            probabilities,
            codes,
            tiles: vec![Vec::new(); passes],
            long_states: Vec::new(),
            long_firsts: Vec::new(),
            long_rows: Vec::new(),
            chain_tiles: Vec::new(),
            long_chain: Vec::new(),
            chain_space: 0,
            mass: seen.mass,
            has_terminal: seen.has_terminal,
        };
        for Part { found: (before, best, chain), .. } in tiled {
            for (all, tiles) in layout.tiles.iter_mut().zip(before.into_iter().chain([best.tiles])) {
                all.extend(tiles);
            }
            layout.long_states.extend(best.long);
            let moved = chain.tiles.iter().map(|tile| Tile {
                arc: tile.arc + layout.chain_space as u32,
                end_arc: tile.end_arc + layout.chain_space as u32,
                ..*tile
            });
            layout.chain_tiles.extend(moved);
            layout.chain_space += chain.space;
            layout.long_chain.extend(chain.long);
        }
        for &state in &layout.long_states {
            layout.long_firsts.push(layout.long_rows.len() as u32);
            layout.long_rows.extend(choices[state as usize]..choices[state as usize + 1]);
        }
        layout.long_firsts.push(layout.long_rows.len() as u32);
        layout
    }

    /// The number of states.
    pub fn n_states(&self) -> usize {
        self.choices.len() - 1
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.choices[self.n_states()] as usize
    }

    /// The number of passes.
    pub fn passes(&self) -> usize {
        self.tiles.len()
    }

    /// Where each row begins in a pass.
    pub fn starts_of(&self, pass: usize) -> &[u32] {
        let n = self.n_rows() + 1;
        &self.row_starts[pass * n..(pass + 1) * n]
    }

    /// The probability of an arc.
    pub fn probability(&self, arc: usize) -> f64 {
        match &self.codes {
            Some(codes) => codes.table[codes.of_arcs[arc] as usize],
            None => self.probabilities[arc],
        }
    }

    /// The number of zones.
    pub fn zones(&self) -> usize {
        self.n_states() / ZONE as usize + 1
    }

    /// The bytes that an arc takes on the card.
    pub fn bytes_per_arc(&self) -> usize {
        4 + if self.codes.is_some() { 1 } else { 8 }
    }
}

/// True if a state fits no tile.
pub(crate) fn is_long(state: usize, choices: &[u32], starts: &[u32]) -> bool {
    let rows = choices[state] as usize..choices[state + 1] as usize;
    rows.len() > TILE_ROWS
        || (starts[rows.end] - starts[rows.start]) as usize > TILE_ARCS
        || longest(rows, starts) > LONG_ROW
}

fn longest(rows: Range<usize>, starts: &[u32]) -> usize {
    starts[rows.start..=rows.end].windows(2).map(|row| (row[1] - row[0]) as usize).max().unwrap_or(0)
}

/// Tiles of rows, for a pass before the last; `starts` are those of the pass.
fn row_tiles(rows: Range<usize>, starts: &[u32]) -> Vec<Tile> {
    let mut tiles = Vec::new();
    let mut first = rows.start;
    while first < rows.end {
        let most = rows.end.min(first + TILE_ROWS);
        let limit = starts[first] + TILE_ARCS as u32;
        // The last row that still fits; a row of a pass is never longer than a tile.
        let end = first + starts[first + 1..=most].partition_point(|&end| end <= limit);
        tiles.push(Tile {
            row: first as u32,
            end_row: end as u32,
            arc: starts[first],
            end_arc: starts[end],
            ..Tile::default()
        });
        first = end;
    }
    tiles
}

/// The tiles of some states, and the states that fit none.
#[derive(Default)]
struct Tiled {
    tiles: Vec<Tile>,
    long: Vec<u32>,
    space: usize,
}

/// Tiles of whole states. `all` are the starts of rows in the model, `last` those in the last pass.
fn state_tiles(states: Range<usize>, choices: &[u32], all: &[u32], last: &[u32]) -> Tiled {
    let mut tiled = Tiled::default();
    let mut open: Option<Tile> = None;
    for state in states {
        if is_long(state, choices, all) {
            tiled.tiles.extend(open.take());
            tiled.long.push(state as u32);
            continue;
        }
        let (row, end_row) = (choices[state], choices[state + 1]);
        let end_arc = last[end_row as usize];
        let fits = |tile: &Tile| {
            (end_arc - tile.arc) as usize <= TILE_ARCS
                && (end_row - tile.row) as usize <= TILE_ROWS
                && state - (tile.state as usize) < TILE_ROWS
        };
        if open.as_ref().is_some_and(|tile| !fits(tile)) {
            tiled.tiles.extend(open.take());
        }
        let tile =
            open.get_or_insert(Tile { row, state: state as u32, arc: last[row as usize], ..Tile::default() });
        (tile.end_row, tile.end_state, tile.end_arc) = (end_row, state as u32 + 1, end_arc);
    }
    tiled.tiles.extend(open);
    tiled
}

/// Tiles with space for the longest row of each state.
fn chain_tiles(states: Range<usize>, choices: &[u32], starts: &[u32]) -> Tiled {
    let mut tiled = Tiled::default();
    let mut open: Option<Tile> = None;
    for state in states {
        let longest = longest(choices[state] as usize..choices[state + 1] as usize, starts);
        if longest > LONG_ROW {
            tiled.tiles.extend(open.take());
            tiled.long.push(state as u32);
            continue;
        }
        let fits = |tile: &Tile| {
            tiled.space - tile.arc as usize + longest <= TILE_ARCS
                && state - (tile.state as usize) < TILE_ROWS
        };
        if open.as_ref().is_some_and(|tile| !fits(tile)) {
            tiled.tiles.extend(open.take());
        }
        let tile =
            open.get_or_insert(Tile { state: state as u32, arc: tiled.space as u32, ..Tile::default() });
        tiled.space += longest;
        (tile.end_state, tile.end_arc) = (state as u32 + 1, tiled.space as u32);
    }
    tiled.tiles.extend(open);
    tiled
}

/// Notes the range of zones that a tile's arcs lead to.
fn note_zones(tile: &mut Tile, targets: &[u32]) {
    let targets = &targets[tile.arc as usize..tile.end_arc as usize];
    let (least, most) = targets.iter().fold((u32::MAX, 0), |(least, most), &t| (least.min(t), most.max(t)));
    if least <= most {
        (tile.zone, tile.end_zone) = (least / ZONE, most / ZONE + 1);
    }
}

/// True if arcs lead to states with numbers nearby, and there are enough zones to tell them apart.
fn is_local(mdp: &Mdp) -> bool {
    mdp.n_states() >= 64 * ZONE as usize && mean_distance(mdp) < mdp.n_states() as u64 / 64
}

/// Shared memory has 16 banks of 8 bytes. Rows of odd length spread over them by themselves; others need a gap every 16 products.
fn padding(mdp: &Mdp) -> u32 {
    let n = mdp.n_choices();
    let sampled = (0..n).step_by((n / 1000).max(1));
    let (even, all) = sampled.fold((0, 0), |(even, all), row| {
        (even + usize::from(mdp.arcs_of(row).len().is_multiple_of(2)), all + 1)
    });
    if 2 * even > all { 4 } else { 31 }
}

/// One pass, unless reads of values are scattered over more than a cache holds and rows are long enough for several passes.
fn passes_for(mdp: &Mdp) -> usize {
    let n = mdp.n_states();
    let passes = n.div_ceil(CACHED_VALUES);
    // A pass costs about 20 bytes per row, and saves about 40 per arc that no longer misses the cache.
    if passes == 1 || 20 * (passes - 1) * mdp.n_choices() > 40 * mdp.n_arcs() {
        return 1;
    }
    if mean_distance(mdp) < CACHED_VALUES as u64 / 4 { 1 } else { passes }
}

/// The mean distance between the numbers of a state and its successors, of about a thousand states.
fn mean_distance(mdp: &Mdp) -> u64 {
    let n = mdp.n_states();
    let (mut distance, mut n_arcs) = (0_u64, 0_u64);
    for state in (0..n).step_by((n / 1000).max(1)) {
        for choice in mdp.choices_of(state) {
            for &target in mdp.row(choice).0 {
                distance += u64::from(target.abs_diff(state as u32));
                n_arcs += 1;
            }
        }
    }
    distance / n_arcs.max(1)
}
