//! Figure 2: the maze, and where its 'north' action leads near walls.

use super::draw::{document, text};
use backsweep::Action;
use backsweep_worlds::{Cell, CellKind, Law, Maze};
use std::fmt::Write;

const WALL: &str = "#3d444d";
const GRID: &str = "#dde1e6";
const START: &str = "#0072b2";
const GOAL: &str = "#d55e00";

/// The four surroundings of the paper's Figure 2; the agent stands on `S`.
const PANELS: [(&str, &str); 4] = [
    ("free space", "G....\n.....\n.....\n.....\n..S..\n....."),
    ("wall two ahead", "G....\n.....\n..##.\n.....\n..S..\n....."),
    ("wall behind", "G....\n.....\n.....\n.....\n..S..\n.###."),
    ("walls left and behind", "G....\n.#...\n.#...\n.#...\n.#S..\n.###."),
];

/// The picture of `maze` alone.
pub fn maze_svg(id: &str, title: &str, maze: &Maze) -> String {
    let cell = (780.0 / maze.n_columns() as f64).min(620.0 / maze.n_rows() as f64).clamp(4.0, 26.0);
    let mut body = String::new();
    let full_width = (maze.n_columns() as f64 * cell + 32.0).max(320.0);
    text(&mut body, (full_width / 2.0, 26.0), "middle", 16.0, "ink", title);
    let left = (full_width - maze.n_columns() as f64 * cell) / 2.0;
    grid(&mut body, maze, cell, (left, 42.0));
    let bottom = 42.0 + maze.n_rows() as f64 * cell + 26.0;
    key(&mut body, (full_width / 2.0, bottom));
    document(id, title, (full_width, bottom + 14.0), &body)
}

/// The paper's maze, with the outcomes of 'north' next to it. `None` if the maze cannot be read.
pub fn paper_svg(maze: &Maze) -> Option<String> {
    let (id, title) = ("fig2-maze", "Figure 2: the maze, and the outcomes of 'north' in fifteenths");
    let cell = 20.0;
    let mut body = String::new();
    let maze_width = maze.n_columns() as f64 * cell;
    let maze_height = maze.n_rows() as f64 * cell;
    let full_width = maze_width + 16.0 * 2.0 + 330.0;
    text(&mut body, (full_width / 2.0, 26.0), "middle", 16.0, "ink", title);
    grid(&mut body, maze, cell, (16.0, 48.0));
    key(&mut body, (16.0 + maze_width / 2.0, 48.0 + maze_height + 26.0));
    for (index, (name, surroundings)) in PANELS.iter().enumerate() {
        let around = Maze::parse(surroundings).ok()?;
        let left = maze_width + 60.0 + (index % 2) as f64 * 160.0;
        let top = 48.0 + (index / 2) as f64 * 232.0;
        outcomes(&mut body, &around, name, (left, top));
    }
    Some(document(id, title, (full_width, 48.0 + maze_height + 44.0), &body))
}

fn grid(out: &mut String, maze: &Maze, size: f64, (left, top): (f64, f64)) {
    let (full_width, full_height) = (maze.n_columns() as f64 * size, maze.n_rows() as f64 * size);
    let _ = writeln!(
        out,
        "<rect class=\"cell\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{full_width:.1}\" height=\"{full_height:.1}\" fill=\"#f6f8fa\"/>"
    );
    for at in maze.cells() {
        let (x, y) = (left + at.column as f64 * size, top + at.row as f64 * size);
        let fill = match maze.kind(at) {
            CellKind::Wall => Some(("wall", WALL)),
            CellKind::Start => Some(("start", START)),
            CellKind::Goal => Some(("goal", GOAL)),
            CellKind::Trap => Some(("trap", "#cc79a7")),
            CellKind::Free if maze.reward(at).is_some() => Some(("reward", "#f0e442")),
            CellKind::Free => None,
        };
        if let Some((class, color)) = fill {
            let _ = writeln!(
                out,
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{size:.1}\" height=\"{size:.1}\" fill=\"{color}\"/>"
            );
        }
    }
    let mut lines = String::new();
    for row in 0..=maze.n_rows() {
        let _ = write!(lines, "M{left:.1} {:.1}h{full_width:.1}", top + row as f64 * size);
    }
    for column in 0..=maze.n_columns() {
        let _ = write!(lines, "M{:.1} {top:.1}v{full_height:.1}", left + column as f64 * size);
    }
    let _ = writeln!(
        out,
        "<path class=\"grid\" d=\"{lines}\" stroke=\"{GRID}\" stroke-width=\"0.6\" fill=\"none\"/>"
    );
    let _ = writeln!(
        out,
        "<rect class=\"frame\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{full_width:.1}\" height=\"{full_height:.1}\" fill=\"none\" stroke=\"{WALL}\" stroke-width=\"2\"/>"
    );
    for at in maze.cells() {
        let letter = match maze.kind(at) {
            CellKind::Start => "S",
            CellKind::Goal => "G",
            _ => continue,
        };
        let (x, y) = (left + (at.column as f64 + 0.5) * size, top + (at.row as f64 + 0.5) * size);
        letter_on(out, (x, y), size * 0.72, letter);
    }
}

/// A white letter on a colored cell, on light and dark paper alike.
fn letter_on(out: &mut String, (x, y): (f64, f64), size: f64, letter: &str) {
    let base = y + size * 0.36;
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{base:.1}\" text-anchor=\"middle\" font-size=\"{size:.1}\" fill=\"#ffffff\">{letter}</text>"
    );
}

fn key(out: &mut String, (middle, y): (f64, f64)) {
    let signs = [(-130.0, START, "S", "start"), (-30.0, GOAL, "G", "goal"), (68.0, WALL, "", "wall")];
    for (dx, color, letter, name) in signs {
        let (x, top) = (middle + dx, y - 12.0);
        let class = if letter.is_empty() { " class=\"wall\"" } else { "" };
        let _ = writeln!(
            out,
            "<rect{class} x=\"{x:.1}\" y=\"{top:.1}\" width=\"16\" height=\"16\" fill=\"{color}\"/>"
        );
        letter_on(out, (x + 8.0, top + 8.0), 11.5, letter);
        text(out, (x + 24.0, y + 1.0), "start", 13.0, "ink", name);
    }
}

/// The probabilities of 'north', in fifteenths, around the agent.
fn outcomes(out: &mut String, around: &Maze, name: &str, (left, top): (f64, f64)) {
    const SIZE: f64 = 36.0;
    let Some(agent) = around.cells_of(CellKind::Start).next() else { return };
    let law = Law::Fifteen.outcomes(around, agent, Action(0));
    text(out, (left + 1.5 * SIZE, top + 12.0), "middle", 13.0, "ink", name);
    for (row, column) in (1..6).flat_map(|row| (1..4).map(move |column| (row, column))) {
        let at = Cell { row, column };
        let (x, y) = (left + (column - 1) as f64 * SIZE, top + 20.0 + (row - 1) as f64 * SIZE);
        let wall = around.kind(at) == CellKind::Wall;
        let (class, color) = if wall { ("wall", WALL) } else { ("cell", "#f6f8fa") };
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{SIZE}\" height=\"{SIZE}\" fill=\"{color}\"/>\n<rect class=\"grid\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{SIZE}\" height=\"{SIZE}\" fill=\"none\" stroke=\"{GRID}\"/>"
        );
        if wall {
            continue;
        }
        let p = law.iter().find(|(cell, _)| *cell == at).map_or(0.0, |(_, p)| *p);
        let (middle_x, middle_y) = (x + SIZE / 2.0, y + SIZE / 2.0);
        if at == agent {
            let _ = writeln!(
                out,
                "<circle cx=\"{middle_x:.1}\" cy=\"{middle_y:.1}\" r=\"13\" fill=\"none\" stroke=\"{START}\" stroke-width=\"2\"/>"
            );
        }
        text(out, (middle_x, middle_y + 5.0), "middle", 14.0, "ink", &format!("{:.0}", p * 15.0));
    }
}
