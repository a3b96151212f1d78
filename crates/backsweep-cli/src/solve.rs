//! `backsweep solve`: values of a known model with proven intervals, and the answer again after changes.

mod changes;
mod options;
mod report;

use crate::{interrupt, loading, output};
use backsweep_io::mdp::Mdp;
use backsweep_lab::{Error, Result};
use backsweep_solve::{Limits, NO_CHOICE, Query, Solution};
use backsweep_verify::{Objective, ResultFile, fingerprint};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
pub use options::Arguments;
use std::io::IsTerminal;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Carries out the command.
pub fn solve(arguments: &Arguments) -> Result<()> {
    let query = arguments.query()?;
    let mut mdp = loading::load(&arguments.model, arguments.format)?;
    loading::add_steps(&mut mdp, arguments.reward.as_deref());
    let at_model = |problem: String| {
        let problem = problem.strip_prefix("model: ").unwrap_or(&problem);
        Error::new(format!("{}: {problem}", arguments.model.display()))
    };
    let changed = arguments.changes.as_deref().map(|path| changes::read(path, &mdp)).transpose()?;

    let interrupted = interrupt::on_ctrl_c();
    let began = Instant::now();
    let in_time = || arguments.time_limit.is_none_or(|limit| began.elapsed() < limit);
    let stop = || interrupted.load(Ordering::Relaxed) || !in_time();
    let limits = Limits { tolerance: arguments.tolerance, stop: &stop, threads: arguments.threads() };
    let spinner = spinner();
    let solved = query.solve(&mdp, arguments.direction(), arguments.method.as_deref(), &limits);
    let seconds = began.elapsed().as_secs_f64();
    spinner.finish_and_clear();
    let solution = solved.map_err(at_model)?;

    let reason = match (interrupted.load(Ordering::Relaxed), in_time()) {
        (true, _) => "stopped by Ctrl-C",
        (_, false) => "the time limit was reached",
        _ => "rounding or the method allows no more (see --explain)",
    };
    let after = match (changed, &query) {
        (Some(changed), Query::Discounted { reward, discount }) => {
            let rewards = mdp.rewards(reward.as_deref()).map_err(|error| at_model(error.to_string()))?;
            let after = changed.repair(&mdp, rewards, *discount, arguments.direction(), &limits);
            Some(after.map_err(Error::new)?)
        }
        _ => None,
    };
    let written = after.as_ref().map_or(&solution, |after| &after.solution);
    if let Some(path) = &arguments.values {
        report::write_values(path, &mdp, written)?;
    }
    if let Some(path) = &arguments.policy {
        report::write_policy(path, &mdp, written, after.as_ref().map_or(&[], |after| &after.added))?;
    }
    let to_stdout = arguments.json && arguments.out.is_none();
    if arguments.json {
        let text = result_file(arguments, &query, &mdp, &solution, seconds).to_json().map_err(Error::new)?;
        match &arguments.out {
            None => output::result(text),
            Some(path) => std::fs::write(path, text + "\n").map_err(|error| {
                Error::new(format!("{}: cannot write the file ({error})", path.display()))
            })?,
        }
    }
    if to_stdout {
        if !solution.converged {
            output::note(format_args!("backsweep: not converged: {reason}; the intervals are proven"));
        }
        return Ok(());
    }
    let question = query.describe(arguments.direction());
    output::result(format_args!("{}: {}", arguments.model.display(), report::size(&mdp)));
    output::result(format_args!("{question}\n\n{}", report::states(&mdp, &solution)));
    output::result(report::proof(&solution, arguments.tolerance, reason));
    output::result(report::effort(&solution, seconds));
    if arguments.explain {
        solution.explanation.iter().for_each(|line| output::result(format_args!("  {line}")));
    }
    if let Some(after) = after {
        output::result(format_args!("\n{}", after.text));
    }
    Ok(())
}

/// Shows that work goes on, on a terminal.
fn spinner() -> ProgressBar {
    let shown = std::io::stderr().is_terminal();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let spinner = ProgressBar::with_draw_target(None, target);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} · {wide_msg}") {
        spinner.set_style(style);
    }
    spinner.set_message("solving; Ctrl-C ends it with the intervals reached so far");
    if shown {
        spinner.enable_steady_tick(Duration::from_millis(200));
    }
    spinner
}

/// The answer as `backsweep verify` reads it.
fn result_file(
    arguments: &Arguments,
    query: &Query,
    mdp: &Mdp,
    solution: &Solution,
    seconds: f64,
) -> ResultFile {
    let objective = match query.clone() {
        Query::Discounted { reward, discount } => Objective::Discounted { discount, reward },
        Query::Reach { goal, avoid, steps: None } => Objective::Reach { goal, avoid },
        Query::Reach { goal, avoid, steps: Some(steps) } => Objective::Within { goal, avoid, steps },
        Query::Total { reward, until: Some(until) } => Objective::Total { reward, until },
        Query::Total { reward, until: None } => Objective::Episode { reward },
        Query::Horizon { reward, steps, discount } => Objective::Horizon { reward, steps, discount },
        Query::Average { reward } => Objective::Average { reward },
    };
    let direction = match arguments.direction() {
        backsweep_solve::Direction::Maximize => backsweep_verify::Direction::Maximize,
        backsweep_solve::Direction::Minimize => backsweep_verify::Direction::Minimize,
    };
    ResultFile {
        model: fingerprint(mdp),
        objective,
        direction,
        tolerance: arguments.tolerance,
        converged: solution.converged,
        lower: solution.lower.clone(),
        upper: solution.upper.clone(),
        policy: solution.policy.iter().map(|&choice| (choice != NO_CHOICE).then_some(choice)).collect(),
        method: solution.explanation.join("; "),
        iterations: solution.iterations,
        seconds,
        peak_memory: report::peak_memory(),
    }
}
