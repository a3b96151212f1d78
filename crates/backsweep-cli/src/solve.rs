//! `backsweep solve`: values of a known model with proven intervals, repaired after changes.

mod changes;
mod evaluation;
mod live;
mod options;
mod report;
mod stream;
mod watch;

use crate::error::{Error, Result};
use crate::interrupt::Deadline;
use crate::{loading, output, process, progress};
use backsweep_cuda::Device;
use backsweep_mdp::{Mdp, NO_CHOICE, Question, StateNames, printable};
use backsweep_solve::{Limits, Solution, caution};
use backsweep_verify::{ResultFile, fingerprint};
use changes::{Parser, TableEdit};
use live::LiveAnswer;
pub use options::SolveArguments;
use report::StateRow;
use std::path::Path;

/// Runs the command.
pub fn solve(arguments: &SolveArguments) -> Result<()> {
    let question = arguments.question()?;
    if arguments.stream {
        return stream::run(arguments, &question);
    }
    let mut mdp = loading::load(&arguments.model, arguments.format)?;
    let counts_steps = mdp.add_steps(arguments.reward.as_deref());
    let at = arguments.at.as_deref().map(|name| StateNames::new(&mdp).state(name)).transpose()?;
    if let Some(state) = at {
        // The state that is asked about is the one that is printed.
        mdp.initial = vec![state];
    }
    let mdp = mdp;
    let edits =
        arguments.changes.as_deref().map(|path| read_changes(path, &StateNames::new(&mdp))).transpose()?;

    let deadline = Deadline::new(arguments.time_limit);
    let stop = || deadline.stop();
    let (tolerance, relative) = arguments.tolerances();
    let limits = Limits { tolerance, relative, stop: &stop, threads: arguments.threads() };
    if let Some(path) = &arguments.evaluate {
        return evaluation::run(path, arguments, &mdp, &question, &limits);
    }
    let spinner = progress::spinner("solving; Ctrl-C ends it with the intervals reached so far");
    let keeps = edits.is_some() || arguments.watch.is_some();
    let mut live = None;
    let mut solution = None;
    let done = if keeps {
        let every_reward = counts_steps.then_some(1.0);
        LiveAnswer::new(&mdp, &question, every_reward, &limits)
            .map(|answer| live = Some(answer))
            .map_err(|error| Error::at(arguments.model.display(), error))
    } else if arguments.device != Device::Processor {
        solved_on(arguments, &mdp, &question, &limits).map(|solved| solution = Some(solved))
    } else {
        let method = arguments.method.as_deref();
        match &at {
            Some(state) => backsweep_solve::solve_at(&mdp, &question, &[*state], method, &limits),
            None => backsweep_solve::solve(&mdp, &question, method, &limits),
        }
        .map(|solved| solution = Some(solved))
        .map_err(|error| Error::at(arguments.model.display(), error))
    };
    let seconds = deadline.elapsed().as_secs_f64();
    spinner.finish_and_clear();
    done?;

    let report =
        SolveReport { arguments, question: &question, mdp: &mdp, seconds, stopped: deadline.reason() };
    if let Some(solution) = solution {
        let of = |state| StateRow::of(&mdp, &solution, state);
        report.write(of)?;
        return if arguments.json { report.json(&solution, of) } else { report.print(&solution, of) };
    }
    let Some(mut live) = live else { return Ok(()) };
    if !arguments.json {
        let answer = live.answer()?;
        report.print(&answer.solution, live.of(answer))?;
    }
    if let Some(edits) = edits {
        let mut refused = Vec::new();
        let done = live.change(&edits, &limits, |problem| refused.push(problem))?;
        if let Some(problem) = refused.into_iter().next() {
            return Err(Error::new(problem));
        }
        if let (Some(done), Some(path)) = (done, &arguments.changes) {
            let (line, table) = (live.line(&done)?, live.before_and_after(&done)?);
            output::result(format_args!("\n{}: {line}\n\n{}", path.display(), table.trim_end()));
        }
    }
    report.write(live.of(live.answer()?))?;
    let Some(from) = &arguments.watch else { return Ok(()) };
    if arguments.json {
        output::result(live.json(None)?);
    }
    watch::watch(from, &mut live, &limits, &deadline, |live, done| {
        // Written first, so that a program that reads the line finds the tables.
        let of = live.of(live.answer()?);
        report.write(&of)?;
        if arguments.json {
            output::result(live.json(Some(done))?);
        } else {
            let now = report::states(&mdp, of);
            output::result(format_args!("\n{}\n{}", live.line(done)?, now.trim_end()));
        }
        Ok(())
    })
}

/// Solves with a card's help.
fn solved_on(
    arguments: &SolveArguments,
    mdp: &Mdp,
    question: &Question,
    limits: &Limits,
) -> Result<Solution> {
    use backsweep_cuda::Error as CardError;
    backsweep_cuda::solve(mdp, question, arguments.device, limits).map(|solved| solved.0).map_err(|error| {
        match error {
            CardError::Solve(error) => Error::at(arguments.model.display(), error),
            CardError::NoDiscount => {
                Error::new("--device cuda needs --discount below 1; use --device auto or cpu")
            }
            error => Error::new(format!("--device cuda: {error}; --device auto uses the processor instead")),
        }
    })
}

/// Reads a file of changes. If one line is refused, all of it is.
fn read_changes(path: &Path, names: &StateNames) -> Result<Vec<TableEdit>> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::unread(path, error))?;
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

/// Reports answers.
struct SolveReport<'a> {
    arguments: &'a SolveArguments,
    question: &'a Question,
    mdp: &'a Mdp,
    seconds: f64,
    /// The reason why the solve ended early, if it did.
    stopped: Option<&'a str>,
}

impl SolveReport<'_> {
    /// Writes the requested tables.
    fn write(&self, of: impl Fn(usize) -> StateRow) -> Result<()> {
        if let Some(path) = &self.arguments.values {
            report::write_values(path, self.mdp, &of)?;
        }
        if let Some(path) = &self.arguments.policy {
            report::write_policy(path, self.mdp, &of)?;
        }
        Ok(())
    }

    fn json(&self, solution: &Solution, of: impl Fn(usize) -> StateRow) -> Result<()> {
        let text = self.result_file(solution).to_json()?;
        let Some(path) = &self.arguments.out else {
            output::result(text);
            if !solution.converged {
                let reason = self.reason(&solution.explanation);
                output::note(format_args!("backsweep: not converged: {reason}; the intervals are proven"));
            }
            return Ok(());
        };
        std::fs::write(path, text + "\n").map_err(|error| Error::unwritten(path, error))?;
        self.print(solution, of)
    }

    fn print(&self, solution: &Solution, of: impl Fn(usize) -> StateRow) -> Result<()> {
        let Self { arguments, question, mdp, seconds, .. } = self;
        output::result(format_args!("{}: {}", arguments.model.display(), report::size(mdp)));
        let question = question.to_string();
        let question = printable(&question);
        output::result(format_args!("{question}\n\n{}", report::states(mdp, of)));
        output::result(report::proof(solution, arguments.tolerances(), self.reason(&solution.explanation)));
        output::result(report::effort(solution, *seconds));
        if let Some(caution) = caution(mdp, self.question, &solution.lower) {
            output::note(format_args!(
                "backsweep: note: {caution}; for the number of steps: --reward steps --until LABEL --minimize"
            ));
        }
        if arguments.explain {
            solution.explanation.iter().for_each(|line| output::result(format_args!("  {line}")));
        }
        Ok(())
    }

    /// Why intervals are wider than requested.
    fn reason<'r>(&'r self, explanation: &'r [String]) -> &'r str {
        let last = explanation.last().map_or("the method does not allow narrower intervals", String::as_str);
        self.stopped.unwrap_or(last)
    }

    /// The answer as `backsweep verify` reads it.
    fn result_file(&self, solution: &Solution) -> ResultFile {
        let choice = |&choice: &u32| (choice != NO_CHOICE).then_some(choice);
        ResultFile {
            model: fingerprint(self.mdp),
            objective: self.question.objective.clone(),
            direction: self.question.direction,
            tolerance: self.arguments.tolerances().0,
            relative: self.arguments.tolerances().1,
            converged: solution.converged,
            lower: solution.lower.clone(),
            upper: solution.upper.clone(),
            policy: solution.policy.iter().map(choice).collect(),
            states: self.mdp.state_names.clone(),
            method: solution.explanation.join("; "),
            iterations: solution.iterations,
            seconds: self.seconds,
            peak_memory: process::peak_memory(),
        }
    }
}
