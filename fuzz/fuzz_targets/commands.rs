//! The page's commands, one JSON text per line, sent to a real engine: each is carried out or refused with a reason, the engine
//! never panics, and what it shows can be read by a page.
#![no_main]

use backsweep_watch::engine::{Engine, ViewerCommand};
use backsweep_watch::scene::Scene;
use libfuzzer_sys::fuzz_target;

/// Commands per input: more of them only take longer.
const MAX_COMMANDS: usize = 12;

/// A small maze with a pit, so that most commands take microseconds.
const MAZE: &str = "S..\n.#~\n..G\n\n~ = -1\n";

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let scene = Scene { maze: MAZE.into(), ..Scene::default() };
    let (engine, thread) = Engine::start(scene, false, None).expect("the maze is valid");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime without drivers");
    for line in text.lines().take(MAX_COMMANDS) {
        let Ok(command) = serde_json::from_str::<ViewerCommand>(line) else { continue };
        let before = engine.frame();
        match runtime.block_on(engine.send(command)) {
            Ok(done) => assert!(done.number > before.number, "no frame shows what was done"),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        readable(&engine);
        let look = |cell| runtime.block_on(engine.cell(cell));
        assert!(look(0).is_some() && look(u32::MAX).is_none());
    }
    engine.end();
    thread.join().expect("the engine ended well");
});

/// A page can read what the engine shows.
fn readable(engine: &Engine) {
    let frame = engine.frame();
    assert!(!frame.text().contains('\n'), "a frame is one line of an event");
    for agent in &frame.agents {
        // JSON would have `null` in the place of any other.
        assert!(agent.values.iter().chain(&agent.q).all(|value| value.is_finite()));
        assert!(agent.span().0.is_finite() && agent.span().1.is_finite());
    }
}
