//! A model in a card's memory, and sweeps over it.

use crate::driver::{Argument, DriverDevice};
use crate::iterate::{SweepChange, SweepEngine};
use crate::layout::{Layout, Tile};
use crate::{Error, Result};
use backsweep_mdp::NO_CHOICE;
use cudarc::driver::{CudaFunction, CudaSlice};

const THREADS: u32 = 256;

/// Longer rows of states that fit no tile get a block of threads each; as in `kernels/sweep.cu`.
const WARP_ROW: u32 = 512;

/// The places of changes in `kernels/sweep.cu`.
const SLOTS: usize = 1024;

/// The most blocks of a sweep, per multiprocessor; each takes several tiles. Measured from 3 to 64 on an H200.
const BLOCKS: usize = 64;

/// An open card; the kernels are loaded.
pub struct Card {
    device: DriverDevice,
    most_blocks: usize,
    wide: Kernels,
    coded: Kernels,
    long_best: CudaFunction,
    choose: CudaFunction,
    forget: CudaFunction,
    move_values: CudaFunction,
}

/// The kernels for one kind of arcs.
struct Kernels {
    part: CudaFunction,
    best: CudaFunction,
    chain: CudaFunction,
    gather: CudaFunction,
    warp_rows: CudaFunction,
    long_rows: CudaFunction,
    long_chain: CudaFunction,
}

impl Card {
    /// Opens the first card of this machine.
    ///
    /// # Errors
    /// If there is no driver or no card, or one of them is too old.
    pub fn open() -> Result<Self> {
        let device = DriverDevice::open(crate::PTX)?;
        let kernels = |kind: &str| -> Result<Kernels> {
            let function = |name: &str| device.function(&format!("{name}_{kind}"));
            Ok(Kernels {
                part: function("part")?,
                best: function("best")?,
                chain: function("chain")?,
                gather: function("gather")?,
                warp_rows: function("warp_rows")?,
                long_rows: function("long_rows")?,
                long_chain: function("long_chain")?,
            })
        };
        Ok(Self {
            most_blocks: BLOCKS * device.multiprocessors()?,
            wide: kernels("wide")?,
            coded: kernels("coded")?,
            long_best: device.function("long_best")?,
            choose: device.function("choose")?,
            forget: device.function("forget")?,
            move_values: device.function("move_values")?,
            device,
        })
    }

    /// Its name.
    ///
    /// # Errors
    /// If the driver reports a problem.
    pub fn name(&self) -> Result<String> {
        self.device.name()
    }

    /// Copies an array of this many numbers within the card's memory `times` times, to measure how fast that is.
    ///
    /// # Errors
    /// If the memory is too small, or the driver reports a problem.
    pub fn copy_numbers(&self, n: usize, times: usize) -> Result<std::time::Duration> {
        let from = self.device.zeros::<f64>(n)?;
        let mut to = self.device.zeros::<f64>(n)?;
        self.device.copy(&from, &mut to)?;
        self.device.wait()?;
        let began = std::time::Instant::now();
        for _ in 0..times {
            self.device.copy(&from, &mut to)?;
        }
        self.device.wait()?;
        Ok(began.elapsed())
    }
}

/// A model in the memory of a card, with values that begin at 0.
pub struct CardEngine<'a> {
    card: &'a Card,
    discount: f64,
    threads: usize,
    n_states: usize,
    n_rows: usize,
    passes: usize,
    pad: u32,
    arcs: CardArcs,
    row_starts: CudaSlice<u32>,
    choices: CudaSlice<u32>,
    rewards: CudaSlice<f64>,
    values: CudaSlice<f64>,
    next: CudaSlice<f64>,
    policy: CudaSlice<u32>,
    partial: Option<CudaSlice<f64>>,
    tiles: Vec<CudaSlice<Tile>>,
    tile_counts: Vec<usize>,
    long: Long,
    chain: CardChain,
    extremes: CudaSlice<i64>,
    active: Active,
}

/// Which tiles have something to do.
struct Active {
    /// True if tiles know the zones that they read.
    local: bool,
    /// The last sweep that changed a value of each zone.
    zones: CudaSlice<u32>,
    /// The number of the next sweep over all rows.
    round: u32,
    /// True if the values are those that the last sweep over all rows left.
    unmoved: bool,
    chosen: CudaSlice<u32>,
    n_chosen: CudaSlice<u32>,
    n_swept: u64,
}

/// Arcs in the card's memory.
struct CardArcs {
    targets: CudaSlice<u32>,
    items: Items,
}

/// Their probabilities.
enum Items {
    Wide(CudaSlice<f64>),
    Coded { codes: CudaSlice<u8>, table: CudaSlice<f64> },
}

/// The states that fit no tile.
struct Long {
    states: CudaSlice<u32>,
    n_states: usize,
    firsts: CudaSlice<u32>,
    rows: CudaSlice<u32>,
    n_rows: usize,
    /// The places in `rows` of those that get a block each.
    places: CudaSlice<u32>,
    n_places: usize,
    row_values: CudaSlice<f64>,
    chain: CudaSlice<u32>,
    n_chain: usize,
}

/// The gathered rows of the policy.
struct CardChain {
    tiles: CudaSlice<Tile>,
    n_tiles: usize,
    ends: CudaSlice<u16>,
    rewards: CudaSlice<f64>,
    arcs: CardArcs,
}

/// The bytes that a model takes in a card's memory.
#[must_use]
pub fn memory(layout: &Layout) -> usize {
    let (n, rows, per_arc) = (layout.n_states(), layout.n_rows(), layout.bytes_per_arc());
    let tiles = layout.tiles.iter().map(Vec::len).sum::<usize>() + layout.chain_tiles.len();
    let partial = if layout.passes() > 1 { 8 * rows } else { 0 };
    (layout.targets.len() + layout.chain_space) * per_arc
        + 4 * layout.row_starts.len()
        + 8 * rows
        + partial
        + n * (4 + 8 + 8 + 4 + 2 + 8)
        + tiles * size_of::<Tile>()
        + 20 * layout.long_rows.len()
}

impl<'a> CardEngine<'a> {
    /// Copies a model to the card. `rewards` has one per row, with the sign by which every sweep maximizes.
    ///
    /// # Errors
    /// If the model does not fit the card's memory, or the driver reports a problem.
    pub fn new(
        card: &'a Card,
        layout: &Layout,
        rewards: &[f64],
        discount: f64,
        threads: usize,
    ) -> Result<Self> {
        let device = &card.device;
        let (n, n_rows) = (layout.n_states(), layout.n_rows());
        // The driver keeps some for itself and for each array.
        let (needed, free) = (memory(layout) + (64 << 20), device.free_memory()?);
        if needed > free {
            return Err(Error::Memory { needed, free });
        }
        let (items, chain_items) = match &layout.codes {
            None => (
                Items::Wide(device.upload(&layout.probabilities, threads)?),
                Items::Wide(device.zeros(layout.chain_space)?),
            ),
            Some(codes) => {
                let table = || device.upload(&codes.table, 1);
                (
                    Items::Coded { codes: device.upload(&codes.of_arcs, threads)?, table: table()? },
                    Items::Coded { codes: device.zeros(layout.chain_space)?, table: table()? },
                )
            }
        };
        let starts = layout.starts_of(layout.passes() - 1);
        let is_long = |&place: &u32| {
            let row = layout.long_rows[place as usize] as usize;
            starts[row + 1] - starts[row] > WARP_ROW
        };
        let places: Vec<u32> = (0..layout.long_rows.len() as u32).filter(is_long).collect();
        let long = Long {
            states: device.upload(&layout.long_states, 1)?,
            n_states: layout.long_states.len(),
            firsts: device.upload(&layout.long_firsts, 1)?,
            rows: device.upload(&layout.long_rows, 1)?,
            n_rows: layout.long_rows.len(),
            places: device.upload(&places, 1)?,
            n_places: places.len(),
            row_values: device.zeros(layout.long_rows.len())?,
            chain: device.upload(&layout.long_chain, 1)?,
            n_chain: layout.long_chain.len(),
        };
        let chain = CardChain {
            tiles: device.upload(&layout.chain_tiles, threads)?,
            n_tiles: layout.chain_tiles.len(),
            ends: device.zeros(n)?,
            rewards: device.zeros(n)?,
            arcs: CardArcs { targets: device.zeros(layout.chain_space)?, items: chain_items },
        };
        let partial = (layout.passes() > 1).then(|| device.zeros(n_rows)).transpose()?;
        Ok(Self {
            card,
            discount,
            threads,
            n_states: n,
            n_rows,
            passes: layout.passes(),
            pad: layout.pad,
            arcs: CardArcs { targets: device.upload(&layout.targets, threads)?, items },
            row_starts: device.upload(&layout.row_starts, threads)?,
            choices: device.upload(layout.choices, threads)?,
            rewards: device.upload(rewards, threads)?,
            values: device.zeros(n)?,
            next: device.zeros(n)?,
            policy: device.upload(&vec![NO_CHOICE; n], threads)?,
            partial,
            tiles: layout.tiles.iter().map(|tiles| device.upload(tiles, threads)).collect::<Result<_>>()?,
            tile_counts: layout.tiles.iter().map(Vec::len).collect(),
            long,
            chain,
            extremes: device.zeros(3 * SLOTS)?,
            active: Active {
                local: layout.local,
                zones: device.zeros(layout.zones())?,
                round: 1,
                unmoved: false,
                chosen: device.zeros(layout.tiles.last().map_or(0, Vec::len))?,
                n_chosen: device.zeros(1)?,
                n_swept: 0,
            },
        })
    }

    /// The policy of the last sweep over all rows.
    ///
    /// # Errors
    /// If the driver reports a problem.
    pub fn policy(&self) -> Result<Vec<u32>> {
        self.card.device.download(&self.policy, NO_CHOICE, self.n_states)
    }

    /// The tiles swept so far, in sweeps over all rows.
    pub fn n_swept(&self) -> u64 {
        self.active.n_swept
    }

    /// The tiles of a sweep that omits none.
    pub fn n_tiles(&self) -> usize {
        self.tile_counts[self.passes - 1]
    }

    /// Waits until all sweeps are done.
    ///
    /// # Errors
    /// If the driver reports a problem.
    pub fn wait(&self) -> Result<()> {
        self.card.device.wait()
    }

    fn kernels(&self) -> &Kernels {
        match self.arcs.items {
            Items::Wide(_) => &self.card.wide,
            Items::Coded { .. } => &self.card.coded,
        }
    }

    fn pointer<T>(&self, slice: &CudaSlice<T>) -> Argument {
        self.card.device.pointer(slice)
    }

    /// The arguments for arcs.
    fn arc_arguments(&self, arcs: &CardArcs) -> Vec<Argument> {
        let targets = self.pointer(&arcs.targets);
        match &arcs.items {
            Items::Wide(probabilities) => vec![targets, self.pointer(probabilities)],
            Items::Coded { codes, table } => vec![targets, self.pointer(codes), self.pointer(table)],
        }
    }

    fn launch(&self, kernel: &CudaFunction, blocks: usize, arguments: &[&[Argument]]) -> Result<()> {
        self.card.device.launch(kernel, blocks, THREADS, &arguments.concat())
    }

    /// Where a pass's part of the rows begins.
    fn starts_of(&self, pass: usize) -> Argument {
        match self.pointer(&self.row_starts) {
            Argument::Pointer(address) => Argument::Pointer(address + (4 * pass * (self.n_rows + 1)) as u64),
            other => other,
        }
    }

    /// The tiles to sweep, as their number and a list; no list stands for all tiles.
    fn choose(&mut self) -> Result<(usize, Argument)> {
        let last = self.passes - 1;
        let all = self.tile_counts[last];
        if !self.active.local || !self.active.unmoved {
            return Ok((all, Argument::Pointer(0)));
        }
        let device = &self.card.device;
        // What is not swept stays as it is.
        device.copy(&self.values, &mut self.next)?;
        device.clear(&mut self.active.n_chosen)?;
        let chosen = self.pointer(&self.active.chosen);
        let arguments = [
            self.pointer(&self.tiles[last]),
            Argument::Count(all as u32),
            self.pointer(&self.active.zones),
            Argument::Count(self.active.round),
            chosen,
            self.pointer(&self.active.n_chosen),
        ];
        device.launch(&self.card.choose, all.div_ceil(256), 256, &arguments)?;
        let n_chosen = device.download(&self.active.n_chosen, 0, 1)?[0];
        Ok((n_chosen as usize, chosen))
    }

    fn forget(&self) -> Result<()> {
        let extremes = self.pointer(&self.extremes);
        self.card.device.launch(&self.card.forget, 3, SLOTS as u32, &[extremes])
    }

    fn change(&self) -> Result<SweepChange> {
        let found = self.card.device.download(&self.extremes, 0, 3 * SLOTS)?;
        let number = |ordered: i64| f64::from_bits((ordered ^ ((ordered >> 63) & i64::MAX)) as u64);
        Ok(SweepChange {
            least: found[..SLOTS].iter().copied().min().map_or(0.0, number),
            most: found[SLOTS..2 * SLOTS].iter().copied().max().map_or(0.0, number),
            changed: found[2 * SLOTS..].iter().map(|n| *n as u64).sum(),
        })
    }
}

impl SweepEngine for CardEngine<'_> {
    fn begin(&mut self, values: &[f64]) -> Result<()> {
        if values.len() != self.n_states {
            return Err(Error::Model("expected one value per state"));
        }
        self.active.unmoved = false;
        self.values = self.card.device.upload(values, self.threads)?;
        Ok(())
    }

    fn sweep(&mut self) -> Result<SweepChange> {
        use Argument::{Count, Number, Pointer};
        let (n_tiles, chosen) = self.choose()?;
        self.forget()?;
        let (kernels, last) = (self.kernels(), self.passes - 1);
        let arcs = &self.arc_arguments(&self.arcs)[..];
        let values = self.pointer(&self.values);
        let partial = self.partial.as_ref().map_or(Pointer(0), |partial| self.pointer(partial));
        for pass in 0..last {
            self.launch(
                &kernels.part,
                self.tile_counts[pass],
                &[
                    &[self.pointer(&self.tiles[pass])],
                    arcs,
                    &[self.starts_of(pass), Count(self.pad), values, partial, Count(u32::from(pass == 0))],
                ],
            )?;
        }
        let (starts, choices) = (self.starts_of(last), self.pointer(&self.choices));
        let (rewards, discount) = (self.pointer(&self.rewards), Number(self.discount));
        let results = [self.pointer(&self.next), self.pointer(&self.policy), self.pointer(&self.extremes)];
        let zones = [self.pointer(&self.active.zones), Count(self.active.round)];
        self.launch(
            &kernels.best,
            n_tiles.min(self.card.most_blocks),
            &[
                &[self.pointer(&self.tiles[last]), Count(n_tiles as u32)],
                arcs,
                &[starts, choices, rewards, discount, Count(self.pad), partial, values],
                &results,
                &[chosen],
                &zones,
            ],
        )?;
        let row_values = self.pointer(&self.long.row_values);
        let rows = self.pointer(&self.long.rows);
        let what = [starts, rewards, discount, values, row_values];
        self.launch(
            &kernels.warp_rows,
            self.long.n_rows.div_ceil(THREADS as usize / 32),
            &[&[rows, Count(self.long.n_rows as u32)], arcs, &what],
        )?;
        self.launch(
            &kernels.long_rows,
            self.long.n_places,
            &[&[rows, self.pointer(&self.long.places)], arcs, &what],
        )?;
        self.launch(
            &self.card.long_best,
            self.long.n_states,
            &[
                &[
                    self.pointer(&self.long.states),
                    self.pointer(&self.long.firsts),
                    choices,
                    row_values,
                    values,
                ],
                &results,
                &zones,
            ],
        )?;
        let mut change = self.change()?;
        if n_tiles < self.tile_counts[last] {
            // What was not swept did not change.
            (change.least, change.most) = (change.least.min(0.0), change.most.max(0.0));
        }
        self.active.round += 1;
        self.active.n_swept += n_tiles as u64;
        self.active.unmoved = true;
        std::mem::swap(&mut self.values, &mut self.next);
        Ok(change)
    }

    fn gather(&mut self) -> Result<()> {
        let pair = |arcs: &CardArcs| match &arcs.items {
            Items::Wide(items) => [self.pointer(&arcs.targets), self.pointer(items)],
            Items::Coded { codes, .. } => [self.pointer(&arcs.targets), self.pointer(codes)],
        };
        self.launch(
            &self.kernels().gather,
            self.chain.n_tiles,
            &[
                &[
                    self.pointer(&self.chain.tiles),
                    self.pointer(&self.policy),
                    self.pointer(&self.row_starts),
                ],
                &[Argument::Count(self.n_rows as u32), Argument::Count(self.passes as u32)],
                &[self.pointer(&self.rewards)],
                &pair(&self.arcs),
                &[self.pointer(&self.chain.ends), self.pointer(&self.chain.rewards)],
                &pair(&self.chain.arcs),
            ],
        )
    }

    fn policy_sweep(&mut self, report: bool) -> Result<Option<SweepChange>> {
        use Argument::{Count, Number, Pointer};
        if report {
            self.forget()?;
        }
        let extremes = if report { self.pointer(&self.extremes) } else { Pointer(0) };
        let (values, next) = (self.pointer(&self.values), self.pointer(&self.next));
        self.launch(
            &self.kernels().chain,
            self.chain.n_tiles,
            &[
                &[self.pointer(&self.chain.tiles)],
                &self.arc_arguments(&self.chain.arcs),
                &[self.pointer(&self.chain.ends), self.pointer(&self.chain.rewards), Number(self.discount)],
                &[Count(self.pad), values, next, extremes],
            ],
        )?;
        self.launch(
            &self.kernels().long_chain,
            self.long.n_chain,
            &[
                &[self.pointer(&self.long.chain)],
                &self.arc_arguments(&self.arcs),
                &[self.starts_of(self.passes - 1), self.pointer(&self.policy), self.pointer(&self.rewards)],
                &[Number(self.discount), values, next, extremes],
            ],
        )?;
        let change = if report { Some(self.change()?) } else { None };
        self.active.unmoved = false;
        std::mem::swap(&mut self.values, &mut self.next);
        Ok(change)
    }

    fn shift(&mut self, by: f64) -> Result<()> {
        self.active.unmoved = false;
        let arguments =
            [self.pointer(&self.values), Argument::Count(self.n_states as u32), Argument::Number(by)];
        self.card.device.launch(&self.card.move_values, self.n_states.div_ceil(256), 256, &arguments)
    }

    fn values(&mut self) -> Result<Vec<f64>> {
        self.card.device.download(&self.values, 0.0, self.n_states)
    }
}
