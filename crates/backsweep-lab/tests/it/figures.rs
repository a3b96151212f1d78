//! Pictures from made-up results: complete, with gaps, with one run, with numbers that are not finite.

use crate::made_up::{complete, key, summary, timing};
use backsweep_lab::figures::{draw_all, maze_svg, palette, pictures, raster, text};
use backsweep_lab::method::Method;
use backsweep_lab::result::{ExperimentInfo, MazeInfo, Results, Unit};
use backsweep_worlds::{Law, Maze};
use resvg::usvg::roxmltree::{Document, Node};

fn ids(results: &Results) -> Vec<String> {
    pictures(results).into_iter().map(|figure| figure.id).collect()
}

/// Every picture parses, holds finite numbers only, and no text exceeds it.
fn check(results: &Results) {
    for figure in pictures(results) {
        let name = &figure.id;
        assert!(!figure.svg.contains("NaN") && !figure.svg.contains("inf"), "{name}");
        let document = Document::parse(&figure.svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        let number =
            |node: Node, name: &str| node.attribute(name).and_then(|value| value.parse::<f64>().ok());
        let (full_width, full_height) = (
            number(document.root_element(), "width").unwrap(),
            number(document.root_element(), "height").unwrap(),
        );
        for node in document.descendants().filter(|node| node.has_tag_name("text")) {
            let content = node.text().unwrap_or_default();
            let (Some(x), Some(y), Some(size)) =
                (number(node, "x"), number(node, "y"), number(node, "font-size"))
            else {
                continue; // the turned label of a vertical axis
            };
            let long = text::width(content, size);
            let left = match node.attribute("text-anchor") {
                Some("middle") => x - long / 2.0,
                Some("end") => x - long,
                _ => x,
            };
            assert!(left >= -0.5 && left + long <= full_width + 0.5, "{name}: '{content}' is cut");
            assert!(y >= size * 0.7 && y <= full_height, "{name}: '{content}' is cut");
        }
    }
}

#[test]
fn complete_results_give_every_picture_in_full() {
    let expected = ["fig1", "fig1-band", "fig2-maze", "fig3-cycles", "fig3-time", "choice-of-m", "table1"];
    assert_eq!(ids(&complete()), expected);
    check(&complete());
}

#[test]
fn the_same_results_give_the_same_bytes() {
    let (one, other) = (pictures(&complete()), pictures(&complete()));
    assert_eq!(one, other);
    assert_eq!(raster::png(&one[0].svg, 2.0).unwrap(), raster::png(&other[0].svg, 2.0).unwrap());
}

#[test]
fn missing_settings_and_experiments_leave_gaps_only() {
    assert_eq!(ids(&Results::default()), [""; 0]);
    for step in 2..6 {
        let mut results = complete();
        let mut index = 0;
        results.summaries.retain(|_| {
            index += 1;
            index % step == 0
        });
        results.timings.retain(|_| {
            index += 1;
            index % step == 0
        });
        check(&results);
    }
    let mut results = complete();
    results.summaries.retain(|summary| summary.key.experiment == "fig3");
    results.timings.clear();
    assert_eq!(ids(&results), ["fig2-maze", "fig3-cycles"]);
    check(&results);
}

#[test]
fn one_run_and_numbers_that_are_not_finite_can_be_drawn() {
    let mut results = complete();
    for summary in &mut results.summaries {
        (summary.runs, summary.standard_error, summary.deviation) = (1, 0.0, 0.0);
        (summary.low, summary.high) = (summary.mean, summary.mean);
    }
    check(&results);
    for (index, summary) in results.summaries.iter_mut().enumerate() {
        match index % 4 {
            0 => summary.mean = f64::NAN,
            1 => summary.low = f64::NEG_INFINITY,
            2 => summary.quantile_90 = f64::NAN,
            _ => summary.iqm = f64::INFINITY,
        }
    }
    results.timings.iter_mut().step_by(2).for_each(|timing| timing.microseconds = f64::NAN);
    results.timings.iter_mut().step_by(3).for_each(|timing| timing.microseconds = 0.0);
    check(&results);
    results.summaries.iter_mut().for_each(|summary| summary.mean = f64::NAN);
    check(&results);
}

#[test]
fn published_points_are_hollow_and_ours_are_full() {
    let figures = pictures(&complete());
    let cycles = figures.iter().find(|figure| figure.id == "fig3-cycles").unwrap();
    let document = Document::parse(&cycles.svg).unwrap();
    let signs = |look: fn(&Node) -> bool, title: &str| {
        let signs =
            document.descendants().filter(|node| node.has_tag_name("rect") || node.has_tag_name("polygon"));
        let found = signs.filter(|node| look(node) && node.first_element_child().is_some());
        found
            .filter(|node| node.first_element_child().unwrap().text().unwrap_or_default().starts_with(title))
            .count()
    };
    let hollow = signs(|node| node.attribute("fill") == Some("none"), "");
    let full = signs(|node| node.attribute("fill") != Some("none"), "Moore & Atkeson");
    // 14 points per task have cycles, and value iteration and R-max one each; three tasks, two views; some lie outside the
    // close view.
    assert!(hollow > 3 * 16, "{hollow}");
    assert!(full >= 3 * 4, "{full}");
}

#[test]
fn a_method_looks_the_same_everywhere_and_no_two_look_alike() {
    let look = |method: &str| palette::look(&method.into());
    let methods =
        ["small_backups", "reversed_full_backups", "moore_atkeson", "peng_williams", "wiering_schmidhuber"];
    let rest = ["value_iteration", "r_max", "td_constant", "td_decaying"];
    let looks: Vec<_> = methods.iter().chain(&rest).map(|method| look(method).0).collect();
    for (index, look) in looks.iter().enumerate() {
        assert!(!looks[..index].contains(look), "{look:?}");
    }
    assert_eq!(look("small_backup").0, look("small_backups").0);
    assert_eq!(look("my_planner"), look("my_planner"));
    assert_eq!(Method::from("my_planner").title(), "My planner");
}

/// An experiment of a user, with names that try to break the page.
fn users_own() -> Results {
    let name = "my <own> & \"experiment\"/../x".to_string();
    let title = "A very long title ".repeat(20) + "<script>alert(1)</script>";
    let tasks = vec![("grid".to_string(), "cliff </svg><b>".to_string())];
    let info = ExperimentInfo {
        name: name.clone(),
        title,
        runs: 10,
        text: "a = 1\n".into(),
        tasks,
        ..ExperimentInfo::default()
    };
    let mut results = Results { experiments: vec![info], ..Results::default() };
    for method in ["small_backups", "my_planner"] {
        for cycles in [1, 2, 4] {
            let score = 10.0 - f64::from(cycles);
            let key = key(&name, "grid", method, Some(cycles), None);
            results.timings.push(timing(key.clone(), Unit::Step, f64::from(cycles)));
            results.summaries.push(summary(key, score, 0.5));
        }
        results.summaries.push(summary(key(&name, "plain", method, None, Some(0.5)), 3.0, 0.5));
    }
    results.summaries.push(summary(key(&name, "grid", "value_iteration", None, None), 9.5, 0.2));
    results
}

#[test]
fn an_experiment_of_a_user_is_drawn_safely() {
    let results = users_own();
    assert_eq!(ids(&results), ["my--own-----experiment-----x", "my--own-----experiment-----x-time"]);
    check(&results);
    let svg = &pictures(&results)[0].svg;
    assert!(!svg.contains("<script") && !svg.contains("<b>"), "{svg}");
    assert!(svg.contains("My planner"));
}

#[test]
fn files_are_written_and_a_missing_folder_is_named() {
    let folder = std::env::temp_dir().join(format!("backsweep-figures-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let figures = draw_all(&users_own(), &folder).unwrap();
    let [svg, png] = &figures[0].files[..] else { panic!("two files") };
    assert_eq!(std::fs::read_to_string(svg).unwrap(), figures[0].svg);
    let png = std::fs::read(png).unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    // Bytes 16 to 20 hold the width: twice that of the SVG.
    let document = Document::parse(&figures[0].svg).unwrap();
    let wide: u32 = document.root_element().attribute("width").unwrap().parse().unwrap();
    assert_eq!(u32::from_be_bytes(png[16..20].try_into().unwrap()), 2 * wide);
    std::fs::remove_dir_all(&folder).unwrap();
    let error = draw_all(&users_own(), &folder).unwrap_err().to_string();
    assert!(error.contains("cannot be written"), "{error}");
}

#[test]
fn the_picture_of_a_maze_shows_its_cells() {
    let maze = Maze::parse("S.#\n.~G\n~ = -5").unwrap();
    let svg = maze_svg("m", "a < b", &maze);
    let document = Document::parse(&svg).unwrap();
    let count =
        |class: &str| document.descendants().filter(|node| node.attribute("class") == Some(class)).count();
    assert_eq!((count("start"), count("goal"), count("reward")), (1, 1, 1));
    assert_eq!(count("wall"), 2, "one in the maze, one in the key");
}

#[test]
fn the_maze_of_a_user_is_drawn_with_its_rewards() {
    let info = MazeInfo {
        task: "grid".into(),
        text: Some("S..#\n.#.x\n..~G\n~ = -5\nx = -100 end\nG = 10".into()),
        law: Law::Four { intended: 1.0 },
        step_reward: -1.0,
    };
    let mut results = users_own();
    let drawn = |results: &Results| pictures(results).into_iter().find(|figure| figure.id.contains("-maze-"));
    assert!(drawn(&results).is_none());
    results.experiments[0].mazes = vec![info.clone()];
    let figure = drawn(&results).unwrap();
    let document = Document::parse(&figure.svg).unwrap();
    let nodes = |class: &str| {
        document.descendants().filter(|node| node.attribute("class") == Some(class)).collect::<Vec<_>>()
    };
    assert_eq!(["start", "goal", "reward", "trap"].map(|class| nodes(class).len()), [1, 1, 1, 1]);
    let rewards = "A step gives −1; a goal 10; a yellow cell −5; a pink cell, which ends the episode, −100.";
    assert_eq!(figure.caption, rewards);
}
