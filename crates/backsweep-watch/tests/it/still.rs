//! Parts that need no engine thread: the terminal's picture, exported files, the mazes that come with the program.

use backsweep_watch::engine::recording::frame_after;
use backsweep_watch::export::page;
use backsweep_watch::mazes;
use backsweep_watch::scene::Scene;
use backsweep_watch::terminal::{Colors, picture};
use backsweep_worlds::{Law, Maze, MazeTask};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

fn without_escapes(line: &str) -> String {
    let mut plain = String::new();
    let mut is_code = false;
    for c in line.chars() {
        match c {
            '\x1b' => is_code = true,
            'm' if is_code => is_code = false,
            _ if is_code => {}
            c => plain.push(c),
        }
    }
    plain
}

#[test]
fn the_maze_is_drawn_with_and_without_colors() {
    let frame = frame_after(Scene::default(), 30).unwrap();
    let plain = picture(&frame, Colors::None, (100, 50)).unwrap();
    assert!(!plain.contains('\x1b'), "no escape codes without colors");
    let lines: Vec<&str> = plain.lines().collect();
    assert_eq!(lines.len(), 1 + 23 + 3);
    assert_eq!(plain.matches("██").count(), 26 * 23 - 501);
    assert_eq!(plain.matches('●').count(), 1);
    assert!(plain.matches(['↑', '→', '↓', '←']).count() > 450, "{plain}");
    for colors in [Colors::Few, Colors::All] {
        let picture = picture(&frame, colors, (100, 50)).unwrap();
        assert_eq!(picture.matches("\x1b[0m").count(), 26 * 23);
    }
    for (columns, rows) in [(80, 24), (40, 12), (20, 50)] {
        for colors in [Colors::None, Colors::Few] {
            let text = picture(&frame, colors, (columns, rows)).unwrap();
            assert!(text.lines().count() <= rows, "{} lines in {rows}", text.lines().count());
            let plain: Vec<String> = text.lines().map(without_escapes).collect();
            let longest = plain.iter().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= columns, "{longest} columns in {columns}");
            assert!(plain.iter().any(|line| line.contains('●')), "the agent is always seen");
            assert!(plain[plain.len() - 3].starts_with("episode 30"));
        }
    }
    // With colors, all of the paper's maze fits into 80 columns and 24 lines.
    let whole = picture(&frame, Colors::Few, (80, 24)).unwrap();
    assert_eq!(whole.lines().count(), 1 + 12 + 3);
    assert_eq!(whole.matches("\x1b[0m").count(), 26 * 12);
    let narrow = picture(&frame, Colors::None, (40, 50)).unwrap();
    assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
}

#[test]
fn a_file_asks_for_nothing_and_is_small() {
    let scene = Scene { maze: "S..\n.#.\n..G\n".into(), min_visits: 1, ..Scene::default() };
    let page = page(&scene, 5).unwrap();
    assert!(page.len() < 5_000_000);
    for foreign in ["src=\"/", "href=\"/", "http-equiv", "{token}"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    // Every script that is imported is in the file.
    let map = page.split("<script type=\"importmap\">").nth(1).unwrap().split("</script>").next().unwrap();
    let map: serde_json::Value = serde_json::from_str(map).unwrap();
    let scripts = map["imports"].as_object().unwrap();
    assert!(scripts.contains_key("main.js"));
    for (name, address) in scripts {
        let code = address.as_str().unwrap().split(',').nth(1).unwrap();
        let code = String::from_utf8(STANDARD.decode(code).unwrap()).unwrap();
        for part in code.split("from \"").skip(1) {
            let wanted = part.split('"').next().unwrap();
            assert!(scripts.contains_key(wanted), "{name} imports {wanted}");
        }
    }
}

#[test]
fn episodes_that_do_not_end_are_refused() {
    let error = page(&Scene { maze: "S#G\n".into(), ..Scene::default() }, 1).unwrap_err().to_string();
    assert!(error.contains("check that a path leads to the goal"), "{error}");
}

#[test]
fn all_mazes_have_a_way_to_the_goal() {
    for maze in mazes::all().as_array().unwrap() {
        let maze = Maze::parse(maze["text"].as_str().unwrap()).unwrap();
        MazeTask::new(maze, Law::Fifteen, -1.0).unwrap();
    }
}

#[test]
fn the_optimum_is_the_best_and_not_what_exploring_earns() {
    let scene = Scene { world: Some("cliff_walking".into()), maze: String::new(), ..Scene::default() };
    let optimum = frame_after(scene, 1).unwrap().optimum.unwrap();
    assert!((optimum.best + 12.2).abs() < 0.1, "{optimum:?}: thirteen steps of −1");
    assert!((optimum.exploring + 26.9).abs() < 0.1, "{optimum:?}: ε next to the cliff");
}

#[test]
fn the_printed_points_are_those_of_the_laboratory() {
    let printed = backsweep_lab::published::figure_3().into_iter().filter(|point| point.task == 2);
    let printed: Vec<_> =
        printed.filter_map(|point| Some((point.method.to_string(), point.cycles?, point.score))).collect();
    let shown =
        backsweep_page::about::FIGURE_3.map(|(planner, cycles, score)| (planner.to_owned(), cycles, score));
    assert_eq!(printed, shown);
}
