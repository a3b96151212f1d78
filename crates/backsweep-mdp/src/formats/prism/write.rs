//! Writes PRISM's explicit files.

use crate::formats::replace;
use crate::{Error, INIT, Mdp, Result};
use std::io::{self, Write};
use std::path::Path;

/// Writes `.tra`, and `.lab`, `.srew`, `.trew`, `.sta` if the model has labels, rewards and names.
pub fn write(path: &Path, mdp: &Mdp) -> Result<Vec<String>> {
    let (whole, mut warnings) = mdp.completed();
    let whole = whole.merged();
    if let Some(label) = whole.labels.iter().find(|label| label.name.contains(['"', '\n', '\r'])) {
        let problem =
            format!("the label '{}' has quotation marks or line breaks; .lab cannot hold it", label.name);
        return Err(Error::new(path.display(), problem));
    }
    replace(path, |output| transitions(&whole, output))?;
    let beside = |extension: &str| path.with_extension(extension);
    let mut written = Vec::new();
    if !whole.labels.is_empty() || !whole.initial.is_empty() {
        written.push(beside("lab"));
        replace(&beside("lab"), |output| labels(&whole, output))?;
    }
    if !whole.state_names.is_empty() {
        written.push(beside("sta"));
        replace(&beside("sta"), |output| states(&whole, output))?;
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    for (i, rewards) in whole.rewards.iter().enumerate() {
        // As PRISM does: numbered if there are several.
        let number = if whole.rewards.len() > 1 { (i + 1).to_string() } else { String::new() };
        if !rewards.states.is_empty() || rewards.choices.is_empty() && rewards.arcs.is_empty() {
            let path = path.with_file_name(format!("{stem}{number}.srew"));
            replace(&path, |output| state_rewards(&whole, i, output))?;
            written.push(path);
        }
        if !rewards.choices.is_empty() || !rewards.arcs.is_empty() {
            let path = path.with_file_name(format!("{stem}{number}.trew"));
            replace(&path, |output| transition_rewards(&whole, i, output))?;
            written.push(path);
        }
    }
    let others = ["lab", "sta"].map(beside).into_iter().filter(|path| path.is_file());
    for left in super::reward_files(path).into_iter().map(|(_, path)| path).chain(others) {
        if !written.iter().any(|path| path.file_name() == left.file_name()) {
            let name = left.file_name().unwrap_or_default().display().to_string();
            warnings.push(format!(
                "{name} already exists and will be read with the model; remove it if it belongs to another model"
            ));
        }
    }
    Ok(warnings)
}

fn transitions(mdp: &Mdp, output: &mut dyn Write) -> io::Result<()> {
    if mdp.chain {
        writeln!(output, "{} {}", mdp.n_states(), mdp.n_arcs())?;
    } else {
        writeln!(output, "{} {} {}", mdp.n_states(), mdp.n_choices(), mdp.n_arcs())?;
    }
    each_arc(mdp, |state, within, choice, arc| {
        choice_word(mdp, state, within, output)?;
        write!(output, "{} {:?}", mdp.targets[arc], mdp.probabilities[arc])?;
        match mdp.action_names.get(choice) {
            Some(name) if !mdp.chain && !name.is_empty() => {
                writeln!(output, " {}", name.replace(['\n', '\r'], " "))
            }
            _ => writeln!(output),
        }
    })
}

/// The state, and in an MDP the choice.
fn choice_word(mdp: &Mdp, state: usize, within: usize, output: &mut dyn Write) -> io::Result<()> {
    if mdp.chain { write!(output, "{state} ") } else { write!(output, "{state} {within} ") }
}

fn each_arc(
    mdp: &Mdp,
    mut visit: impl FnMut(usize, usize, usize, usize) -> io::Result<()>,
) -> io::Result<()> {
    for state in 0..mdp.n_states() {
        for (within, choice) in mdp.choices_of(state).enumerate() {
            for arc in mdp.arcs_of(choice) {
                visit(state, within, choice, arc)?;
            }
        }
    }
    Ok(())
}

fn labels(mdp: &Mdp, output: &mut dyn Write) -> io::Result<()> {
    let mut all: Vec<(&str, &[u32])> = vec![(INIT, &mdp.initial)];
    all.extend(mdp.labels.iter().map(|label| (label.name.as_str(), &label.states[..])));
    let declared: Vec<String> =
        all.iter().enumerate().map(|(i, (name, _))| format!("{i}=\"{name}\"")).collect();
    writeln!(output, "{}", declared.join(" "))?;
    let mut by_state: Vec<(u32, usize)> = all
        .iter()
        .enumerate()
        .flat_map(|(i, (_, states))| states.iter().map(move |&state| (state, i)))
        .collect();
    by_state.sort_unstable();
    for same in by_state.chunk_by(|a, b| a.0 == b.0) {
        write!(output, "{}:", same[0].0)?;
        same.iter().try_for_each(|(_, label)| write!(output, " {label}"))?;
        writeln!(output)?;
    }
    Ok(())
}

fn states(mdp: &Mdp, output: &mut dyn Write) -> io::Result<()> {
    // The number of variables shows in tuples; their names are not known.
    let n = mdp.state_names[0].matches(',').count() + 1;
    let tuples = mdp
        .state_names
        .iter()
        .all(|name| name.starts_with('(') && name.ends_with(')') && name.matches(',').count() + 1 == n);
    let variables = if tuples {
        (0..n).map(|i| format!("v{i}")).collect::<Vec<_>>().join(",")
    } else {
        "name".to_owned()
    };
    writeln!(output, "({variables})")?;
    for (state, name) in mdp.state_names.iter().enumerate() {
        writeln!(output, "{state}:{}", name.replace(['\n', '\r'], " "))?;
    }
    Ok(())
}

fn head(mdp: &Mdp, i: usize, what: &str, output: &mut dyn Write) -> io::Result<()> {
    if !mdp.rewards[i].name.is_empty() {
        writeln!(
            output,
            "# Reward structure \"{}\"\n# {what} rewards",
            mdp.rewards[i].name.replace(['\n', '\r'], " ")
        )?;
    }
    Ok(())
}

fn state_rewards(mdp: &Mdp, i: usize, output: &mut dyn Write) -> io::Result<()> {
    head(mdp, i, "State", output)?;
    let values = &mdp.rewards[i].states;
    writeln!(output, "{} {}", mdp.n_states(), values.iter().filter(|value| **value != 0.0).count())?;
    for (state, value) in values.iter().enumerate().filter(|(_, value)| **value != 0.0) {
        writeln!(output, "{state} {value:?}")?;
    }
    Ok(())
}

fn transition_rewards(mdp: &Mdp, i: usize, output: &mut dyn Write) -> io::Result<()> {
    head(mdp, i, "Transition", output)?;
    let rewards = &mdp.rewards[i];
    let value = |choice: usize, arc: usize| {
        rewards.choices.get(choice).copied().unwrap_or(0.0) + rewards.arcs.get(arc).copied().unwrap_or(0.0)
    };
    let mut n = 0;
    each_arc(mdp, |_, _, choice, arc| {
        n += usize::from(value(choice, arc) != 0.0);
        Ok(())
    })?;
    if mdp.chain {
        writeln!(output, "{} {n}", mdp.n_states())?;
    } else {
        writeln!(output, "{} {} {n}", mdp.n_states(), mdp.n_choices())?;
    }
    each_arc(mdp, |state, within, choice, arc| {
        let reward = value(choice, arc);
        if reward == 0.0 {
            return Ok(());
        }
        choice_word(mdp, state, within, output)?;
        writeln!(output, "{} {reward:?}", mdp.targets[arc])
    })
}
