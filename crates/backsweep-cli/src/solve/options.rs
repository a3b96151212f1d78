//! The options of `backsweep solve`, and the question that they define.

use crate::error::{Error, Result};
use crate::loading;
use backsweep_cuda::Device;
use backsweep_mdp::{Direction, Format, Objective, Question};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Solve a known model: a policy, and a proven interval for the value of each state
///
/// Reads UMB, DRN, PRISM's .tra, CSV tables and saved learners (.backsweep); docs/models.md describes them. Give one objective:
/// --discount, --reach, --reward with or without --until, --horizon or --average.
///
/// Prints 'not converged' if the tolerance was not reached. The intervals are proven all the same, and the exit status is 0.
/// On error, prints one line and exits with status 2.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  backsweep solve model.umb --reach goal
  backsweep solve model.drn --reward cost --until done --minimize
  backsweep solve model.tra --reward steps --until done --minimize
  backsweep solve table.csv --discount 0.99 --tolerance 1e-8 --policy policy.csv --values values.csv
  backsweep solve agent.backsweep --discount 0.95 --time-limit 10s
  backsweep solve model.umb --reach goal --json --out result.json && backsweep verify model.umb result.json
  backsweep solve table.csv --discount 0.99 --evaluate policy.csv
  backsweep solve larger-than-memory.umb --discount 0.99 --stream --values values.csv
  backsweep solve table.csv --discount 0.99 --changes changes.csv
  backsweep solve table.csv --discount 0.99 --watch=changes.csv")]
pub struct SolveArguments {
    /// The model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// The probability of reaching a state with this label
    #[arg(long, value_name = "LABEL", conflicts_with_all = ["reward", "until", "discount", "average"])]
    reach: Option<String>,

    /// With --reach: without passing through states with this label
    #[arg(long, value_name = "LABEL", requires = "reach")]
    avoid: Option<String>,

    /// The rewards to add up, by name; not needed if the model has only one reward structure. 'steps' counts 1 per step
    /// in any model
    #[arg(long, value_name = "NAME")]
    pub reward: Option<String>,

    /// The expected total reward until a state with this label; infinite if it may never be reached
    #[arg(long, value_name = "LABEL", conflicts_with_all = ["discount", "horizon", "average"])]
    until: Option<String>,

    /// The expected discounted reward, with this discount from 0 to 1; 1 is the total until the episode ends
    #[arg(long, value_name = "DISCOUNT", value_parser = discount, allow_negative_numbers = true)]
    discount: Option<f64>,

    /// Only the first N steps: with --reach the probability within them, otherwise their expected reward
    #[arg(long, value_name = "N", conflicts_with = "average")]
    horizon: Option<u64>,

    /// The expected reward per step in the long run
    #[arg(long, conflicts_with = "discount")]
    average: bool,

    /// Compute the smallest values that a policy attains, not the largest
    #[arg(long)]
    minimize: bool,

    /// The largest accepted distance of a value from the truth [default: 1e-6, or a relative 1e-9 where that is more]
    #[arg(long, value_name = "TOLERANCE", value_parser = tolerance, allow_negative_numbers = true)]
    tolerance: Option<f64>,

    /// The same relative to the size of the value; with --tolerance, whichever is met
    #[arg(long, value_name = "TOLERANCE", value_parser = tolerance, allow_negative_numbers = true,
        conflicts_with_all = ["changes", "watch"])]
    relative: Option<f64>,

    /// Use this method instead of choosing one. With a discount: backward, elimination, outward, simultaneous, in-place,
    /// krylov or components; otherwise elimination or sweeps
    #[arg(long, value_name = "METHOD")]
    pub method: Option<String>,

    /// The device that computes discounted values: cpu, cuda (an NVIDIA card) or auto (a card where it is there and worth it). Intervals
    /// are proven by the processor in any case
    #[arg(long, value_name = "DEVICE", default_value = "cpu", hide_default_value = true, value_parser = device,
        conflicts_with_all = ["method", "at", "changes", "watch", "evaluate"])]
    pub device: Device,

    /// Print which methods were chosen and why
    #[arg(long)]
    pub explain: bool,

    /// Stop after this time, not counting reading the model: 10s, 500ms, 2m, 1h
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub time_limit: Option<Duration>,

    /// Only this state matters: solve what can be reached from it
    #[arg(long, value_name = "STATE", conflicts_with_all = ["json", "changes", "watch", "evaluate"])]
    pub at: Option<String>,

    /// Leave the model on disk and hold only values in memory: for discounted models in uncompressed UMB files
    /// that are larger than memory
    #[arg(long, requires = "discount", conflicts_with_all = ["at", "json", "evaluate", "changes", "watch", "method", "horizon"])]
    pub stream: bool,

    /// The number of threads [default: all cores]; results do not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Write the policy to this file: a table of state,action or, if it ends in .h, a C header with a table and a function
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,

    /// Write values and intervals to this file: state,value,lower,upper
    #[arg(long, value_name = "FILE")]
    pub values: Option<PathBuf>,

    /// Print the result as JSON, which 'backsweep verify' checks
    #[arg(long)]
    pub json: bool,

    /// With --json: write the JSON to this file, and the table to standard output
    #[arg(long, value_name = "FILE", requires = "json")]
    pub out: Option<PathBuf>,

    /// Judge this policy instead: a table of state,action or state,action,probability, as --policy writes it
    ///
    /// Prints its values in proven intervals, how far they are from the best, and the states where it loses. --values then
    /// holds the policy's own values; with --json, one object has the bounds of both.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "policy", "out", "changes", "watch"])]
    pub evaluate: Option<PathBuf>,

    /// After solving, change the model as this table says, repair the values and print what changes
    ///
    /// The columns are those of a model in a CSV table, plus 'remove'. The rows of a state and action replace that action,
    /// or add it; a row with only a reward changes the reward; 'remove' set to true removes the action. --values and
    /// --policy then hold the answer after the changes.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "json"])]
    pub changes: Option<PathBuf>,

    /// After solving, keep the answer up to date: read changes from standard input, or from a file that grows or is rewritten
    ///
    /// Lines are those of --changes, with the same header. From standard input, each change is applied when its last row has
    /// arrived; from a file (--watch=FILE), everything added since the last check is applied together. Prints what changes and
    /// rewrites --values and --policy each time; with --json, prints one line of JSON per change. A faulty line is reported
    /// and changes nothing.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-",
        conflicts_with_all = ["method", "out"])]
    pub watch: Option<PathBuf>,

    /// The format of MODEL, if its extension does not say: umb, drn, tra, csv or backsweep
    #[arg(long, value_name = "FORMAT", alias = "from", value_parser = loading::format)]
    pub format: Option<Format>,
}

impl SolveArguments {
    /// The question.
    pub fn question(&self) -> Result<Question> {
        let direction = if self.minimize { Direction::Minimize } else { Direction::Maximize };
        Ok(Question { objective: self.objective()?, direction })
    }

    fn objective(&self) -> Result<Objective> {
        let reward = self.reward.clone();
        if let Some(goal) = self.reach.clone() {
            return Ok(Objective::Reach { goal, avoid: self.avoid.clone(), steps: self.horizon });
        }
        if let Some(steps) = self.horizon {
            return Ok(Objective::Horizon { reward, steps, discount: self.discount.unwrap_or(1.0) });
        }
        match self.discount {
            Some(discount) if discount < 1.0 => Ok(Objective::Discounted { reward, discount }),
            Some(_) => Ok(Objective::Total { reward, until: None }),
            None if self.average => Ok(Objective::Average { reward }),
            None if self.until.is_some() || reward.is_some() => {
                Ok(Objective::Total { reward, until: self.until.clone() })
            }
            None => Err(Error::new(
                "no objective given; expected --discount G, --reach LABEL, --reward NAME --until LABEL, --horizon N or \
                 --average",
            )),
        }
    }

    /// The absolute and the relative tolerance, either of which suffices.
    pub fn tolerances(&self) -> (f64, f64) {
        match (self.tolerance, self.relative) {
            // A live answer is kept to an absolute tolerance.
            (None, None) if self.changes.is_some() || self.watch.is_some() => (1e-6, 0.0),
            (None, None) => (1e-6, 1e-9),
            (absolute, relative) => (absolute.unwrap_or(0.0), relative.unwrap_or(0.0)),
        }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.threads.map_or_else(all, NonZeroUsize::get)
    }
}

fn discount(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|discount| (0.0..=1.0).contains(discount));
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

fn device(text: &str) -> std::result::Result<Device, String> {
    Device::named(text).ok_or_else(|| "expected cpu, cuda or auto".to_owned())
}

fn tolerance(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|tolerance: &f64| *tolerance > 0.0 && tolerance.is_finite());
    number.ok_or_else(|| "expected a finite number above 0, such as 1e-6".to_owned())
}

fn time(text: &str) -> std::result::Result<Duration, String> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = match unit {
        "s" | "" => Some(1.0),
        "ms" => Some(1e-3),
        "m" | "min" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    let seconds = unit.and_then(|unit| Some(unit * number.trim().parse::<f64>().ok()?));
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "expected a time such as 10s, 500ms, 2m or 1h".to_owned())
}
