//! Examples: the example file, the reference and the guide. None of them can rot: all that stands there compiles.

use std::fs;
use std::path::{Path, PathBuf};

use plan::{load, reference, schema};
use tempfile::TempDir;

/// A file of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A folder with every file that examples name.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["acme.key", "beta.key"] {
        fs::write(folder.path().join(name), format!("the-api-key-of-{name}\n")).unwrap();
    }
    for name in ["tokens.json", "cached.json"] {
        fs::write(folder.path().join(name), "{}").unwrap();
    }
    for name in ["shop.db", "math.wasm", "math.wat", "tools.wasm", "hooks.wat"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    fs::write(folder.path().join("database.password"), "a-password\n").unwrap();
    fs::write(folder.path().join("redis.password"), "a-password\n").unwrap();
    for name in ["chain.pem", "key.pem", "ca.pem"] {
        fs::write(folder.path().join(name), "-").unwrap();
    }
    fs::write(folder.path().join("admin.token"), "a-token-of-more-than-16\n").unwrap();
    fs::write(folder.path().join("main.key"), "nZtRohdNF9m3cKM24IcK4w==\n").unwrap();
    fs::write(folder.path().join("old.key"), "aZtRohdNF9m3cKM24IcK4w==\n").unwrap();
    for name in ["api.key", "api.password", "client.secret", "a.token", "b.token"] {
        fs::write(folder.path().join(name), format!("the secret in {name}\n").replace(' ', "-")).unwrap();
    }
    folder
}

fn compiles(folder: &TempDir, text: &str) {
    let path = folder.path().join("fleetfoot.yaml");
    fs::write(&path, text).unwrap();
    load(&path).unwrap_or_else(|faults| panic!("{text}\n{faults}"));
}

#[test]
fn the_examples_compile() {
    let folder = folder();
    let mut examples = 0;
    for within in ["examples", "examples/compose"] {
        for example in fs::read_dir(repository(within)).unwrap() {
            let path = example.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "yaml") {
                continue;
            }
            let example = fs::read_to_string(path).unwrap();
            compiles(&folder, &example);
            assert!(example.lines().count() <= 100, "one page");
            examples += 1;
        }
    }
    assert!(examples >= 4, "{examples}");
}

#[test]
fn the_reference_is_up_to_date() {
    let path = repository("docs/reference/configuration.md");
    if std::env::var_os("FLEETFOOT_WRITE").is_some() {
        fs::write(&path, reference()).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == reference(), "run `FLEETFOOT_WRITE=1 cargo test -p plan`");
}

const SOURCES: &str = "\
sources:
  api: http://a
  redis: redis://a
  db: sqlite:./shop.db
  math: { wasm: math.wasm }
";
const ROUTES: &str = "routes: [{ match: /**, proxy: api }]\n";

/// Lines, so much further to the right.
fn indented(lines: &str, by: usize) -> String {
    let margin = " ".repeat(by);
    lines.lines().flat_map(|line| [&margin, line, "\n"]).collect()
}

/// A whole file around keys that stand in a section.
fn around(section: &str, keys: &str) -> String {
    let policy = |keys: &str, by: usize| {
        let levels = ["policies:\n", "  p:\n", "    cache:\n", "      key:\n"];
        format!("{SOURCES}{ROUTES}{}{}", levels[..by / 2].concat(), indented(keys, by))
    };
    match section {
        "" => format!("{SOURCES}{ROUTES}{keys}\n"),
        "listen" => format!("{SOURCES}{ROUTES}listen:\n{}", indented(keys, 2)),
        "policies.<name>" => policy(keys, 4),
        "policies.<name>.limit" => {
            around("policies.<name>", &format!("limit:\n  rate: 5/s\n{}", indented(keys, 2)))
        }
        "policies.<name>.auth" => around("policies.<name>", &format!("auth:\n{}", indented(keys, 2))),
        "policies.<name>.cache" | "policies.<name>.cache.key" => policy(keys, 6),
        "routes[]" => format!("{SOURCES}routes:\n  -\n{}", indented(keys, 4)),
        "routes[].compose.<step>" => {
            around("routes[]", &format!("match: GET /x\ncompose:\n  step:\n{}", indented(keys, 4)))
        }
        "sources.<name> at a Redis" => {
            format!("sources:\n  api: http://a\n  r:\n    redis: redis://a\n{}{ROUTES}", indented(keys, 4))
        }
        "sources.<name>.tier" => {
            around("sources.<name> at a Redis", &format!("tier:\n{}", indented(keys, 2)))
        }
        other => panic!("say where the keys of {other} stand"),
    }
}

#[test]
fn the_sections_of_the_reference_compile() {
    let folder = folder();
    for section in schema() {
        let example = section.example;
        assert!(!example.contains('\n'), "it stands in messages, which are one line: {example}");
        let text = match section.path {
            "" => format!("{SOURCES}{example}\n"),
            "listen" | "limits" | "disk" => around("", example),
            "listen.tls" => format!("{SOURCES}{ROUTES}listen: {{ https: 0, {example} }}\n"),
            "secret" => around("listen", &format!("admin: 9090\n{example}")),
            "sources.<name>" => format!("sources:\n  {example}\nroutes: [{{ match: /, proxy: api }}]\n"),
            "sources.<name> at a Redis"
            | "sources.<name> in a file"
            | "sources.<name> (sql)"
            | "sources.<name> (wasm)" => {
                format!("sources:\n  api: http://a\n  {example}\n{ROUTES}")
            }
            "sources.<name>.tier" => around("sources.<name> at a Redis", example),
            "routes[].read" => around("routes[]", &format!("match: GET /x\n{example}")),
            "policies.<name>" => format!("{SOURCES}{ROUTES}policies:\n  {example}\n"),
            "policies.<name>.accounts.rotate[]" => around("policies.<name>", example),
            "policies.<name>.credentials.basic" | "policies.<name>.credentials.oauth2" => {
                around("policies.<name>", &format!("credentials: {{ {example} }}"))
            }
            path if path.strip_prefix("policies.<name>.").is_some_and(|word| !word.contains('.')) => {
                around("policies.<name>", example)
            }
            "policies.<name>.limit.queue"
            | "policies.<name>.limit.shares"
            | "policies.<name>.limit.shared" => {
                around("policies.<name>", &format!("limit: {{ rate: 5/s, {example} }}"))
            }
            "policies.<name>.concurrency.adaptive" => {
                around("policies.<name>", &format!("concurrency: {{ {example} }}"))
            }
            path if path.starts_with("policies.<name>.faults.") => {
                around("policies.<name>", &format!("faults:\n{}", indented(example, 2)))
            }
            "policies.<name>.headers.request" => {
                around("policies.<name>", &format!("headers:\n{}", indented(example, 2)))
            }
            "policies.<name>.auth.jwt" | "policies.<name>.auth.keys" => {
                around("policies.<name>.auth", example)
            }
            "policies.<name>.auth.jwt.jwks" => {
                around("policies.<name>.auth", &format!("jwt: {{ algorithms: [ES256], {example} }}"))
            }
            "policies.<name>.cache.key.query" => {
                around("policies.<name>.cache", &format!("key: {{ {example} }}"))
            }
            path if path.starts_with("policies.<name>.cache.") => around("policies.<name>.cache", example),
            "routes[]" => {
                format!("{SOURCES}policies: {{ live: {{ cache: true }} }}\nroutes:\n  {example}\n")
            }
            "routes[].compose.<step>" => {
                around("routes[]", &format!("match: GET /x/{{id}}\ncompose:\n  {example}"))
            }
            "routes[].save" => {
                around("routes[]", &format!("match: GET /x\ncompose: {{ a: {{ api: GET /a }} }}\n{example}"))
            }
            "routes[].invalidate[]" => around("routes[]", &format!("match: PUT /x\nproxy: api\n{example}")),
            _ => format!(
                "sources: {{ s: {{ http: https://a, {example} }} }}\nroutes: [{{ match: /, proxy: s }}]\n"
            ),
        };
        compiles(&folder, &text);
    }
}

#[test]
fn the_controls_of_the_reference_compile() {
    let folder = folder();
    for section in schema() {
        for word in section.words {
            let Some(more) = &word.more else { continue };
            assert!(more.example.contains(&format!("{}:", word.name)), "{}", word.name);
            assert!(more.paragraph.ends_with('.'), "{}", word.name);
            compiles(&folder, &around(section.path, more.example));
        }
    }
}

#[test]
fn every_control_of_the_cache_is_told() {
    let told: Vec<&str> = schema()
        .iter()
        .flat_map(|section| section.words)
        .filter(|word| word.more.is_some())
        .map(|word| word.name)
        .collect();
    for word in
        "mode ttl max_ttl client_ttl negative jitter early stale if_error bypass skip_for per scheme host \
                 query sort headers cookies by encodings languages no_vary_search reflected body_keys tags compress \
                 cache_status signed auth invalidate disk admin_token location tier read mode max_stale lock unheard compose respond batch"
            .split_whitespace()
    {
        assert!(told.contains(&word), "{word}");
    }
}

#[test]
fn the_guides_compile() {
    let folder = folder();
    let guides: Vec<String> = fs::read_dir(repository("docs/guide"))
        .unwrap()
        .map(|guide| fs::read_to_string(guide.unwrap().path()).unwrap())
        .collect();
    let mut blocks = 0;
    for block in guides.iter().flat_map(|guide| guide.split("```yaml\n").skip(1)) {
        let block = block.split("```").next().unwrap();
        let has = |key: &str| block.lines().any(|line| line.starts_with(key));
        let sources = if has("sources:") { "" } else { SOURCES };
        let routes = if has("routes:") { "" } else { ROUTES };
        compiles(&folder, &format!("{sources}{routes}{block}"));
        blocks += 1;
    }
    assert!(blocks >= 8, "{blocks}");
}
