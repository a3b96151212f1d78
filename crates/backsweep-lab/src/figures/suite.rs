//! Pictures of a suite of worlds: scores of all agents with ceilings, targets and published numbers; and, for families, the
//! curve over their sizes.

use super::chart::{Axis, Chart, INK, LineStyle, Mark, Panel, Point, Series};
use super::palette::{curve, look};
use super::user;
use crate::method::Method;
use crate::query;
use crate::result::{Results, Summary, WorldInfo};

/// One panel per world, one marker per agent.
pub fn scores(results: &Results, experiment: &str) -> Option<Chart> {
    chart(results, experiment, "", |world| {
        let agents = query::methods(results, experiment, &world.task);
        let levels = agents.iter().filter_map(|agent| query::level(results, experiment, &world.task, agent));
        let levels: Vec<&Summary> = levels.collect();
        if levels.is_empty() {
            return None;
        }
        let mut series = Vec::new();
        let lines = [("ceiling", world.ceiling, LineStyle::Dashed), ("mark", world.mark, LineStyle::Dotted)];
        for (label, score, line) in lines {
            series.extend(score.map(|score| Series::level(label, INK, line, Point::new(0.0, score))));
        }
        let published: Vec<Point> =
            world.published.iter().map(|(_, score)| Point::new(0.0, *score)).collect();
        if !published.is_empty() {
            series.push(Series::marks("published", INK, Mark::Diamond, published).hollow());
        }
        for (i, summary) in levels.iter().enumerate() {
            let (color, mark) = look(&summary.key.method);
            let point = Point::of_summary(1.0 + i as f64, summary);
            series.push(Series::marks(summary.key.method.title(), color, mark, vec![point]));
        }
        let x = Axis::linear("").between(-0.7, levels.len() as f64 + 0.7).ticked(&[]);
        Some(Panel { title: world.title.clone(), x, y: Axis::linear(world.score.clone()), series })
    })
}

/// One panel per family of worlds: the score of each agent over the sizes.
pub fn sizes(results: &Results, experiment: &str) -> Option<Chart> {
    chart(results, experiment, "-sizes", |world| {
        let agents = query::methods(results, experiment, &world.task);
        let curve = |agent: &Method| {
            let summaries = query::curve(results, experiment, &world.task, agent);
            let points = summaries.iter().filter_map(|s| Some(Point::of_summary(query::place(&s.key)?, s)));
            curve(agent, points.collect())
        };
        let series: Vec<Series> =
            agents.iter().map(curve).filter(|series| !series.points().is_empty()).collect();
        let (x, y) = (Axis::linear("N"), Axis::log(world.score.clone()));
        (!series.is_empty()).then(|| Panel { title: world.title.clone(), x, y, series })
    })
}

fn chart(
    results: &Results,
    experiment: &str,
    suffix: &str,
    panel: impl Fn(&WorldInfo) -> Option<Panel>,
) -> Option<Chart> {
    let worlds = &query::info(results, experiment)?.worlds;
    user::chart(results, experiment, suffix, worlds.iter().filter_map(panel).collect())
}
