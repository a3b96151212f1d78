//! Figures as SVG and PNG files, drawn from results alone: the same results give the same bytes.
//!
//! ```text
//! results ──query──▶ chart (panels, axes, series) ──draw──▶ SVG ──raster──▶ PNG
//! ```
//!
//! The pictures are drawn here and not by a plotting library: the ones we tried number their clip paths with a
//! global counter (so that no two calls give the same bytes), or cannot draw a hollow mark in PNG.

pub mod chart;
mod control;
mod cost;
pub mod draw;
mod maze_picture;
mod own_maze;
pub mod palette;
mod prediction;
pub mod raster;
mod scale;
mod suite;
pub mod text;
mod user;

use crate::experiment::BUILT_IN;
use crate::result::Results;
use crate::{Error, Result, query};
use backsweep_worlds::{Maze, PAPER_MAZE};
use std::path::{Path, PathBuf};

pub use maze_picture::maze_svg;

/// A picture, and the files that hold it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Short name: the stem of its files.
    pub id: String,
    /// The line above it.
    pub title: String,
    /// The caption: the finding, in a few sentences.
    pub caption: String,
    /// The picture.
    pub svg: String,
    /// The files written, SVG and PNG.
    pub files: Vec<PathBuf>,
}

/// Returns whether the paper's own pictures show the experiment.
fn is_built_in(experiment: &str) -> bool {
    BUILT_IN.iter().any(|(name, _)| *name == experiment)
}

/// The scale of a PNG relative to its SVG, so that it is sharp on high-resolution screens.
const ZOOM: f32 = 2.0;

/// Draws every picture for which there are results and writes it to `folder` as SVG and as PNG.
///
/// # Errors
/// If a file cannot be written.
pub fn draw_all(results: &Results, folder: &Path) -> Result<Vec<Figure>> {
    let mut figures = pictures(results);
    for figure in &mut figures {
        let png = raster::png(&figure.svg, ZOOM)
            .map_err(|error| Error::new(format!("{}.png: cannot be drawn: {error}", figure.id)))?;
        for (ending, bytes) in [("svg", figure.svg.as_bytes()), ("png", &png)] {
            let path = folder.join(format!("{}.{ending}", figure.id));
            std::fs::write(&path, bytes).map_err(|error| {
                let problem = format!("cannot be written: {error}; choose a folder that you can write to");
                Error::file(&path, problem)
            })?;
            figure.files.push(path);
        }
    }
    Ok(figures)
}

/// Every picture for which there are results, not yet written.
pub fn pictures(results: &Results) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut add = |chart: Option<chart::Chart>, caption: &str| {
        if let Some(chart) = chart {
            let (id, title, svg) = (chart.id.clone(), chart.title.clone(), draw::svg(&chart));
            figures.push(Figure { id, title, caption: caption.to_string(), svg, files: Vec::new() });
        }
    };
    let has = |experiment: &str| query::has(results, experiment);
    add(has("fig1").then(|| prediction::fixed_instance(results)), FIGURE_1);
    add(has("fig1_band").then(|| prediction::band(results)), FIGURE_1_BAND);
    add(control::against_cycles(results), FIGURE_3_CYCLES);
    add(control::against_time(results), FIGURE_3_TIME);
    add(control::choice_of_m(results), CHOICE_OF_M);
    add(cost::table_1(results), TABLE_1);
    let own = results.experiments.iter().map(|info| info.name.as_str()).filter(|name| !is_built_in(name));
    for experiment in own {
        if query::info(results, experiment).is_some_and(|info| !info.worlds.is_empty()) {
            add(suite::scores(results, experiment), SUITE);
            add(
                suite::sizes(results, experiment),
                "Error bars are 95 % bootstrap intervals of the mean over runs.",
            );
            continue;
        }
        add(
            user::scores(results, experiment),
            "Error bars are 95 % bootstrap intervals of the mean over runs.",
        );
        add(user::against_time(results, experiment), "The same scores against the measured time per step.");
    }
    let own = results.experiments.iter().filter(|info| !is_built_in(&info.name));
    for info in own {
        figures.extend(info.mazes.iter().filter_map(|maze| own_maze::figure(results, &info.name, maze)));
    }
    if has("fig3") || has("fig3_icml") {
        let maze = Maze::parse(PAPER_MAZE).ok();
        if let Some(svg) = maze.and_then(|maze| maze_picture::paper_svg(&maze)) {
            let title = "Figure 2: the maze, and the outcomes of 'north' in fifteenths".to_string();
            let (id, caption) = ("fig2-maze".to_string(), FIGURE_2.to_string());
            let at = figures.iter().position(|figure| figure.id.starts_with("fig3")).unwrap_or(figures.len());
            figures.insert(at, Figure { id, title, caption, svg, files: Vec::new() });
        }
    }
    figures
}

const FIGURE_1: &str = "Top: normalized error for each step size; published curves dashed. The published random \
    instance is not known and levels differ widely between instances, so the bottom row divides each curve by the \
    small backup of its own instance: there the shapes can be compared.";
const FIGURE_1_BAND: &str = "Each instance draws new transition probabilities. Where the dashed published curve \
    stays inside the band, this experiment could have produced it on some instance.";
const FIGURE_2: &str = "Left: the paper's maze. Right: how likely 'north' (up) is to end on each cell, in fifteenths, in \
    the four surroundings the paper prints; the ring is the agent. The numbers come from the outcome law in use.";
const FIGURE_3_CYCLES: &str = "Filled marks are ours, with 95 % intervals; hollow marks are published. Value iteration \
    and R-max have no cycles and are lines; their published scores are the hollow marks on the right. The published \
    4-successor points are laid over both readings of that task: 0.8 is what the text says, 0.6 what its figure fits.";
const FIGURE_3_TIME: &str = "The same scores against the measured time per step. Published times are those of the \
    authors' machine in 2013, so only the order of methods along the axis can be compared.";
const CHOICE_OF_M: &str =
    "Score of value iteration for each M. The paper optimized M in this way and chose 4.";
const SUITE: &str = "Each mark is the mean of an agent over its runs with its 95 % bootstrap interval. Dashed: what an agent that \
    knows the world can expect. Dotted: the score to reach. Hollow: published.";
const TABLE_1: &str = "One size grows and the others stay fixed. The exponent is fitted over the upper half of the sizes, \
    where the fixed cost of a cycle no longer hides its growth. Large models outgrow the caches, which bends curves up; \
    the number of backups per cycle in the tables below does not depend on that.";
