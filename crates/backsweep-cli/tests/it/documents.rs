//! The documents show what the command does: its help, and what the examples print.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn backsweep(folder: &Path, arguments: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_backsweep")).current_dir(folder).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace("\r\n", "\n")
}

fn documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The subcommands that a help text lists, without `help` itself.
fn subcommands(help: &str) -> Vec<String> {
    let list =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    list.filter_map(|line| line.split_whitespace().next())
        .filter(|&name| name != "help")
        .map(str::to_owned)
        .collect()
}

/// One section per command, in the order of `--help`.
fn reference() -> String {
    fn add(page: &mut String, path: &[String]) {
        let arguments = [path, &["--help".to_owned()]].concat();
        let help = text(&backsweep(Path::new("."), &arguments).stdout);
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        let title =
            ["backsweep"].into_iter().chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        *page += &format!("\n## {title}\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
        for name in subcommands(&help) {
            add(page, &[path, &[name]].concat());
        }
    }
    let mut page = "# The command\n\nGenerated from `backsweep --help` and the like by `scripts/update-help`. Every error is one line on\n\
        standard error and exit status 2.\n"
        .to_owned();
    add(&mut page, &[]);
    page
}

#[test]
fn the_reference_is_the_help() {
    let path = documents().join("reference/command.md");
    let page = reference();
    let sections: Vec<&str> = page.split("\n## ").skip(1).collect();
    assert!(sections.len() > 15, "{page}");
    for section in sections {
        assert!(section.contains("\nExamples:\n"), "the help of a command has no examples: {section}");
    }
    if std::env::var_os("BACKSWEEP_UPDATE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let stored = std::fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    assert!(
        stored == page,
        "docs/reference/command.md is not what the command prints; run scripts/update-help"
    );
}

/// The fenced blocks of a page: what follows the fence's backticks, and the lines, without their indentation.
fn blocks(page: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut indent = None;
    for line in page.lines() {
        let bare = line.trim_start();
        match indent {
            None => {
                if let Some(kind) = bare.strip_prefix("```") {
                    indent = Some(line.len() - bare.len());
                    found.push((kind.to_owned(), Vec::new()));
                }
            }
            Some(_) if bare.starts_with("```") => indent = None,
            Some(width) => found.last_mut().unwrap().1.push(line.get(width..).unwrap_or("").to_owned()),
        }
    }
    found
}

/// Returns true if `shown` is what was printed: blanks count as one, `...` stands for anything, within a line or for lines.
fn shows(shown: &[String], printed: &[String]) -> bool {
    let Some((first, rest)) = shown.split_first() else { return printed.is_empty() };
    if first == "..." {
        return (0..=printed.len()).any(|skipped| shows(rest, &printed[skipped..]));
    }
    let Some((line, after)) = printed.split_first() else { return false };
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = words(line);
    let matches = match first.split_once("...") {
        None => words(first) == line,
        Some((start, end)) => {
            let (start, end) = (words(start), words(end));
            line.len() >= start.len() + end.len() && line.starts_with(&start) && line.ends_with(&end)
        }
    };
    matches && shows(rest, after)
}

/// Runs the `console` blocks of a page in a folder with the files that the page shows; returns how many commands ran.
fn run_page(path: &Path) -> usize {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let folder = std::env::temp_dir().join(format!("backsweep-documents-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut n_commands = 0;
    for (kind, lines) in blocks(&std::fs::read_to_string(path).unwrap()) {
        if let Some((_, title)) = kind.split_once("title=\"") {
            std::fs::write(folder.join(title.trim_end_matches('"')), lines.join("\n") + "\n").unwrap();
        }
        if kind.trim() != "console" {
            continue;
        }
        for part in lines.join("\n").split("$ ").filter(|part| !part.trim().is_empty()) {
            let (command, shown) = part.split_once('\n').unwrap_or((part, ""));
            let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
            assert_eq!(words[0], "backsweep", "{}: {command}", path.display());
            let done = backsweep(&folder, &words[1..]);
            assert!(done.status.success(), "{}: {command}: {}", path.display(), text(&done.stderr));
            let to_lines = |text: &str| text.trim_end().lines().map(str::to_owned).collect::<Vec<_>>();
            let printed = text(&done.stdout);
            assert!(
                shows(&to_lines(shown), &to_lines(&printed)),
                "{}: {command} printed\n{printed}\ninstead of\n{shown}",
                path.display()
            );
            n_commands += 1;
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    n_commands
}

#[test]
fn examples_print_what_the_documents_show() {
    let mut n_commands = 0;
    let mut folders = vec![documents()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                n_commands += run_page(&path);
            }
        }
    }
    n_commands += run_page(&documents().join("../README.md"));
    assert!(n_commands >= 6, "{n_commands}");
}

#[test]
fn abridged_output_is_told_from_wrong_output() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let printed = lines("a 1.5  x\nb\nc");
    assert!(shows(&lines("a 1.5 x\nb\nc"), &printed));
    assert!(shows(&lines("a 1 ... x\n...\nc"), &lines("a 1 2 x\nb\nc")));
    assert!(shows(&lines("...\nc"), &printed));
    assert!(!shows(&lines("a 1.5 x\nb"), &printed));
    assert!(!shows(&lines("a 2... x\n..."), &printed));
    assert!(!shows(&lines("...\nb"), &printed));
}

/// The files that the wheel installs next to the command: completions and manual pages.
#[test]
fn the_package_has_the_completions_and_manual_pages_of_this_command() {
    let share = documents().join("../python/data/data/share");
    let to = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let mut expected = Vec::new();
    for (shell, path) in [
        ("bash", "bash-completion/completions/backsweep"),
        ("zsh", "zsh/site-functions/_backsweep"),
        ("fish", "fish/vendor_completions.d/backsweep.fish"),
    ] {
        let script = text(&backsweep(Path::new("."), &to(&["completions", shell])).stdout);
        expected.push((path.to_owned(), script));
    }
    let folder = std::env::temp_dir().join(format!("backsweep-pages-{}", std::process::id()));
    assert!(backsweep(Path::new("."), &to(&["man", folder.to_str().unwrap()])).status.success());
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        expected.push((format!("man/man1/{name}"), std::fs::read_to_string(folder.join(&name)).unwrap()));
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(expected.len() > 15, "{}", expected.len());
    for (path, now) in expected {
        let path = share.join(path);
        if std::env::var_os("BACKSWEEP_UPDATE").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &now).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        assert!(stored == now, "{} is not what the command writes; run scripts/update-help", path.display());
    }
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let folder = std::env::temp_dir().join(format!("backsweep-man-{}", std::process::id()));
    let to = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let help = text(&backsweep(Path::new("."), &to(&["--help"])).stdout);
    let bash = text(&backsweep(Path::new("."), &to(&["completions", "bash"])).stdout);
    let done = backsweep(Path::new("."), &to(&["man", folder.to_str().unwrap()]));
    assert!(done.status.success(), "{}", text(&done.stderr));
    for name in subcommands(&help) {
        assert!(
            bash.contains(&format!("backsweep__{name}")) || bash.contains(&format!("backsweep,{name})")),
            "{name}"
        );
        let page = std::fs::read_to_string(folder.join(format!("backsweep-{name}.1"))).unwrap();
        assert!(page.contains(".SH DESCRIPTION"), "{page}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    let refused = backsweep(Path::new("."), &to(&["completions", "tcsh"]));
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(text(&refused.stderr).lines().count(), 1);
}
