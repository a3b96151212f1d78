//! The command `watch`.

use crate::choices::{ForgettingChoice, StrategyChoice};
use crate::engine::Engine;
use crate::engine::recording::frame_after;
use crate::error::{Error, Result};
use crate::picture;
use crate::scene::{RaceResource, Scene};
use crate::server::{self, ClientLimits, Guard};
use crate::terminal::{self, Colors};
use backsweep::PlannerKind;
use backsweep_worlds::grid_world::{MAX_CELLS, MAX_TEXT, drawable_world};
use clap::Args;
use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// Watch an agent learn, in the browser, in the terminal or as a picture
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  backsweep watch --open
  backsweep watch --race moore_atkeson --equal work
  backsweep watch --world cliff_walking --explore count_bonus:0.3
  backsweep watch --terminal
  backsweep watch --export page.html --after 100")]
pub struct WatchArgs {
    /// Planner: reversed_full_backups, small_backups, moore_atkeson, peng_williams, wiering_schmidhuber or value_iteration
    #[arg(long, default_value = "reversed_full_backups", value_parser = backsweep_baselines::named)]
    planner: PlannerKind,
    /// A second planner that learns alongside the first from the same random numbers
    #[arg(long, value_name = "PLANNER", value_parser = backsweep_baselines::named)]
    race: Option<PlannerKind>,
    /// The resource that both planners in a race receive equally
    #[arg(long, value_name = "RESOURCE", default_value = "steps", requires = "race")]
    equal: RaceResource,
    /// The way the agent explores: paper (ε and M), epsilon_greedy, optimism, count_bonus:β, variance_bonus:c, bayes_bonus:β, achievable_bonus:β or posterior_sampling:prior
    #[arg(long, value_name = "METHOD", default_value = "paper")]
    explore: StrategyChoice,
    /// The way the agent forgets: never, half_life:STEPS, window:OBSERVATIONS or per_visit:FACTOR
    #[arg(long, value_name = "METHOD", default_value = "never")]
    forget: ForgettingChoice,
    /// The way the second planner of a race explores [default: like the first]
    #[arg(long, value_name = "METHOD", requires = "race")]
    race_explore: Option<StrategyChoice>,
    /// The way the second planner of a race forgets [default: like the first]
    #[arg(long, value_name = "METHOD", requires = "race")]
    race_forget: Option<ForgettingChoice>,
    /// Update cycles after every step
    #[arg(long, default_value_t = 1)]
    cycles: u64,
    /// Probability of a random action
    #[arg(long, default_value_t = 0.05)]
    epsilon: f64,
    /// M: a pair is treated as worth 0 until tried M times
    #[arg(long, value_name = "M", default_value_t = 4)]
    min_visits: u32,
    /// Discount [default: 0.99, or that of --world]
    #[arg(long)]
    discount: Option<f64>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Outcome law: fifteen (up to 15 outcomes) or four (the four neighbors)
    #[arg(long, default_value = "fifteen")]
    law: String,
    /// Probability of the intended neighbor, with --law four
    #[arg(long, value_name = "P", default_value_t = 0.8)]
    intended: f64,
    /// Maze file ('#' wall, '.' or an inner space free, 'S' start, 'G' goal, others with a reward below the maze, as in '~ = -5') [default: the paper's maze]
    #[arg(long, value_name = "FILE")]
    maze: Option<PathBuf>,
    /// World of the exploration suite, by its own rules: cliff_walking, frozen_lake_8x8, deep_sea_20, blocking_maze, shortcut_maze, …
    #[arg(long, value_name = "NAME", conflicts_with_all = ["maze", "law", "intended"])]
    world: Option<String>,
    /// Steps per second, or 'max'
    #[arg(long, default_value = "600")]
    speed: String,
    /// Start paused
    #[arg(long)]
    paused: bool,
    /// Port of the page; 0 is any free one [default: 8213, or the next free one]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Address to listen on; anything but 127.0.0.1 may let other machines watch and control
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// Additional `Host` header to accept (may be repeated)
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Draw in the terminal instead
    #[arg(long, conflicts_with_all = ["record", "open"])]
    terminal: bool,
    /// Write a picture (PNG) instead, after --after episodes
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Write one self-contained page with a recorded run instead: it opens from disk, without a server
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "terminal", "open"])]
    export: Option<PathBuf>,
    /// The number of episodes after which --record draws, and --export and --terminal end
    #[arg(long, value_name = "EPISODES")]
    after: Option<u64>,
    /// Draw a light picture, with --record
    #[arg(long, requires = "record")]
    light: bool,
}

impl WatchArgs {
    /// The scene that the arguments describe.
    ///
    /// # Errors
    /// One line that names what is wrong.
    fn scene(&self) -> Result<Scene> {
        let maze = match (&self.maze, &self.world) {
            (Some(path), _) => read_maze(path)?,
            (None, Some(_)) => String::new(),
            (None, None) => Scene::default().maze,
        };
        let own = self.world.as_ref().map(|name| drawable_world(name, self.seed)).transpose()?;
        let speed = match self.speed.as_str() {
            "max" => None,
            number => Some(number.parse().map_err(|_| {
                Error::new(format!("--speed {number}: expected steps per second, 0.1 to 1000000, or 'max'"))
            })?),
        };
        let scene = Scene {
            planner: self.planner,
            rival: self.race,
            race: self.equal,
            explore: self.explore,
            forget: self.forget,
            rival_explore: self.race_explore,
            rival_forget: self.race_forget,
            cycles: self.cycles,
            epsilon: self.epsilon,
            min_visits: self.min_visits,
            discount: self.discount.unwrap_or(own.map_or(Scene::default().discount, |world| world.discount)),
            seed: self.seed,
            law: self.law.clone(),
            intended: self.intended,
            world: self.world.clone(),
            maze,
            speed,
        };
        scene.check()
    }
}

/// The default number of episodes for pictures.
const EPISODES: u64 = 50;

/// Runs the command. Returns when the user ends it.
///
/// # Errors
/// One line for the user.
pub fn run(args: &WatchArgs) -> Result<()> {
    let scene = args.scene()?;
    let is_page = args.record.is_none() && args.export.is_none() && !args.terminal;
    if let (Some(episodes), true) = (args.after, is_page) {
        return Err(Error::new(format!(
            "--after {episodes}: the page has no end; use --after with --terminal, --record or --export"
        )));
    }
    if args.equal != RaceResource::Steps && !is_page && !(args.terminal && terminal::can_move()) {
        return Err(Error::new("--equal: a race that is not live runs on equal steps; omit --equal"));
    }
    let episodes = args.after.unwrap_or(EPISODES);
    if let Some(path) = &args.record {
        let frame = args.located(frame_after(scene, episodes))?;
        write(path, &picture::png(&frame, args.light)?)?;
        say(std::io::stderr(), &format!("Wrote {} after {episodes} episodes.", path.display()));
        return Ok(());
    }
    if let Some(path) = &args.export {
        let page = args.located(crate::export::page(&scene, episodes))?;
        write(path, page.as_bytes())?;
        let size = page.len() / 1000;
        let line =
            format!("Wrote {} ({size} kB): {episodes} episodes. Open it in any browser.", path.display());
        say(std::io::stderr(), &line);
        return Ok(());
    }
    if args.terminal && !terminal::can_move() {
        // The output is not a terminal: print one picture when done.
        let frame = args.located(frame_after(scene, episodes))?;
        terminal::print(&terminal::picture(&frame, Colors::of_environment(), (100, 50))?);
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::new(format!("cannot start an event loop: {error}")))?;
    let last_episode = args.after.filter(|_| args.terminal);
    let (engine, thread) = args.located(Engine::start(scene, !args.paused, last_episode))?;
    let outcome = runtime.block_on(async {
        if args.terminal {
            terminal::show(&engine, args.after, interrupt()).await
        } else {
            serve(args, &engine).await
        }
    });
    engine.end();
    // It ends within milliseconds; if it panicked there is nothing to save.
    let _ = thread.join();
    outcome
}

impl WatchArgs {
    /// Names the file of a faulty maze.
    fn located<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| match &self.maze {
            Some(path) => error.at(path),
            None => error,
        })
    }
}

/// Reads a maze. A file that is too large for one is refused before it is read.
fn read_maze(path: &Path) -> Result<String> {
    let unreadable = |error: std::io::Error| {
        Error::new(format!("{}: cannot be read: {error}; check the path", path.display()))
    };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(MAX_TEXT as u64 + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() > MAX_TEXT {
        return Err(Error::new(format!(
            "{}: larger than {MAX_TEXT} bytes; expected a maze of at most {MAX_CELLS} cells",
            path.display()
        )));
    }
    Ok(text)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|error| {
        Error::new(format!("{}: cannot be written: {error}; choose another file", path.display()))
    })
}

/// Prints a line, if anybody reads it.
fn say(mut to: impl std::io::Write, line: &str) {
    let _ = writeln!(to, "{line}").and_then(|()| to.flush());
}

/// Ready when the program should end: on Ctrl-C, or on a signal such as that of a closed terminal.
#[cfg(unix)]
async fn interrupt() {
    use tokio::signal::unix::{SignalKind, signal};
    let wait = async |kind: SignalKind| match signal(kind) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    };
    tokio::select! {
        () = wait(SignalKind::interrupt()) => {}
        () = wait(SignalKind::terminate()) => {}
        () = wait(SignalKind::hangup()) => {}
    }
}

/// Ready when the user presses Ctrl-C.
#[cfg(not(unix))]
async fn interrupt() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The address to open: a server that listens on all addresses of this machine is reached on the local one.
fn to_open(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => std::net::Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => std::net::Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

async fn serve(args: &WatchArgs, engine: &Engine) -> Result<()> {
    let listener = bind(args.host, args.port)?;
    let address =
        listener.local_addr().map_err(|error| Error::new(format!("the server has no address: {error}")))?;
    let guard = Guard::new(address, args.allow_host.clone())
        .map_err(|error| Error::new(format!("the system did not provide random numbers: {error}")))?;
    let url = format!("http://{}/", to_open(address));
    // Polled once before anything is printed, so that Ctrl-C is caught from the first line on.
    let mut interrupted = Box::pin(interrupt());
    let none_yet = std::future::poll_fn(|context| {
        use std::task::Poll;
        Poll::Ready(interrupted.as_mut().poll(context).is_pending())
    });
    if !none_yet.await {
        return Ok(());
    }
    say(std::io::stdout(), &url);
    say(std::io::stderr(), "Open the address above in a browser to watch. Press Ctrl-C to stop.");
    if args.host.is_unspecified() {
        let line =
            format!("From other machines, use the name or address of this one with port {}.", address.port());
        say(std::io::stderr(), &line);
    }
    if !args.host.is_loopback() {
        say(std::io::stderr(), "Anyone who can reach this machine on that port can watch and control.");
    }
    if args.open {
        open_browser(&url);
    }
    server::serve(listener, engine.clone(), guard, ClientLimits::default(), interrupted).await;
    say(std::io::stderr(), "Ended.");
    Ok(())
}

/// The port of the page, unless it is in use or another one was chosen: links, and what the browser keeps for the page, then
/// outlive the program.
const PORT: u16 = 8213;
/// The number of ports to try before any free one will do.
const N_PORTS: u16 = 32;

/// Listens on an address. If a port was chosen and is in use, the error names the next free one.
fn bind(host: IpAddr, port: Option<u16>) -> Result<tokio::net::TcpListener> {
    let Some(port) = port else {
        let free = (PORT..PORT + N_PORTS).find_map(|port| server::listen(SocketAddr::new(host, port)).ok());
        return free.map_or_else(|| bind(host, Some(0)), Ok);
    };
    let address = SocketAddr::new(host, port);
    let error = match server::listen(address) {
        Ok(listener) => return Ok(listener),
        Err(error) => error,
    };
    if error.kind() == std::io::ErrorKind::AddrInUse {
        let free = (address.port()..u16::MAX)
            .map(|port| port + 1)
            .find(|&port| server::listen(SocketAddr::new(address.ip(), port)).is_ok());
        let hint = free.map_or_else(String::new, |port| format!("; {port} is free: --port {port}"));
        return Err(Error::new(format!("port {} is in use{hint}", address.port())));
    }
    Err(Error::new(format!("cannot listen on {address}: {error}")))
}

/// Asks the desktop to open an address; if it cannot, the address has been printed.
fn open_browser(url: &str) {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("explorer", &[])
    } else {
        ("xdg-open", &[])
    };
    let started = std::process::Command::new(program)
        .args(arguments)
        .arg(url)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    if started.is_err() {
        let line =
            format!("Cannot open a browser ({program} was not found). Open the address above yourself.");
        say(std::io::stderr(), &line);
    }
}
