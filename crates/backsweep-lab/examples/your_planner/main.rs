//! Your own planner next to the built-in ones in your own experiment: see docs/your-planner.md.
//!
//! `cargo run --release -p backsweep-lab --example your_planner`

mod first_in_first_out;

use backsweep::PlannerKind;
use backsweep_lab::experiment::{Changes, Experiment};
use backsweep_lab::statistics::mean;
use first_in_first_out::FirstInFirstOut;
use std::path::Path;

/// Experiment files can now name the planner.
const PLANNERS: &[PlannerKind] = &[FirstInFirstOut::KIND];

const EXPERIMENT: &str = r#"
name = "mine"
runs = 4

[[mazes]]
name = "fifteen"
maze = "paper"
law = "fifteen"
min_visits = 4

[[methods]]
planner = "first_in_first_out"
cycles = [1, 10]

[[methods]]
planner = "moore_atkeson"
cycles = [1, 10]
"#;

fn main() -> backsweep_lab::Result<()> {
    let changes = Changes { planners: PLANNERS, ..Changes::default() };
    let experiment = Experiment::parse(EXPERIMENT, Path::new(""), &changes)?;
    for setting in &experiment.settings {
        let scores = (0..setting.runs).map(|run| Ok(setting.work.run(experiment.seed, run)?.score));
        let scores = scores.collect::<backsweep_lab::Result<Vec<f64>>>()?;
        println!("{:40} {:.2}", setting.key.name(), mean(&scores));
    }
    Ok(())
}
