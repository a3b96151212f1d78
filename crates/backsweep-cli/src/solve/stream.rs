//! `backsweep solve --stream`: the model stays on disk.

use super::SolveArguments;
use super::report::{SHOWN, StateRow, count, exact, proof_line, state_table, write};
use crate::error::{Error, Result};
use crate::interrupt::Deadline;
use crate::{interrupt, output, process, progress};
use backsweep_mdp::{BlockRows, DiskMdp, Format, NO_CHOICE, Objective, Question, printable};
use backsweep_solve::{Limits, StreamProgress, StreamedSolution, solve_streamed};
use std::fs::File;
use std::path::Path;

/// Arcs per block: 64 MB of file, so that a read takes much longer than finding its place.
const ARCS_PER_BLOCK: u64 = 1 << 22;

/// Solves a model on disk.
pub fn run(arguments: &SolveArguments, question: &Question) -> Result<()> {
    let Objective::Discounted { reward, discount } = &question.objective else {
        return Err(Error::new(
            "--stream needs --discount below 1; other questions need the model in memory",
        ));
    };
    if arguments.format.map_or_else(|| Format::of(&arguments.model), Ok)? != Format::Umb {
        let problem = "--stream reads uncompressed UMB files; convert the model first (backsweep convert MODEL model.umb \
                       --uncompressed)";
        return Err(Error::at(arguments.model.display(), problem));
    }
    interrupt::note_on_ctrl_c(format!("the offsets of {} were being read", arguments.model.display()));
    let disk = DiskMdp::open(&arguments.model, ARCS_PER_BLOCK)?;
    let deadline = Deadline::new(arguments.time_limit);
    let stop = || deadline.stop();
    let (tolerance, relative) = arguments.tolerances();
    let limits = Limits { tolerance, relative, stop: &stop, threads: 1 };
    let bar = progress::bar(disk.n_blocks() as u64);
    let show = |now: StreamProgress| {
        bar.set_position(now.done as u64);
        let width =
            if now.width.is_finite() { format!(", intervals {:.1e} wide", now.width) } else { String::new() };
        bar.set_message(format!("pass {}{width}", now.pass));
    };
    let solved = solve_streamed(&disk, reward.as_deref(), *discount, question.direction, &limits, &show);
    bar.finish_and_clear();
    let solution = solved?;
    let seconds = deadline.elapsed().as_secs_f64();
    let stopped = deadline.reason().filter(|_| !solution.converged);
    if let Some(path) = &arguments.values {
        write_values(path, &solution)?;
    }
    if let Some(path) = &arguments.policy {
        write_policy(path, &disk, &solution)?;
    }
    let bytes = disk.bytes_per_pass(disk.rewards(reward.as_deref())?);
    let sizes = [(disk.n_states() as u64, "state"), (disk.n_choices(), "choice"), (disk.n_arcs(), "arc")];
    let sizes = sizes.map(|(n, thing)| count(n as usize, thing)).join(", ");
    let question = question.to_string();
    output::result(format_args!("{}: {sizes}, on disk", arguments.model.display()));
    output::result(format_args!("{}\n\n{}", printable(&question), states(&disk, &solution)?));
    let reason = solution.explanation.last().map_or("", String::as_str);
    let widest = (0..solution.n_states()).map(|s| solution.upper(s) - solution.lower(s)).fold(0.0, f64::max);
    output::result(proof_line(
        solution.converged,
        widest,
        (tolerance, relative),
        stopped.unwrap_or(reason),
        "",
    ));
    let passes =
        if solution.passes == 1 { "1 pass".to_owned() } else { format!("{} passes", solution.passes) };
    output::result(format_args!(
        "method: streamed\n{passes} of {:.2} GB, {seconds:.3} s, peak memory {}",
        bytes as f64 / 1e9,
        process::peak_memory_text()
    ));
    if arguments.explain {
        solution.explanation.iter().for_each(|line| output::result(format_args!("  {line}")));
    }
    Ok(())
}

/// The initial states, or the first ones.
fn states(disk: &DiskMdp, solution: &StreamedSolution) -> Result<String> {
    let all: Vec<usize> = match disk.initial() {
        [] => (0..disk.n_states().min(SHOWN)).collect(),
        initial => initial.iter().take(SHOWN).map(|&state| state as usize).collect(),
    };
    let mut reader = PolicyReader::new(disk)?;
    let mut row = |state| {
        let (value, lower, upper) = (solution.value(state), solution.lower(state), solution.upper(state));
        let action = reader.action(solution, state)?;
        Ok((state.to_string(), StateRow { value, lower, upper, action }))
    };
    Ok(state_table(all.into_iter().map(&mut row).collect::<Result<Vec<_>>>()?))
}

/// Reads names of actions, block by block.
struct PolicyReader<'a> {
    disk: &'a DiskMdp,
    file: File,
    rows: BlockRows,
    /// The block that was read last, with the actions of its states.
    block: Option<(usize, Vec<Option<String>>)>,
}

impl<'a> PolicyReader<'a> {
    fn new(disk: &'a DiskMdp) -> Result<Self> {
        Ok(Self { disk, file: disk.file()?, rows: BlockRows::default(), block: None })
    }

    fn action(&mut self, solution: &StreamedSolution, state: usize) -> Result<Option<String>> {
        if solution.policy[state] == NO_CHOICE {
            return Ok(None);
        }
        let block = self.disk.block_of(state);
        let states = self.disk.states_of(block);
        if self.block.as_ref().is_none_or(|(known, _)| *known != block) {
            let choices = &solution.policy[states.clone()];
            let actions = self.disk.actions(&mut self.file, block, choices, &mut self.rows)?;
            self.block = Some((block, actions));
        }
        Ok(self.block.as_ref().and_then(|(_, actions)| actions[state - states.start].clone()))
    }
}

fn write_values(path: &Path, solution: &StreamedSolution) -> Result<()> {
    let row = |state| {
        let [value, lower, upper] =
            [solution.value(state), solution.lower(state), solution.upper(state)].map(exact);
        Ok([state.to_string(), value, lower, upper])
    };
    write(path, ["state", "value", "lower", "upper"], solution.n_states(), row)
}

fn write_policy(path: &Path, disk: &DiskMdp, solution: &StreamedSolution) -> Result<()> {
    let mut reader = PolicyReader::new(disk)?;
    let row = |state: usize| Ok([state.to_string(), reader.action(solution, state)?.unwrap_or_default()]);
    write(path, ["state", "action"], solution.n_states(), row)
}
