//! Shared by the commands that run experiments: their options, and the way from experiments to results on disk.

use crate::error::{Error, Result};
use crate::output;
use crate::process::peak_memory_text;
use crate::progress::ExperimentProgress;
use backsweep_lab::experiment::{Changes, Experiment};
use backsweep_lab::manifest::Manifest;
use backsweep_lab::result::Results;
use backsweep_lab::runner::{SettingFilter, Shard, all_settings, run};
use backsweep_lab::store::Store;
use backsweep_lab::{figures, report, suite, verdict};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The options of commands that run experiments.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// Folder for results; a stopped command resumes in the same folder
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Runs per setting, overriding the experiment
    #[arg(long, value_name = "N")]
    pub runs: Option<u32>,

    /// Seed, overriding the experiment
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,

    /// Fewer runs for the same figures
    #[arg(long)]
    pub quick: bool,

    /// Run only settings whose name contains this path, such as fig3/moore_atkeson/5, finished ones included
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,

    /// Run only part I of N (I from 0 to N - 1); 'backsweep merge' joins the parts
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,

    /// Print the names of the settings without running them
    #[arg(long)]
    pub list: bool,

    /// Print the summary as a JSON array
    #[arg(long)]
    pub json: bool,

    /// Print every claim with its numbers, and each setting as it is done
    #[arg(long)]
    pub verbose: bool,
}

impl Options {
    /// The changes that these options make to an experiment.
    pub fn changes(&self) -> Changes {
        Changes { seed: self.seed, runs: self.runs, quick: self.quick, planners: &[] }
    }
}

/// Runs experiments into a folder, then writes summary, figures and report and prints the verdict.
pub fn carry_out(experiments: &[Experiment], options: &Options, default_out: &Path) -> Result<()> {
    let begin = Instant::now();
    let shard = options.shard.as_deref().map(str::parse::<Shard>).transpose()?;
    let filter = SettingFilter { only: options.only.clone(), shard };
    let places = filter.places(&all_settings(experiments))?;
    if options.list {
        let settings = all_settings(experiments);
        places.iter().for_each(|&place| output::result(settings[place].key.name()));
        return Ok(());
    }
    let threads = thread_pool(options.threads)?;
    let folder = options.out.as_deref().unwrap_or(default_out);
    let mut store = Store::open(folder, Manifest::new(experiments)?)?;
    let progress = ExperimentProgress::new(options.verbose);
    let done = threads.install(|| run(experiments, &filter, &mut store, &progress));
    progress.finish();
    done?;
    store.finish()?;
    let mut facts = provenance();
    facts.extend([
        ("time of this command".to_owned(), format!("{:.1} s", begin.elapsed().as_secs_f64())),
        ("threads".to_owned(), threads.current_num_threads().to_string()),
        ("peak memory".to_owned(), peak_memory_text()),
    ]);
    present(&store, options.json, options.verbose, &facts)?;
    let seconds = begin.elapsed().as_secs_f64();
    output::note(format_args!("{seconds:.1} s, peak memory {}", peak_memory_text()));
    Ok(())
}

/// Writes figures and report if every setting is done, and prints what was found.
pub fn present(store: &Store, json: bool, verbose: bool, facts: &[(String, String)]) -> Result<()> {
    let results = store.results();
    let verdicts = verdict::judge(&results);
    let missing = store.missing();
    match missing.first() {
        None => {
            let figures = figures::draw_all(&results, store.folder())?;
            let path = store.report();
            let csv = store.folder().join("verdict.csv");
            if verdict::any_decided(&verdicts) {
                std::fs::write(&csv, verdict::to_csv(&verdicts))
                    .map_err(|error| Error::at(csv.display(), format_args!("cannot be written: {error}")))?;
            }
            std::fs::write(&path, report::html(&results, &figures, &verdicts, facts))
                .map_err(|error| Error::at(path.display(), format_args!("cannot be written: {error}")))?;
        }
        Some(first) => {
            output::note(format_args!(
                "{} settings are unfinished (first: {first}); figures and report were skipped",
                missing.len()
            ));
        }
    }
    let capped: u64 = results.rows.iter().map(|row| row.capped).sum();
    if capped > 0 {
        let episodes: u64 = results.rows.iter().map(|row| row.episodes).sum();
        output::note(format_args!(
            "{capped} of {episodes} episodes were cut at max_steps before they ended (column capped in summary.csv)"
        ));
    }
    if json {
        output::result(serde_json::to_string_pretty(&results.summaries)?);
    } else {
        print_summary(&results);
        if missing.is_empty() && verdict::any_decided(&verdicts) {
            let print = if verbose { verdict::verbose } else { verdict::brief };
            if let Some(banner) = verdict::banner(&results) {
                output::result(banner);
            }
            output::result(print(&verdicts).trim_end());
            if !verbose {
                output::result(format_args!("Why: {} (or --verbose)", store.report().display()));
            }
        }
    }
    output::note(format_args!("results are in {}", store.folder().display()));
    Ok(())
}

/// Where and how this command ran, for the report.
fn provenance() -> Vec<(String, String)> {
    let command: Vec<String> = std::env::args().skip(1).collect();
    let mut facts = vec![
        ("date".to_owned(), backsweep_log::date_of(std::time::SystemTime::now())),
        ("command".to_owned(), format!("backsweep {}", command.join(" "))),
        ("machine".to_owned(), machine()),
    ];
    if let Some(commit) = option_env!("BACKSWEEP_COMMIT") {
        facts.push(("commit".to_owned(), commit.to_owned()));
    }
    facts
}

/// Processor, cores and system, as far as they are known.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let described = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = described.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let name = name.map_or(String::new(), |(_, name)| format!("{name}, "));
    format!("{name}{cores} cores, {} {}", std::env::consts::OS, std::env::consts::ARCH)
}

/// More lines than this are of no use in a terminal; all of them are in summary.csv and in the report.
const MOST_LINES: usize = 60;

fn print_summary(results: &Results) {
    if let Some(info) = results.experiments.iter().find(|info| !info.worlds.is_empty()) {
        output::result(suite::table(&suite::rows(results, &info.name)));
        return;
    }
    if results.summaries.len() > MOST_LINES {
        return;
    }
    for summary in &results.summaries {
        let (name, mean, error) = (summary.key.name(), summary.mean, summary.standard_error);
        output::result(format_args!("{name:50} {mean:10.4} ± {error:.4}"));
    }
}

/// More threads than any machine has cores would only cost memory.
const MOST_THREADS: usize = 1024;

fn thread_pool(n_threads: Option<usize>) -> Result<rayon::ThreadPool> {
    if let Some(n) = n_threads
        && !(1..=MOST_THREADS).contains(&n)
    {
        return Err(Error::new(format!("--threads is {n}; expected 1 to {MOST_THREADS}")));
    }
    let builder = rayon::ThreadPoolBuilder::new().num_threads(n_threads.unwrap_or(0));
    builder.build().map_err(|error| Error::new(format!("cannot start threads: {error}")))
}
