//! What `docs/reference/control.md` shows works as it stands there.

use std::process::Command as Process;

use testkit::{Command, Fleetfoot};

use super::port::{counting, visit};
use crate::setup::cached;

/// The commands of the page, one a line, without what is said about them behind `  #`.
fn commands() -> Vec<String> {
    let page = include_str!("../../../docs/reference/control.md");
    let mut inside = false;
    let mut commands = Vec::new();
    for line in page.lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            command if inside => {
                let (command, _about) = command.split_once("  #").unwrap_or((command, ""));
                commands.push(command.trim().to_owned());
            }
            _ => {}
        }
    }
    commands
}

/// Words as a shell would have them: quotes hold one together.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, piece) in command.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(piece.to_owned());
        } else {
            words.extend(piece.split_whitespace().map(str::to_owned));
        }
    }
    words
}

fn run(fleetfoot: &Fleetfoot, command: &str) -> String {
    let admin = fleetfoot.admin().to_string();
    let words = words(&command.replace("127.0.0.1:9090", &admin));
    let (program, rest) = words.split_first().expect("a command has a word");
    let mut rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    if program == "curl" {
        rest.push("--fail");
        let output = Process::new("curl").args(&rest).output().expect("the set-up installs curl");
        assert!(output.status.success(), "{command}: {output:?}");
        return String::from_utf8_lossy(&output.stdout).into_owned();
    }
    assert_eq!(program, "fleetfoot", "{command}");
    if !rest.contains(&"--admin") {
        rest.extend(["--admin", &admin]);
    }
    let folder = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(folder.path().join("urls.txt"), "# comment\nhttp://shop.example/products/7\n")
        .expect("a file");
    let finished = Command::new(&rest).folder(folder.path()).run("");
    assert_eq!(finished.code, Some(0), "{command}: {finished:?}");
    finished.stdout
}

#[test]
fn every_command_of_the_page_works() {
    let origin = counting("Cache-Tag: product-7 category-2");
    let fleetfoot = cached(&origin);
    let commands = commands();
    assert!(commands.len() >= 12, "{commands:#?}");
    for command in &commands {
        visit(&fleetfoot, "http://shop.example/products/7", "");
        let said = run(&fleetfoot, command);
        assert!(!said.trim().is_empty(), "{command} says nothing");
    }
    assert!(run(&fleetfoot, "fleetfoot cache get http://shop.example/products/7").contains("product-7"));
}
