//! The same maze in a terminal: colour blocks, arrows, numbers.

use crate::engine::Engine;
use crate::engine::frame::{AgentFrame, Frame};
use crate::palette::{Colour, colour, is_dark, rgb};
use crate::world::World;
use backsweep::State;
use backsweep_lab::{Kind, Result};
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::time::Duration;

/// The time between two pictures.
const PICTURE: Duration = Duration::from_millis(66);
const ARROWS: [char; 4] = ['↑', '→', '↓', '←'];

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// No colours: `NO_COLOR` is set, or the output is no terminal.
    None,
    /// The 256 colours of xterm.
    Few,
    /// All colours.
    All,
}

impl Colours {
    /// What the environment says (<https://no-color.org>).
    pub fn of_environment() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if set("NO_COLOR") || !std::io::stdout().is_terminal() {
            return Self::None;
        }
        match std::env::var("COLORTERM").as_deref() {
            Ok("truecolor" | "24bit") => Self::All,
            _ => Self::Few,
        }
    }
}

/// Shows the engine's frames until `stop` is ready or all agents have ended so many episodes.
///
/// # Errors
/// If a frame's maze cannot be read, which does not happen: it is the engine's own.
pub async fn show(engine: &Engine, after: Option<u64>, stop: impl Future<Output = ()>) -> Result<()> {
    let mut stop = std::pin::pin!(stop);
    let colours = Colours::of_environment();
    // The other screen, without a cursor; what was there comes back at the end.
    let mut ok = print("\x1b[?1049h\x1b[?25l\x1b[2J");
    while ok {
        let frame = engine.frame();
        let picture = picture(&frame, colours, room())?.replace('\n', "\x1b[K\n");
        ok = print(&format!("\x1b[H{picture}\x1b[J"));
        if after.is_some_and(|after| frame.agents.iter().all(|agent| agent.episodes >= after)) {
            break;
        }
        tokio::select! {
            () = &mut stop => break,
            () = tokio::time::sleep(PICTURE) => {}
        }
    }
    print("\x1b[?25h\x1b[?1049l");
    print(&picture(&engine.frame(), colours, room())?);
    Ok(())
}

/// Writes to standard output; false if nobody reads it any more.
pub fn print(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_ok()
}

/// How many columns and rows there are.
fn room() -> (usize, usize) {
    terminal_size::terminal_size().map_or((100, 50), |(width, height)| (width.0.into(), height.0.into()))
}

/// The picture as text, in the room there is: cells are two columns wide if that fits, else one.
///
/// # Errors
/// If the frame's maze cannot be read.
pub fn picture(frame: &Frame, colours: Colours, (columns, _): (usize, usize)) -> Result<String> {
    let world = World::new(&frame.scene)?;
    let n = frame.agents.len();
    let wide = n * (2 * world.n_columns() + 2) <= columns + 2;
    let width = world.n_columns() * if wide { 2 } else { 1 };
    let mut text = String::new();
    let line = |text: &mut String, part: &dyn Fn(&AgentFrame) -> String| {
        for agent in &frame.agents {
            let part: String = part(agent).chars().take(width.max(columns / n - 2)).collect();
            let _ = write!(text, "{part:<width$}  ");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    };
    line(&mut text, &|agent| agent.planner.title().to_owned());
    let spans: Vec<(f64, f64)> = frame.agents.iter().map(AgentFrame::span).collect();
    for row in 0..world.n_rows() {
        for (agent, span) in frame.agents.iter().zip(&spans) {
            for column in 0..world.n_columns() {
                let cell = row * world.n_columns() + column;
                let look = look(agent, cell, world.kind(State(cell as u32)), *span);
                draw(&mut text, look, colours, wide);
            }
            text.push_str("  ");
        }
        if colours == Colours::None {
            text.truncate(text.trim_end().len());
        }
        text.push('\n');
    }
    line(&mut text, &|agent| format!("episode {}, step {}", agent.episodes, agent.steps));
    line(&mut text, &|agent| {
        let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.1}"));
        format!(
            "return {}, mean {}, optimum {}",
            number(agent.last_return),
            number(agent.mean_return),
            number(frame.optimum)
        )
    });
    line(&mut text, &|agent| {
        let backups = agent.counters.backups() as f64 / agent.steps.max(1) as f64;
        format!("{backups:.1} backups a step, {} queued", agent.queue_length)
    });
    Ok(text)
}

/// How a cell looks: its sign, and its colour if it has one.
#[derive(Clone, Copy)]
struct CellLook {
    sign: char,
    back: Colour,
}

fn look(agent: &AgentFrame, cell: usize, kind: Kind, span: (f64, f64)) -> CellLook {
    if kind == Kind::Wall {
        return CellLook { sign: '█', back: rgb(0x3a465c) };
    }
    let back = if agent.known[cell] { colour(agent.share(cell, span)) } else { rgb(0x161c29) };
    let best = agent.best_actions(cell);
    let sign = match kind {
        _ if agent.position as usize == cell => '●',
        Kind::Goal => '★',
        Kind::Trap => '✗',
        _ if best.count_ones() == 1 => ARROWS[best.trailing_zeros() as usize],
        Kind::Start => 'S',
        _ => '·',
    };
    CellLook { sign, back }
}

fn draw(text: &mut String, CellLook { sign, back }: CellLook, colours: Colours, wide: bool) {
    if sign == '█' && colours == Colours::None {
        text.push_str(if wide { "██" } else { "█" });
        return;
    }
    let sign = if sign == '█' { ' ' } else { sign };
    let space = if wide { " " } else { "" };
    let front = if sign == '●' || is_dark(back) { [255, 255, 255] } else { [0, 0, 0] };
    let _ = match colours {
        Colours::None => write!(text, "{sign}{space}"),
        Colours::Few => {
            write!(text, "\x1b[48;5;{};38;5;{}m{sign}{space}\x1b[0m", of_256(back), of_256(front))
        }
        Colours::All => {
            let ([r, g, b], [fr, fg, fb]) = (back, front);
            write!(text, "\x1b[48;2;{r};{g};{b};38;2;{fr};{fg};{fb}m{sign}{space}\x1b[0m")
        }
    };
}

/// The nearest of xterm's 6 × 6 × 6 colours.
fn of_256(colour: Colour) -> u8 {
    let [r, g, b] = colour.map(|c| {
        if c < 48 {
            0
        } else if c < 115 {
            1
        } else {
            (c - 35) / 40
        }
    });
    16 + 36 * r + 6 * g + b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::offline::frame_after;
    use crate::scene::Scene;

    #[test]
    fn the_maze_is_drawn_with_and_without_colours() {
        let frame = frame_after(Scene::default(), 30).unwrap();
        let plain = picture(&frame, Colours::None, (100, 50)).unwrap();
        assert!(!plain.contains('\x1b'), "no escape codes without colours");
        let lines: Vec<&str> = plain.lines().collect();
        assert_eq!(lines.len(), 1 + 23 + 3);
        assert_eq!(plain.matches("██").count(), 26 * 23 - 501);
        assert_eq!(plain.matches('●').count(), 1);
        assert!(plain.matches(['↑', '→', '↓', '←']).count() > 450, "{plain}");
        for colours in [Colours::Few, Colours::All] {
            let picture = picture(&frame, colours, (100, 50)).unwrap();
            assert_eq!(picture.matches("\x1b[0m").count(), 26 * 23);
        }
        let narrow = super::picture(&frame, Colours::None, (40, 50)).unwrap();
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
    }
}
