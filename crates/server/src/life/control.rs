//! Control: starts the cores, reloads on a changed file or SIGHUP, drains on SIGTERM. Runs on the main thread.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use admin::{Access, Admin, Check, Readiness};
use cache::Tiers;
use listener::{Acceptor, OpenConnections};
use message::Clock;
use plan::Plan;
use source::Source;
use telemetry::Metrics;
use tokio::runtime::{Builder, LocalOptions};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::{AbortHandle, spawn_local};

use crate::configuration::{Configuration, Listening, StartError};
use crate::life::backstage::Backstage;
use crate::life::core::{Core, CoreOrder, Instance};
use crate::life::figures;
use crate::life::huge_pages;
use crate::life::open_files;
use crate::life::sockets::Sockets;
use crate::life::sweeping::sweep;
use crate::life::tiers;
use crate::life::time;
use crate::life::watch::Watch;
use crate::life::watching;
use crate::walk::recent::Recent;
use crate::walk::running::Running;

/// Told of every address as soon as it is listened on.
pub type Announce<'a> = &'a dyn Fn(&Listening);

/// Serves until SIGTERM or SIGINT, then drains. A second signal ends at once.
///
/// # Errors
/// When the configuration is wrong or the system refuses what is needed at the start. Later troubles are reported and
/// survived.
pub fn serve(configuration: Configuration, announce: Announce<'_>) -> Result<(), StartError> {
    let system = |what| move |error| StartError::System(what, error);
    let plan = configuration.load()?;
    open_files::raise_limit();
    huge_pages::decline();
    open_files::compare(plan.limits.connections);
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build_local(LocalOptions::default())
        .map_err(system("no runtime for the control thread"))?;
    runtime.block_on(async {
        let signals = Signals::new().map_err(system("signals cannot be received"))?;
        let mut control = Control::start(configuration, plan, announce).await?;
        control.run(signals).await;
        Ok(())
    })
}

/// Makes everything ready that a plan needs, without listening anywhere: certificates and keys are read, and the
/// authorities that origins are verified with, and stores.
///
/// # Errors
/// What would keep the plan from running on any machine; whether its addresses are free is not looked at.
pub fn check(plan: Plan) -> Result<(), StartError> {
    if let Some(tls) = &plan.listen.tls {
        Acceptor::load(tls).map_err(StartError::Tls)?;
    }
    Running::new(plan, None)?;
    Ok(())
}

struct Signals {
    reload: Signal,
    terminate: Signal,
    interrupt: Signal,
    /// Sent where a file would grow over the limit of the process (`ulimit -f`): taken, so that it does not end us, since
    /// the write fails as well.
    _file_size: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Signals {
            reload: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            _file_size: signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?,
        })
    }
}

struct Control<'a> {
    configuration: Configuration,
    announce: Announce<'a>,
    /// Also read by the admin port's checks.
    running: Arc<Mutex<Arc<Running>>>,
    shared: Instance,
    cores: Vec<Core>,
    sockets: Sockets,
    /// What lies behind the memory.
    tiers: Tiers,
    readiness: Arc<Readiness>,
    admin: Option<SocketAddr>,
    /// Who may control the cache; `None`: there is no admin port.
    access: Option<Arc<Access>>,
    /// Entries forgotten because of purges.
    swept: Arc<AtomicU64>,
    checks: Vec<AbortHandle>,
    /// Whether the configuration read last was refused, so that the file says something else than what runs.
    refused: bool,
}

impl<'a> Control<'a> {
    async fn start(
        configuration: Configuration,
        plan: Plan,
        announce: Announce<'a>,
    ) -> Result<Self, StartError> {
        let admin = plan.listen.admin;
        let (store, tiers) = tiers::open(&plan)?;
        let shared = Instance {
            store,
            redis: tiers.redis.clone(),
            connections: OpenConnections::new(),
            metrics: Metrics::new(plan.cores),
            recent: Arc::new(Recent::new(plan.cores)),
        };
        let running = Running::new(plan, None)?;
        let sockets = Sockets::default();
        let change = sockets.prepare(&running.plan.listen, running.plan.cores)?;
        let cores = (0..running.plan.cores)
            .map(|number| Core::start(number, shared.clone(), Arc::clone(&running)))
            .collect::<std::io::Result<Vec<_>>>()
            .map_err(|error| StartError::System("a core's thread cannot be started", error))?;
        let mut control = Control {
            configuration,
            announce,
            running: Arc::new(Mutex::new(Arc::clone(&running))),
            shared,
            cores,
            sockets,
            tiers,
            readiness: Readiness::new(),
            admin,
            access: None,
            swept: Arc::default(),
            checks: Vec::new(),
            refused: false,
        };
        control.tie_metrics();
        spawn_local(time::notice());
        spawn_local(sweep(Arc::clone(&control.shared.store), Arc::clone(&control.swept)));
        if let Some(address) = admin {
            control.start_admin(address, &running).await?;
        }
        for listening in control.sockets.apply(change, &running.plan.listen, &control.cores) {
            announce(&listening);
        }
        control.start_checks(&running);
        control.shared.metrics.config_loaded(Clock::date(), true);
        control.readiness.set_started();
        Ok(control)
    }

    /// Figures are read where they live, when somebody asks.
    fn tie_metrics(&self) {
        let owners = figures::Owners {
            store: Arc::clone(&self.shared.store),
            swept: Arc::clone(&self.swept),
            disk: self.tiers.disk.clone(),
            open: Arc::clone(&self.shared.connections),
            connections: self.cores.iter().map(|core| Arc::clone(&core.counters)).collect(),
            running: Arc::clone(&self.running),
        };
        self.shared.metrics.families_from(move |own| owners.families(own));
    }

    async fn start_admin(&mut self, address: SocketAddr, running: &Running) -> Result<(), StartError> {
        let bound =
            tokio::net::TcpListener::bind(address).await.map_err(|error| StartError::Bind(address, error))?;
        let address = bound.local_addr().map_err(|error| StartError::Bind(address, error))?;
        if !address.ip().is_loopback() && running.plan.listen.admin_token.is_none() {
            tracing::warn!(
                "`listen.admin` can be reached from other machines and there is no `listen.admin_token`: purging, listing \
                 and explaining are refused there"
            );
        }
        let access = Arc::new(Access::new(address, running.plan.listen.admin_token.clone()));
        let backstage = Backstage {
            running: Arc::clone(&self.running),
            store: Arc::clone(&self.shared.store),
            recent: Arc::clone(&self.shared.recent),
            cores: self.cores.iter().map(|core| core.orders.clone()).collect(),
            next: AtomicUsize::new(0),
        };
        let (store, metrics) = (Arc::clone(&self.shared.store), Arc::clone(&self.shared.metrics));
        let admin = Admin {
            metrics: Arc::clone(&metrics),
            readiness: Arc::clone(&self.readiness),
            control: admin::Control::new(Arc::clone(&access), store, metrics, Arc::new(backstage)),
        };
        self.access = Some(access);
        spawn_local(admin::serve(bound, admin, std::future::pending()));
        (self.announce)(&Listening { kind: "admin", address });
        Ok(())
    }

    /// Health checks run here, once for all cores; a source without a healthy target makes us not ready.
    fn start_checks(&mut self, running: &Arc<Running>) {
        let origins = || running.sources.iter().filter_map(Source::http).cloned();
        let checked = origins().filter(|origin| origin.plan().health.is_some()).map(|source| {
            Check::new(format!("source {}", source.plan().name), move || {
                let healthy = source.health().iter().any(|(_, healthy)| *healthy);
                if healthy { Ok(()) } else { Err("no healthy target".to_owned()) }
            })
        });
        let store = Arc::clone(&self.shared.store);
        let tier = self.tiers.redis.as_ref().map(|redis| {
            Check::dispensable(format!("tier {}", redis.plan().name), move || tiers::missing(&store))
        });
        let reads = running.redis_read().map(|redis| {
            let redis = Arc::clone(redis);
            Check::dispensable(format!("source {}", redis.plan().name), move || watching::missing(&redis))
        });
        let tokens = running.remedies.tokens().map(|(policy, account, tokens)| {
            let tokens = Arc::clone(tokens);
            let mark = if account.is_empty() { "" } else { "/" };
            Check::dispensable(format!("token of policy {policy}{mark}{account}"), move || {
                watching::no_token(&tokens)
            })
        });
        let limits = running.shared_limits().map(|(policy, joint, _)| {
            let joint = Arc::clone(joint);
            Check::dispensable(format!("limit of policy {policy}"), move || watching::not_shared(&joint))
        });
        let disk = self.tiers.disk.as_ref().map(|disk| {
            let disk = Arc::clone(disk);
            Check::dispensable("tier disk", move || tiers::disk_trouble(&disk))
        });
        let keys = running.auths.iter().filter_map(|(name, auth)| {
            let remote = Arc::clone(auth.remote()?);
            Some(Check::dispensable(format!("keys of policy {name}"), move || watching::no_keys(&remote)))
        });
        self.readiness
            .set_checks(checked.chain(tokens).chain(keys).chain(limits).chain(reads).chain(tier).chain(disk));
        self.checks.drain(..).for_each(|check| check.abort());
        watching::start(running, &mut self.checks);
        for source in origins() {
            self.checks.push(spawn_local(source::check_health(source)).abort_handle());
        }
    }

    async fn run(&mut self, mut signals: Signals) {
        let mut watch = match &self.configuration {
            Configuration::File(path) => Watch::new(path)
                .inspect_err(|error| tracing::warn!("the file is not watched, use SIGHUP to reload: {error}"))
                .ok(),
            Configuration::Fixed(_) => None,
        };
        loop {
            let changed = async {
                match &mut watch {
                    Some(watch) => watch.changed().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = changed => self.reload(true),
                _ = signals.reload.recv() => self.reload(false),
                _ = signals.terminate.recv() => break,
                _ = signals.interrupt.recv() => break,
            }
        }
        tokio::select! {
            () = self.drain() => {}
            _ = signals.terminate.recv() => {}
            _ = signals.interrupt.recv() => {}
        }
        tiers::leave(&self.shared.store).await;
        self.shared.metrics.access_log().flush();
        if let Some(disk) = &self.tiers.disk {
            tiers::close(disk);
        }
    }

    /// Reads the configuration again. A wrong one changes nothing and says why.
    fn reload(&mut self, only_if_different: bool) {
        let before = current(&self.running);
        let plan = self.configuration.load();
        if only_if_different && !self.refused && plan.as_ref().is_ok_and(|plan| *plan == *before.plan) {
            return;
        }
        let outcome = plan.and_then(|plan| self.replace(plan, &before));
        self.shared.metrics.config_loaded(Clock::date(), outcome.is_ok());
        self.refused = outcome.is_err();
        match outcome {
            Ok(()) => tracing::info!("reloaded"),
            Err(error) => tracing::error!("reload refused, everything goes on as before: {error}"),
        }
    }

    fn replace(&mut self, mut plan: Plan, before: &Running) -> Result<(), StartError> {
        if plan.cores != before.plan.cores {
            tracing::warn!("`cores` changes only with a restart");
            plan.cores = before.plan.cores;
        }
        if plan.listen.admin != self.admin {
            tracing::warn!("`listen.admin` changes only with a restart");
        }
        if plan.disk != before.plan.disk {
            tracing::warn!("`disk` changes only with a restart");
            plan.disk.clone_from(&before.plan.disk);
        }
        if plan.shared_tier() != before.plan.shared_tier() {
            tracing::warn!("the `tier` of policies changes only with a restart");
        }
        if plan.limits.connections != before.plan.limits.connections {
            open_files::compare(plan.limits.connections);
        }
        let running = Running::new(plan, Some(before))?;
        let change = self.sockets.prepare(&running.plan.listen, self.cores.len())?;
        // From here on nothing can fail.
        if running.plan.memory != before.plan.memory {
            self.shared.store.memory.set_capacity(running.plan.memory);
        }
        if let Some(access) = &self.access {
            access.set_token(running.plan.listen.admin_token.clone());
        }
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&running);
        for core in &self.cores {
            core.order(CoreOrder::Apply(Arc::clone(&running)));
        }
        for listening in self.sockets.apply(change, &running.plan.listen, &self.cores) {
            (self.announce)(&listening);
        }
        self.start_checks(&running);
        Ok(())
    }

    /// Says that it is not ready, for `drain_delay`; then stops accepting, and lets what is under way finish, at most as
    /// long as `drain` says.
    async fn drain(&mut self) {
        let plan = Arc::clone(&current(&self.running).plan);
        let most = plan.drain;
        self.readiness.set_draining();
        if !plan.drain_delay.is_zero() {
            tracing::info!("not ready any more; listening for another {:?}", plan.drain_delay);
            tokio::time::sleep(plan.drain_delay).await;
        }
        tracing::info!(
            "draining: {} connections open, at most {} s",
            self.shared.connections.open(),
            most.as_secs()
        );
        self.cores.iter().for_each(|core| core.order(CoreOrder::Drain));
        let finished = async {
            while !self.cores.iter().all(|core| core.thread.is_finished()) {
                tokio::time::sleep(POLL).await;
            }
        };
        if tokio::time::timeout(most, finished).await.is_err() {
            tracing::warn!("{} connections did not finish in time", self.shared.connections.open());
        }
    }
}

/// Threads end without a signal of their own; this often we look.
const POLL: Duration = Duration::from_millis(20);

pub(crate) fn current(running: &Mutex<Arc<Running>>) -> Arc<Running> {
    Arc::clone(&running.lock().unwrap_or_else(PoisonError::into_inner))
}
