//! All worlds by name.

mod deep_sea;
mod goals;
mod lines;
mod mazes;
mod random;
mod toy_text;

use crate::{Error, Result, World};
use backsweep::Random;
use std::ops::RangeInclusive;

/// Builds a world of a size; worlds without a size get 0.
type Build = fn(usize, &mut Random) -> World;

/// The worlds whose names have no size. Ceilings are the expected scores of an agent that knows the world.
const SINGLE: [(&str, Build); 12] = [
    ("riverswim", |_, _| {
        known_as("riverswim", "RiverSwim (Strehl & Littman)", lines::strong_river(6), 3.34e6)
    }),
    ("six_arms", |_, _| known_as("six_arms", "SixArms", lines::arms(6), 30e6)),
    ("chain", |_, _| known_as("chain", "Chain", lines::chain(5), 3_677.0)),
    ("double_loop", |_, _| known_as("double_loop", "DoubleLoop", lines::double_loop(5), 400.0)),
    ("dearden_maze", |_, _| mazes::dearden()),
    ("frozen_lake_4x4", |_, _| toy_text::frozen_lake_4()),
    ("frozen_lake_8x8", |_, _| toy_text::frozen_lake_8()),
    ("taxi", |_, _| toy_text::taxi()),
    ("cliff_walking", |_, _| toy_text::cliff_walking()),
    ("four_rooms", |_, _| goals::four_rooms()),
    ("blocking_maze", |_, _| known_as("blocking_maze", "Blocking maze", mazes::blocking(), 225.0)),
    ("shortcut_maze", |_, _| known_as("shortcut_maze", "Shortcut maze", mazes::shortcut(), 487.0)),
];

/// The families whose names end in a size, and the sizes there are.
const SIZED: [(&str, RangeInclusive<usize>, Build); 16] = [
    ("riverswim", 2..=1000, |n, _| lines::river_swim(n)),
    ("strong_river", 2..=1000, |n, _| lines::strong_river(n)),
    ("arms", 2..=6, |n, _| lines::arms(n)),
    ("chain", 2..=1000, |n, _| lines::chain(n)),
    ("double_loop", 2..=1000, |n, _| lines::double_loop(n)),
    ("grid", 2..=100, |n, _| match n {
        5 => known_as("grid_5", "Grid5", mazes::square(5, 1_000), 92.5),
        10 => known_as("grid_10", "Grid10", mazes::square(10, 2_000), 87.0),
        n => mazes::square(n, 200 * n as u64),
    }),
    ("deep_sea_stochastic", 2..=100, |n, random| deep_sea::deep_sea(n, true, random)),
    ("deep_sea", 2..=100, |n, random| deep_sea::deep_sea(n, false, random)),
    ("rooms", 5..=99, |n, _| goals::rooms(n)),
    ("corridor", 2..=1000, |n, _| goals::corridor(n)),
    ("key_door", 2..=50, |n, _| goals::key_door(n)),
    ("bandit", 2..=1000, random::bandit),
    ("combination", 2..=1000, random::combination),
    ("inventory", 2..=1000, |n, _| random::inventory(n)),
    ("lake", 3..=100, random::lake),
    ("garnet", 3..=10_000, random::garnet),
];

fn known_as(name: &str, title: &str, world: World, ceiling: f64) -> World {
    World { name: name.to_owned(), title: title.to_owned(), ceiling: Some(ceiling), ..world }
}

/// The worlds of the suite, in the order of its tables. Families with a size are listed with the sizes that are reported.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = [
        "riverswim_6",
        "riverswim",
        "six_arms",
        "chain",
        "double_loop",
        "grid_5",
        "grid_10",
        "dearden_maze",
        "frozen_lake_4x4",
        "frozen_lake_8x8",
        "taxi",
        "cliff_walking",
        "blocking_maze",
        "shortcut_maze",
    ]
    .map(str::to_owned)
    .to_vec();
    for family in ["deep_sea", "deep_sea_stochastic"] {
        names.extend((10..=50).step_by(2).map(|n| format!("{family}_{n}")));
    }
    names
}

/// The world of this name, such as `chain`, `riverswim_6` or `deep_sea_20`. `random` draws what differs from run to run: which
/// action of DeepSea is *right*.
///
/// # Errors
/// If there is no world of this name; the message lists the available ones.
///
/// ```
/// use backsweep::Random;
/// let world = backsweep_worlds::world("riverswim_6", &mut Random::from_seed(0))?;
/// assert_eq!(world.table().n_states(), 6);
/// assert!(backsweep_worlds::world("atlantis", &mut Random::from_seed(0)).is_err());
/// # Ok::<(), backsweep_worlds::Error>(())
/// ```
pub fn world(name: &str, random: &mut Random) -> Result<World> {
    if let Some((_, build)) = SINGLE.iter().find(|(single, _)| *single == name) {
        return Ok(build(0, random));
    }
    let sized = name.rsplit_once('_').and_then(|(family, size)| {
        let (_, sizes, build) = SIZED.iter().find(|(known, ..)| *known == family)?;
        // `deep_sea_08` would be a second name for the same world.
        let size = size.parse().ok().filter(|n: &usize| n.to_string() == size && sizes.contains(n))?;
        Some(build(size, random))
    });
    sized.ok_or_else(|| Error::UnknownWorld { name: name.to_owned(), known: known_names() })
}

/// All names, with `_N` for a size.
fn known_names() -> String {
    let sized = SIZED
        .iter()
        .map(|(name, sizes, _)| format!("{name}_N (N from {} to {})", sizes.start(), sizes.end()));
    SINGLE.iter().map(|(name, _)| (*name).to_owned()).chain(sized).collect::<Vec<_>>().join(", ")
}
