//! Server: somebody to measure: started with its config on the server core, known to answer.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::failure::{Failure, Result, fail};
use crate::gateway;
use crate::http_client::HttpClient;
use crate::krakend;
use crate::process::{LOAD_CORE, Process, SERVER_CORE, pause, wait_until};

/// How somebody is started: `Setup { memory: "2GiB", ..Setup::of(kind, origin) }.start()`.
pub(crate) struct Setup<'a> {
    pub(crate) kind: Kind,
    /// In front of this origin; the Redis of a reader.
    pub(crate) origin: SocketAddr,
    /// fleetfoot's config, with places for addresses.
    pub(crate) config: &'a str,
    /// For fleetfoot's cache.
    pub(crate) memory: &'a str,
    /// Where fleetfoot's config names a folder for what it keeps.
    pub(crate) folder: &'a Path,
    /// What is asked until it answers.
    pub(crate) target: &'a str,
    /// fleetfoot is not kept to the server core.
    pub(crate) everywhere: bool,
}

/// Who can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bare,
    Fleetfoot,
    /// Another build of fleetfoot, to see what a change costs; named by `FLEETFOOT_BEFORE`.
    Before,
    Nginx,
    HaProxy,
    Varnish,
    /// Composes, and so is no part of the comparison.
    Krakend,
    /// Composes: a gateway in Go with the standard library.
    GoGateway,
    /// Composes: a gateway in Node with what comes with it.
    NodeGateway,
    /// In front of a Redis, and so no part of the comparison.
    Reader,
    /// The same with a connection to Redis for each client.
    PooledReader,
}

/// A running one.
pub(crate) struct Server {
    pub(crate) kind: Kind,
    pub(crate) version: String,
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) process: Process,
    /// Its config and whatever it writes; deleted at the end.
    directory: TempDir,
}

impl Kind {
    /// Those of the comparison, in the order of the report.
    pub(crate) const ALL: [Kind; 6] =
        [Kind::Bare, Kind::Fleetfoot, Kind::Before, Kind::Nginx, Kind::HaProxy, Kind::Varnish];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Bare => "bare",
            Kind::Fleetfoot => "fleetfoot",
            Kind::Before => "before",
            Kind::Nginx => "nginx",
            Kind::HaProxy => "haproxy",
            Kind::Varnish => "varnish",
            Kind::Krakend => "krakend",
            Kind::GoGateway => "go",
            Kind::NodeGateway => "node",
            Kind::Reader => "reader",
            Kind::PooledReader => "pooled reader",
        }
    }

    /// Where it is installed, if it is; what is written in Go is built where it can be.
    pub(crate) fn program(self) -> Option<PathBuf> {
        match self {
            Kind::Bare | Kind::Reader | Kind::PooledReader => std::env::current_exe().ok(),
            Kind::Fleetfoot => fleetfoot_program(),
            Kind::Before => std::env::var_os("FLEETFOOT_BEFORE").map(PathBuf::from),
            Kind::Nginx => installed("nginx"),
            Kind::HaProxy => installed("haproxy"),
            Kind::Varnish => installed("varnishd"),
            Kind::Krakend => krakend::program(),
            Kind::GoGateway => gateway::program(),
            Kind::NodeGateway => installed("node"),
        }
    }

    fn version(self, program: &Path) -> String {
        let arguments: &[&str] = match self {
            Kind::Bare => return "epoll loop of this suite".to_owned(),
            Kind::Reader | Kind::PooledReader => return "hyper and redis-rs, in this suite".to_owned(),
            Kind::Fleetfoot | Kind::Before | Kind::NodeGateway => &["--version"],
            Kind::Nginx | Kind::HaProxy => &["-v"],
            Kind::Varnish => &["-V"],
            Kind::Krakend => &["version"],
            Kind::GoGateway => return gateway::version(),
        };
        let Ok(output) = Command::new(program).args(arguments).output() else { return "unknown".to_owned() };
        let said = [output.stdout, output.stderr].concat();
        let first = String::from_utf8_lossy(&said).lines().next().unwrap_or_default().to_owned();
        first.split(" - http").next().unwrap_or_default().trim_start_matches("nginx version: ").to_owned()
    }
}

/// `FLEETFOOT_BIN`; else the newer of the build that is shipped (profile `dist`) and what lies beside this program, so that
/// a build from before the last change is never measured for one after it.
pub(crate) fn fleetfoot_program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("FLEETFOOT_BIN") {
        return Some(PathBuf::from(named));
    }
    let here = std::env::current_exe().ok()?;
    let shipped = here.parent()?.with_file_name("dist").join("fleetfoot");
    let built = |program: &PathBuf| fs::metadata(program).and_then(|metadata| metadata.modified()).ok();
    [shipped, here.with_file_name("fleetfoot")]
        .into_iter()
        .filter(|program| program.exists())
        .max_by_key(built)
}

/// Debian keeps servers where ordinary users do not look.
pub(crate) fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(usual)
        .map(|directory| directory.join(program))
        .find(|file| file.exists())
}

/// An address that nobody listens on now.
pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

impl Setup<'_> {
    /// As in the comparison.
    pub(crate) fn of(kind: Kind, origin: SocketAddr) -> Self {
        Setup {
            kind,
            origin,
            config: include_str!("../rivals/fleetfoot.yaml"),
            memory: "1GiB",
            folder: Path::new(""),
            target: "/1k",
            everywhere: false,
        }
    }

    /// Starts it, and waits until it answers.
    pub(crate) fn start(&self) -> Result<Server> {
        let Setup { kind, target, .. } = *self;
        let program = kind.program().ok_or_else(|| Failure(format!("{} is not there", kind.name())))?;
        let directory = tempfile::Builder::new().prefix("bench-").tempdir()?;
        let setting = self.setting(directory.path())?;
        let (address, admin) = (setting.address, setting.admin);
        let process = setting.start(kind, &program)?;
        let version = kind.version(&program);
        let mut server = Server { kind, version, address, admin, process, directory };
        let answers = || HttpClient::connect(address).and_then(|mut client| client.get(target)).is_ok();
        let answered = wait_until(Duration::from_secs(10), answers);
        if answered.is_err() || !server.process.is_running() {
            let said = fs::read_to_string(server.directory.path().join("log")).unwrap_or_default();
            return fail(format!("{} does not answer at {address}: {said}", kind.name()));
        }
        Ok(server)
    }

    /// With addresses that are free now.
    fn setting<'s>(&'s self, directory: &'s Path) -> Result<Setting<'s>> {
        let Setup { origin, config, memory, folder, everywhere, .. } = *self;
        let (address, admin) = (free_address()?, free_address()?);
        Ok(Setting { directory, address, admin, origin, config, memory, folder, everywhere })
    }

    /// What `fleetfoot check` says against the config; nothing where it is fine.
    pub(crate) fn faults(&self) -> Result<Option<String>> {
        let program = self.kind.program().ok_or_else(|| Failure("fleetfoot is not there".to_owned()))?;
        let directory = tempfile::Builder::new().prefix("bench-").tempdir()?;
        let file = self.setting(directory.path())?.write("fleetfoot.yaml", self.config)?;
        let output = Command::new(program).args(["check", &file]).output()?;
        let said = [output.stdout, output.stderr].concat();
        Ok((!output.status.success()).then(|| String::from_utf8_lossy(&said).trim().to_owned()))
    }
}

impl Server {
    /// Waits until it has nothing left to do.
    pub(crate) fn settle(&self) -> Result<()> {
        wait_until(Duration::from_secs(15), || {
            let before = self.process.cpu_time();
            pause(Duration::from_millis(200));
            self.process.cpu_time().since(&before) < Duration::from_millis(2)
        })
        .map_err(|failure| Failure(format!("{} does not come to rest: {failure}", self.kind.name())))
    }
}

/// What goes into a config.
struct Setting<'a> {
    directory: &'a Path,
    address: SocketAddr,
    admin: SocketAddr,
    origin: SocketAddr,
    config: &'a str,
    memory: &'a str,
    folder: &'a Path,
    everywhere: bool,
}

impl Setting<'_> {
    fn start(&self, kind: Kind, program: &Path) -> Result<Process> {
        let program = program.to_string_lossy();
        let log = self.directory.join("log");
        let address = self.address.to_string();
        match kind {
            Kind::Bare => {
                let arguments = ["serve", "--role", "bare", "--listen", &address];
                Process::start(*SERVER_CORE, &program, &arguments, log)
            }
            Kind::Reader | Kind::PooledReader => {
                let redis = self.origin.to_string();
                let mut arguments = vec!["serve-reads", "--listen", &address, "--redis", &redis];
                arguments.extend((kind == Kind::PooledReader).then_some("--pooled"));
                Process::start(*SERVER_CORE, &program, &arguments, log)
            }
            Kind::Fleetfoot | Kind::Before => {
                let file = self.write("fleetfoot.yaml", self.config)?;
                let cores = if self.everywhere {
                    format!("{},{}", *SERVER_CORE, *LOAD_CORE)
                } else {
                    SERVER_CORE.to_string()
                };
                Process::start(cores, &program, &["run", &file], log)
            }
            Kind::Nginx => {
                let file = self.write("nginx.conf", include_str!("../rivals/nginx.conf"))?;
                let prefix = self.directory.to_string_lossy();
                Process::start(*SERVER_CORE, &program, &["-p", &prefix, "-c", &file], log)
            }
            Kind::HaProxy => {
                let file = self.write("haproxy.cfg", include_str!("../rivals/haproxy.cfg"))?;
                Process::start(*SERVER_CORE, &program, &["-db", "-f", &file], log)
            }
            Kind::Varnish => {
                let file = self.write("varnish.vcl", include_str!("../rivals/varnish.vcl"))?;
                let place = self.directory.join("varnish");
                let place = place.to_string_lossy();
                let mut arguments =
                    vec!["-F", "-j", "none", "-n", &place, "-a", &address, "-f", &file, "-T", "none"];
                arguments.extend(VARNISH);
                Process::start(*SERVER_CORE, &program, &arguments, log)
            }
            Kind::Krakend => {
                let file = self.write("krakend.json", include_str!("../rivals/krakend.json"))?;
                // It tells its makers that it runs, unless it is asked not to.
                let arguments = ["USAGE_DISABLE=1", &program, "run", "-c", &file];
                Process::start(*SERVER_CORE, "env", &arguments, log)
            }
            Kind::GoGateway => {
                Process::start(*SERVER_CORE, &program, &[&address, &self.origin.to_string()], log)
            }
            Kind::NodeGateway => {
                let file = self.write("gateway.mjs", include_str!("../rivals/compose-node/gateway.mjs"))?;
                let words = [self.address, self.origin]
                    .map(|at| [at.ip().to_string(), at.port().to_string()])
                    .concat();
                let arguments = [&file, &words[0], &words[1], &words[2], &words[3]].map(String::as_str);
                Process::start(*SERVER_CORE, &program, &arguments, log)
            }
        }
    }

    fn write(&self, name: &str, template: &str) -> Result<String> {
        let text = template
            .replace("{directory}", &self.directory.to_string_lossy())
            .replace("{address}", &self.address.to_string())
            .replace("{host}", &self.address.ip().to_string())
            .replace("{port}", &self.address.port().to_string())
            .replace("{admin}", &self.admin.to_string())
            .replace("{origin}", &self.origin.to_string())
            .replace("{origin_host}", &self.origin.ip().to_string())
            .replace("{origin_port}", &self.origin.port().to_string())
            .replace("{memory}", self.memory)
            .replace("{folder}", &self.folder.to_string_lossy())
            .replace("{user}", &user());
        let file = self.directory.join(name);
        fs::write(&file, text)?;
        Ok(file.to_string_lossy().into_owned())
    }
}

/// One pool of threads for one core, memory for everything, connections kept, and nothing of a request logged.
const VARNISH: [&str; 14] = [
    "-s",
    "malloc,1g",
    "-p",
    "thread_pools=1",
    "-p",
    "thread_pool_min=200",
    "-p",
    "thread_pool_max=200",
    "-p",
    "timeout_idle=3600",
    "-p",
    "listen_depth=16384",
    "-p",
    "vsl_mask=-Begin,-End,-Link,-Timestamp,-Hit,-HitMiss,-HitPass,-SessOpen,-SessClose,-ReqStart,-ReqMethod,-ReqURL,-ReqProtocol,\
     -ReqHeader,-ReqUnset,-ReqAcct,-RespProtocol,-RespStatus,-RespReason,-RespHeader,-RespUnset,-BereqMethod,-BereqURL,\
     -BereqProtocol,-BereqHeader,-BereqUnset,-BereqAcct,-BerespProtocol,-BerespStatus,-BerespReason,-BerespHeader,\
     -BerespUnset,-ObjHeader,-VCL_call,-VCL_return,-VCL_use,-BackendOpen,-BackendClose,-BackendReuse,-Length,-TTL,-Storage,\
     -Fetch_Body,-Filters,-Gzip",
];

/// nginx gives its rights away to a user who must own the cache's directory.
fn user() -> String {
    let output = Command::new("id").arg("-un").output();
    output.map_or_else(
        |_| "root".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

/// The origin behind everybody, on the core of the clients.
pub(crate) struct Origin {
    pub(crate) address: SocketAddr,
    /// Runs as long as this value lives.
    _process: Process,
    _directory: TempDir,
}

impl Origin {
    /// Starts it.
    pub(crate) fn start() -> Result<Self> {
        Self::start_as("origin")
    }

    /// The same with three tags in each answer.
    pub(crate) fn start_tagging() -> Result<Self> {
        Self::start_as("tagged-origin")
    }

    /// The same with the parts of a page.
    pub(crate) fn start_of_parts() -> Result<Self> {
        Self::start_as("parts-origin")
    }

    fn start_as(role: &str) -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("bench-").tempdir()?;
        let address = free_address()?;
        let program = std::env::current_exe()?;
        let listen = address.to_string();
        let arguments = ["serve", "--role", role, "--listen", &listen];
        let process =
            Process::start(*LOAD_CORE, &program.to_string_lossy(), &arguments, directory.path().join("log"))?;
        wait_until(Duration::from_secs(5), || HttpClient::connect(address).is_ok())?;
        Ok(Origin { address, _process: process, _directory: directory })
    }

    /// How many requests it has had.
    pub(crate) fn count(&self) -> Result<u64> {
        let count = HttpClient::connect(self.address)?.get("/count")?;
        Ok(String::from_utf8_lossy(&count).parse()?)
    }
}
