//! Worlds that are painted and broken.

use backsweep::State;
use backsweep_worlds::Law;
use backsweep_worlds::grid_world::{Brush, GridWorld};

fn world(maze: &str) -> GridWorld {
    GridWorld::of_maze(maze, Law::Fifteen).unwrap()
}

#[test]
fn rewards_beyond_what_values_can_hold_are_refused_at_the_door() {
    let world = |reward: &str| GridWorld::of_maze(&format!("S~G\n~ = {reward}\n"), Law::Fifteen);
    let error = world("1e308").unwrap_err().to_string();
    assert_eq!(error, "line 1, column 2: the reward of this cell is 1e308; expected -1e9 to 1e9");
    assert!(world("-1e9").is_ok());
}

#[test]
fn a_byte_order_mark_is_not_a_cell() {
    let world = world("\u{feff}S.G\n");
    assert_eq!((world.n_columns(), world.text().as_str()), (3, "S.G\n"));
}

#[test]
fn a_reward_that_is_painted_over_leaves_the_legend() {
    let world = world("S~.\n.~G\n~ = -5\nG = 10\n");
    let world = world.painted(State(1), Brush::Wall).unwrap();
    assert_eq!(world.text(), "S#.\n.~G\n~ = -5\nG = 10\n");
    let world = world.painted(State(4), Brush::Free).unwrap();
    assert_eq!(world.text(), "S#.\n..G\nG = 10\n");
    assert!(GridWorld::of_maze(&world.text(), Law::Fifteen).is_ok());
}

#[test]
fn a_painted_reward_has_a_line_in_the_legend() {
    let paint = |world: &GridWorld, cell, reward| world.painted(State(cell), Brush::Reward(reward));
    let world = paint(&world("S..a\n...G\na = -5\n"), 1, 2.5).unwrap();
    assert_eq!(world.text(), "Sb.a\n...G\na = -5\nb = 2.5\n");
    // Equal rewards share a character; one that is no longer used is free again.
    let world = paint(&paint(&world, 2, -5.0).unwrap(), 1, -5.0).unwrap();
    assert_eq!(world.text(), "Saaa\n...G\na = -5\n");
    assert_eq!(paint(&world, 4, 7.0).unwrap().text(), "Saaa\nb..G\na = -5\nb = 7\n");
    for reward in [f64::NAN, f64::INFINITY, 2e9] {
        assert!(paint(&world, 4, reward).is_err(), "{reward}");
    }
    assert!(paint(&world, 0, 1.0).is_err(), "no start would be left");
}

#[test]
fn a_wall_closes_the_passage_on_the_path_and_leaves_another_way() {
    // East along the upper passage, two cells wide; the lower way is longer.
    let maze = "S......G\n........\n.######.\n........\n";
    let broken = world(maze).with_wall_on_path(|_| 0b100).unwrap();
    assert_eq!(broken.text(), "S...#..G\n....#...\n.######.\n........\n");
    assert!(!broken.is_closed());
    let only_way = world("S..G\n").with_wall_on_path(|_| 0b100).unwrap_err().to_string();
    assert!(only_way.contains("no other way"), "{only_way}");
}

#[test]
fn a_policy_that_runs_in_circles_is_broken_all_the_same() {
    let broken = world("S..\n.#.\n..G\n").with_wall_on_path(|_| 0b100_0001).unwrap();
    assert_eq!(broken.text().matches('#').count(), 2);
    assert!(!broken.is_closed());
}

#[test]
fn a_shortcut_is_the_wall_that_saves_most() {
    let maze = "S##..\n.#.#.\n...#G\n";
    assert_eq!(world(maze).with_shortcut().unwrap().text(), "S##..\n.#.#.\n....G\n");
    assert!(world("S.G\n").with_shortcut().is_err());
    assert!(world("S#G\n").is_closed());
    assert!(!world("S#G\n").with_shortcut().unwrap().is_closed());
}
