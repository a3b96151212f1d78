//! `[[worlds]]` and `[[agents]]`: the suite in which exploration is measured.

use super::file::{AgentTable, File, WorldTable};
use super::{Changes, Experiment, check_name, read_text};
use crate::exploration::WorldRun;
use crate::result::{Unit, WorldInfo};
use crate::{Error, Result, fnv1a};
use backsweep::explore::{Exploration, Explore, Forgetting};
use backsweep_worlds::{AgentSettings, Horizon, Score, World};
use std::path::Path;

/// The suite, the one on which its default agent is chosen, and the one that compares it with other settings: names and files.
pub const SUITES: [(&str, &str); 3] = [
    ("explore", include_str!("../../experiments/explore.toml")),
    ("explore-tuning", include_str!("../../experiments/explore-tuning.toml")),
    ("explore-settings", include_str!("../../experiments/explore-settings.toml")),
];

impl Experiment {
    /// The suite of this name, or the experiment file if one is given, with only these worlds and agents; all of them if none
    /// are named. A world that the file does not list is added if one of that name exists.
    ///
    /// # Errors
    /// As [`Experiment::read`], and if a name is unknown.
    pub fn explore(
        suite: &str,
        path: Option<&Path>,
        changes: &Changes,
        worlds: &[String],
        agents: &[String],
    ) -> Result<Self> {
        let (text, place) = match path {
            Some(path) => (read_text(path)?, path.display().to_string()),
            None => {
                let known = SUITES.map(|(name, _)| name);
                let text = SUITES.iter().find(|(name, _)| *name == suite).map(|(_, text)| (*text).to_owned());
                let unknown = || {
                    Error::new(format!("no suite is called '{suite}'; expected one of: {}", known.join(", ")))
                };
                (text.ok_or_else(unknown)?, format!("experiment {suite}"))
            }
        };
        let folder = path.and_then(Path::parent).unwrap_or(Path::new(""));
        let mut file = Self::file(&text).map_err(|error| error.at(&place))?;
        let mut text = text;
        if !worlds.is_empty() {
            let known = std::mem::take(&mut file.worlds);
            let of = |name: &String| known.iter().find(|world| world.name == *name).cloned();
            file.worlds =
                worlds.iter().map(|name| of(name).unwrap_or_else(|| WorldTable::named(name))).collect();
            text += &format!("\n# worlds: {}\n", worlds.join(", "));
        }
        if !agents.is_empty() {
            let names: Vec<&str> = file.agents.iter().map(AgentTable::name).collect();
            if let Some(unknown) = agents.iter().find(|agent| !names.contains(&agent.as_str())) {
                let mut names = names;
                names.dedup();
                let names = names.join(", ");
                return Err(Error::new(format!("no agent is called '{unknown}'; expected one of: {names}")));
            }
            file.agents.retain(|agent| agents.iter().any(|name| name == agent.name()));
            text += &format!("\n# agents: {}\n", agents.join(", "));
        }
        Self::of_file(&file, &text, folder, changes).map_err(|error| error.at(place))
    }

    /// Adds the settings of all agents in all worlds.
    pub(super) fn add_exploration(&mut self, file: &File) -> Result<()> {
        if file.worlds.is_empty() != file.agents.is_empty() {
            return Err(Error::new("expected both [[worlds]] and [[agents]], found only one of them"));
        }
        for table in &file.worlds {
            check_name("worlds.name", &table.name)?;
            let sizes: Vec<Option<u32>> = match &table.sizes {
                Some(sizes) => sizes.list().iter().copied().map(Some).collect(),
                None => vec![None],
            };
            let mut info = None;
            for size in sizes {
                let name = size.map_or_else(|| table.name.clone(), |size| format!("{}_{size}", table.name));
                let stream = fnv1a(&format!("{}/{name}", self.info.name));
                for agent in &file.agents {
                    if agent.worlds.as_ref().is_some_and(|worlds| !worlds.contains(&table.name)) {
                        continue;
                    }
                    check_name("agents.name", agent.name())?;
                    let at = |error: Error| error.at(format!("agent {}", agent.name()));
                    let work = WorldRun { world: name.clone(), agent: settings(agent).map_err(at)?, stream };
                    let (world, _) = work.world(self.seed, 0)?;
                    work.agent.build(&world, 0).map_err(|error| at(error.into()))?;
                    let seconds = expected_seconds(&world, &work.agent);
                    let key = self.key(&table.name, agent.name().into(), None, size.map(f64::from));
                    info.get_or_insert_with(|| described(table, &world, size.is_some()));
                    self.add(key, Unit::Step, false, seconds, Box::new(work))?;
                }
            }
            let info = info.ok_or_else(|| {
                Error::new(format!("world {}: no agent runs in it; expected at least one", table.name))
            })?;
            self.info.tasks.push((table.name.clone(), info.title.clone()));
            self.info.worlds.push(info);
        }
        Ok(())
    }
}

fn described(table: &WorldTable, world: &World, is_family: bool) -> WorldInfo {
    // A family is named like its members, without their size.
    let own = if is_family { world.title.split(", N").next().unwrap_or(&world.title) } else { &world.title };
    WorldInfo {
        task: table.name.clone(),
        title: table.title.clone().unwrap_or_else(|| own.to_owned()),
        score: world.score.label(),
        more_is_better: world.score.more_is_better(),
        by_median: matches!(world.score, Score::StepsTo { .. }),
        ceiling: world.ceiling,
        mark: table.mark,
        published: table.published.iter().map(|(name, score)| (name.clone(), *score)).collect(),
    }
}

/// The agent of a table. Numbers are checked where the agent is built.
fn settings(table: &AgentTable) -> Result<AgentSettings> {
    let default = AgentSettings::default();
    let explore = explore(table, default.exploration.explore)?;
    let forgetting = match (table.per_visit, table.half_life, table.window) {
        (None, None, None) => Forgetting::Never,
        (Some(part), None, None) => Forgetting::PerVisit(part),
        (None, Some(steps), None) => Forgetting::HalfLife(steps),
        (None, None, Some(n)) => Forgetting::Window(n),
        _ => return Err(Error::new("expected at most one of 'per_visit', 'half_life' and 'window'")),
    };
    Ok(AgentSettings {
        exploration: Exploration {
            explore,
            start: table.start,
            age_bonus: table.age_bonus.unwrap_or_default(),
            forgetting,
            ..default.exploration
        },
        cycles: table.cycles.map_or(default.cycles, u64::from),
        planner: table.planner.as_deref().map_or(Ok(default.planner), backsweep_baselines::named)?,
    })
}

/// The way the agent of a table explores.
fn explore(table: &AgentTable, default: Explore) -> Result<Explore> {
    let AgentTable { epsilon, value, min_visits, beta, c, d, posterior_worlds, prior, .. } = *table;
    // Each constant, its key in the table, the number given, and the default.
    let numbers = [
        ("epsilon", "epsilon", epsilon, None),
        ("value", "value", value, Some(1.0)),
        ("min_visits", "min_visits", min_visits.map(f64::from), Some(1.0)),
        ("beta", "beta", beta, None),
        ("c", "c", c, None),
        ("d", "d", d, None),
        ("worlds", "posterior_worlds", posterior_worlds.map(f64::from), Some(1.0)),
        ("prior", "prior", prior, None),
    ];
    let number =
        |constant| numbers.iter().find(|known| known.0 == constant).and_then(|known| known.2.or(known.3));
    let name = table.explore();
    let (explore, constants) = if name == "default" {
        (default, Vec::new())
    } else {
        let found = Explore::named(name, |constant| Ok::<_, Error>(number(constant).unwrap_or(f64::NAN)))?;
        let Some(explore) = found else {
            let known = Explore::NAMES.join(", ");
            return Err(Error::new(format!("explore is '{name}'; expected default or one of: {known}")));
        };
        (explore, explore.constants())
    };
    let is_needed = |constant: &str| constants.iter().any(|(needed, _)| *needed == constant);
    if let Some((_, key, ..)) = numbers.iter().find(|known| known.2.is_some() && !is_needed(known.0)) {
        return Err(Error::new(format!("{name} has no '{key}'; remove it")));
    }
    match numbers.iter().find(|known| is_needed(known.0) && known.2.or(known.3).is_none()) {
        Some((_, key, ..)) => Err(Error::new(format!("{name} needs '{key}', as in '{key} = 0.1'"))),
        None => Ok(explore),
    }
}

/// Roughly how long a run takes; used only to estimate the remaining time.
fn expected_seconds(world: &World, agent: &AgentSettings) -> f64 {
    let steps = match world.horizon {
        Horizon::Steps(steps) => steps as f64,
        // Most agents solve DeepSea long before the last episode.
        Horizon::Episodes(episodes) => 0.1 * episodes as f64 * (world.table().n_states() as f64).sqrt(),
    };
    steps * (0.5 + 0.2 * agent.cycles as f64) * 1e-6
}
