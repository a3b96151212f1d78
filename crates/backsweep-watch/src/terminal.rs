//! The same maze in a terminal: color blocks, arrows, numbers.

mod cells;
mod screen;

use crate::engine::Engine;
use crate::engine::frame::{AgentFrame, Frame};
use crate::error::Result;
use cells::Cells;
use screen::Screen;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::time::Duration;

/// The time between two pictures.
const PICTURE: Duration = Duration::from_millis(66);
/// The lines of text around a maze.
const N_LINES: usize = 4;

/// The colors that a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// No colors: `NO_COLOR` is set, or the output is not a terminal.
    None,
    /// The 256 colors of xterm.
    Few,
    /// All colors.
    All,
}

impl Colors {
    /// Reads the environment (<https://no-color.org>).
    pub fn of_environment() -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if is_set("NO_COLOR") || !can_move() {
            return Self::None;
        }
        match std::env::var("COLORTERM").as_deref() {
            Ok("truecolor" | "24bit") => Self::All,
            _ => Self::Few,
        }
    }
}

/// Returns whether the output is a terminal on which pictures can be redrawn in place.
pub fn can_move() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Shows the engine's frames until `stop` is ready or all agents have finished this many episodes.
///
/// # Errors
/// If a frame's maze cannot be read, which cannot happen: it is the engine's own.
pub async fn show(engine: &Engine, after: Option<u64>, stop: impl Future<Output = ()>) -> Result<()> {
    let mut stop = std::pin::pin!(stop);
    let colors = Colors::of_environment();
    let mut screen = Screen::open();
    loop {
        let frame = engine.frame();
        // No line break after the last line: it would scroll the first one away.
        let picture = picture(&frame, colors, room())?;
        let picture = picture.trim_end().replace('\n', "\x1b[K\n");
        let is_read = print(&format!("\x1b[H{picture}\x1b[K\x1b[J"));
        let is_over = |after| frame.agents.iter().all(|agent| agent.episodes >= after);
        if !is_read || after.is_some_and(is_over) {
            break;
        }
        tokio::select! {
            () = &mut stop => break,
            () = screen.suspended() => {}
            () = tokio::time::sleep(PICTURE) => {}
        }
    }
    drop(screen);
    print(&picture(&engine.frame(), colors, (room().0, usize::MAX))?);
    Ok(())
}

/// Writes to standard output; false if nobody reads it any more.
pub fn print(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_ok()
}

/// Returns the number of columns and rows.
fn room() -> (usize, usize) {
    terminal_size::terminal_size().map_or((100, 50), |(width, height)| (width.0.into(), height.0.into()))
}

/// The picture as text, in the available space (columns and rows). Cells are two columns wide if that fits, otherwise one; two
/// rows of cells share a line if there are too few lines and colors are available. If it still does not fit, it is cropped
/// around the agent.
///
/// # Errors
/// If the frame's maze cannot be read.
pub fn picture(frame: &Frame, colors: Colors, (columns, rows): (usize, usize)) -> Result<String> {
    let world = &*frame.world;
    let n = frame.agents.len();
    let cells = Cells::fit(world, colors, (columns / n, rows.saturating_sub(N_LINES)));
    let width = cells.width();
    let mut text = String::new();
    let line = |text: &mut String, part: &dyn Fn(&AgentFrame) -> String| {
        for agent in &frame.agents {
            let part: String = part(agent).chars().take(width.max((columns / n).saturating_sub(2))).collect();
            let _ = write!(text, "{part:<width$}  ");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    };
    line(&mut text, &|agent| agent.planner.title().to_owned());
    let spans: Vec<(f64, f64)> = frame.agents.iter().map(AgentFrame::span).collect();
    for row in 0..cells.n_lines() {
        for (agent, span) in frame.agents.iter().zip(&spans) {
            cells.draw_line(&mut text, agent, *span, row);
            text.push_str("  ");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    line(&mut text, &|agent| format!("episode {}, step {}", agent.episodes, agent.steps));
    line(&mut text, &|agent| {
        let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.1}"));
        format!(
            "return {}, mean {}, optimum {}",
            number(agent.last_return),
            number(agent.mean_return),
            number(frame.optimum.map(|found| found.best))
        )
    });
    line(&mut text, &|agent| {
        if let Some(problem) = &frame.problem {
            return problem.clone();
        }
        let work = agent.counters.additions as f64 / agent.steps.max(1) as f64;
        format!("{work:.1} additions per step, {} queued", agent.queue_length)
    });
    Ok(text)
}
