//! `backsweep solve`: values of a known model with proven intervals, repaired after changes.

mod changes;
mod live;
mod options;
mod report;
mod watch;

use crate::error::{Error, Result};
use crate::{interrupt, loading, output, process, progress};
use backsweep_mdp::{Mdp, NO_CHOICE, Question, StateNames};
use backsweep_solve::{Limits, Solution};
use backsweep_verify::{ResultFile, fingerprint};
use changes::{Parser, TableEdit};
use live::LiveAnswer;
pub use options::SolveArguments;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Runs the command.
pub fn solve(arguments: &SolveArguments) -> Result<()> {
    let question = arguments.question()?;
    let mut mdp = loading::load(&arguments.model, arguments.format)?;
    let counts_steps = mdp.add_steps(arguments.reward.as_deref());
    let mdp = mdp;
    let edits =
        arguments.changes.as_deref().map(|path| read_changes(path, &StateNames::new(&mdp))).transpose()?;

    let interrupted = interrupt::on_ctrl_c();
    let began = Mutex::new(Instant::now());
    let since = || began.lock().map_or(Duration::ZERO, |began| began.elapsed());
    let in_time = || arguments.time_limit.is_none_or(|limit| since() < limit);
    let stop = || interrupted.load(Ordering::Relaxed) || !in_time();
    let limits = Limits { tolerance: arguments.tolerance, stop: &stop, threads: arguments.threads() };
    let spinner = progress::spinner("solving; Ctrl-C ends it with the intervals reached so far");
    let keeps = edits.is_some() || arguments.watch.is_some();
    let solved = if keeps {
        let every_reward = counts_steps.then_some(1.0);
        LiveAnswer::new(&mdp, &question, every_reward, &limits).map(|live| (live.solution(), Some(live)))
    } else {
        let method = arguments.method.as_deref();
        backsweep_solve::solve(&mdp, &question, method, &limits).map(|solution| (solution, None))
    };
    let seconds = since().as_secs_f64();
    spinner.finish_and_clear();
    let (solution, live) = solved.map_err(|error| Error::at(arguments.model.display(), error))?;

    let reason = match (interrupted.load(Ordering::Relaxed), in_time()) {
        (true, _) => "stopped by Ctrl-C",
        (_, false) => "the time limit was reached",
        _ => "rounding or the method does not allow narrower intervals (see --explain)",
    };
    let answer =
        FirstAnswer { arguments, question: &question, mdp: &mdp, solution: &solution, seconds, reason };
    let Some(mut live) = live else {
        answer.write(&solution, &[])?;
        return if arguments.json { answer.json() } else { answer.print() };
    };
    if !arguments.json {
        answer.print()?;
    }
    if let Some(edits) = edits {
        let mut refused = Vec::new();
        let done = live.change(&edits, &limits, |problem| refused.push(problem))?;
        if let Some(problem) = refused.into_iter().next() {
            return Err(Error::new(problem));
        }
        if let (Some(done), Some(path)) = (done, &arguments.changes) {
            let (line, table) = (live.line(&done), live.before_and_after(&done));
            output::result(format_args!("\n{}: {line}\n\n{}", path.display(), table.trim_end()));
        }
    }
    answer.write(&live.solution(), &live.added_names())?;
    let Some(from) = &arguments.watch else { return Ok(()) };
    if arguments.json {
        output::result(live.json(None));
    }
    watch::watch(from, &mut live, &limits, &interrupted, &began, |live, done| {
        // Written first, so that a program that reads the line finds the tables.
        answer.write(&live.solution(), &live.added_names())?;
        if arguments.json {
            output::result(live.json(Some(done)));
        } else {
            output::result(format_args!("\n{}\n{}", live.line(done), live.now().trim_end()));
        }
        Ok(())
    })
}

/// Reads a file of changes. If one line is refused, all of it is.
fn read_changes(path: &Path, names: &StateNames) -> Result<Vec<TableEdit>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::new(format!("{}: cannot read the file ({error})", path.display())))?;
    let mut parser = Parser::new(path.display().to_string());
    let mut edits = Vec::new();
    for line in text.lines() {
        edits.extend(parser.line(line, names).map_err(Error::new)?);
    }
    parser.finish().map_err(Error::new)?;
    if edits.is_empty() {
        return Err(Error::new(format!("{}: found no changes; expected at least one row", path.display())));
    }
    Ok(edits)
}

/// Reports the first answer.
struct FirstAnswer<'a> {
    arguments: &'a SolveArguments,
    question: &'a Question,
    mdp: &'a Mdp,
    solution: &'a Solution,
    seconds: f64,
    reason: &'a str,
}

impl FirstAnswer<'_> {
    /// Writes the requested tables, for this answer or a later one.
    fn write(&self, solution: &Solution, added: &[String]) -> Result<()> {
        if let Some(path) = &self.arguments.values {
            report::write_values(path, self.mdp, solution)?;
        }
        if let Some(path) = &self.arguments.policy {
            report::write_policy(path, self.mdp, solution, added)?;
        }
        Ok(())
    }

    fn json(&self) -> Result<()> {
        let text = self.result_file().to_json()?;
        let Some(path) = &self.arguments.out else {
            output::result(text);
            if !self.solution.converged {
                let reason = self.reason;
                output::note(format_args!("backsweep: not converged: {reason}; the intervals are proven"));
            }
            return Ok(());
        };
        std::fs::write(path, text + "\n")
            .map_err(|error| Error::new(format!("{}: cannot write the file ({error})", path.display())))?;
        self.print()
    }

    fn print(&self) -> Result<()> {
        let Self { arguments, question, mdp, solution, seconds, reason } = self;
        output::result(format_args!("{}: {}", arguments.model.display(), report::size(mdp)));
        let of = |state: usize| {
            let interval = (solution.lower[state], solution.upper[state]);
            (solution.value(state), interval, report::action(mdp, &[], solution.policy[state]))
        };
        output::result(format_args!("{question}\n\n{}", report::states(mdp, of)));
        output::result(report::proof(solution, arguments.tolerance, reason));
        output::result(report::effort(solution, *seconds));
        if arguments.explain {
            solution.explanation.iter().for_each(|line| output::result(format_args!("  {line}")));
        }
        Ok(())
    }

    /// The answer as `backsweep verify` reads it.
    fn result_file(&self) -> ResultFile {
        let solution = self.solution;
        let choice = |&choice: &u32| (choice != NO_CHOICE).then_some(choice);
        ResultFile {
            model: fingerprint(self.mdp),
            objective: self.question.objective.clone(),
            direction: self.question.direction,
            tolerance: self.arguments.tolerance,
            converged: solution.converged,
            lower: solution.lower.clone(),
            upper: solution.upper.clone(),
            policy: solution.policy.iter().map(choice).collect(),
            method: solution.explanation.join("; "),
            iterations: solution.iterations,
            seconds: self.seconds,
            peak_memory: process::peak_memory(),
        }
    }
}
