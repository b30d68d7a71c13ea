//! Render: all figures as OpenMetrics text. Called when the admin port is asked for `/metrics`; adds the cores up.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use message::{Kind, Timestamp};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use crate::counter::Counter;
use crate::counts::{CLASSES, Core, side_word};
use crate::gauges::{Owners, Reading, RedisFigures};
use crate::histogram::{Histogram, Snapshot};
use crate::reasons::Reason;
use crate::{CacheResult, Errand, Metrics};

/// Everything, with the final `# EOF`.
pub(crate) fn render(metrics: &Arc<Metrics>) -> String {
    let mut registry = Registry::with_prefix("fleetfoot");
    registry.register_collector(Box::new(Arc::clone(metrics)));
    let mut text = String::with_capacity(32 * 1024);
    text::encode(&mut text, &registry).expect("writing to memory cannot fail");
    text
}

impl Collector for Metrics {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut out = Out(encoder);
        out.traffic(&self.cores)?;
        out.forwarded(&self.cores)?;
        out.times(&self.cores)?;
        let owners = self.gauges.lock();
        out.readings(&owners)?;
        out.forgotten(self)?;
        out.connections(&owners)?;
        out.targets(&owners)?;
        out.redis(&owners)?;
        out.families(&owners)?;
        out.config(&owners)?;
        out.process(self)
    }
}

/// One name with its meaning. `_total` and the unit are appended to the name by the encoder.
struct Figure {
    name: &'static str,
    help: &'static str,
    unit: Option<Unit>,
}

const fn figure(name: &'static str, help: &'static str) -> Figure {
    Figure { name, help, unit: None }
}

const fn bytes(name: &'static str, help: &'static str) -> Figure {
    Figure { name, help, unit: Some(Unit::Bytes) }
}

const fn seconds(name: &'static str, help: &'static str) -> Figure {
    Figure { name, help, unit: Some(Unit::Seconds) }
}

/// Reads a figure, where there is one.
type OfRedis = fn(&RedisFigures) -> Option<u64>;

/// The encoder, with a word for each shape of figure.
struct Out<'a>(DescriptorEncoder<'a>);

impl Out<'_> {
    fn describe<'s>(
        &'s mut self,
        figure: &'s Figure,
        kind: MetricType,
    ) -> Result<MetricEncoder<'s>, fmt::Error> {
        self.0.encode_descriptor(figure.name, figure.help, figure.unit.as_ref(), kind)
    }

    fn counter(&mut self, figure: Figure, count: u64) -> fmt::Result {
        put_counter(&mut self.describe(&figure, MetricType::Counter)?, count)
    }

    fn counters<L: EncodeLabelSet>(
        &mut self,
        figure: Figure,
        counts: impl IntoIterator<Item = (L, u64)>,
    ) -> fmt::Result {
        let mut encoder = self.describe(&figure, MetricType::Counter)?;
        counts
            .into_iter()
            .try_for_each(|(labels, count)| put_counter(&mut encoder.encode_family(&labels)?, count))
    }

    fn gauge(&mut self, figure: Figure, value: f64) -> fmt::Result {
        self.describe(&figure, MetricType::Gauge)?.encode_gauge(&value)
    }

    fn histogram(&mut self, figure: Figure, sum: Snapshot) -> fmt::Result {
        self.describe(&figure, MetricType::Histogram)?.encode_histogram::<NoLabelSet>(
            sum.seconds(),
            sum.count(),
            &sum.buckets(),
            None,
        )
    }

    fn traffic(&mut self, cores: &[Core]) -> fmt::Result {
        self.counters(
            figure(
                "requests",
                "Requests by what the cache did: answered from it, asked the source, or passed it",
            ),
            CacheResult::ALL.map(|result| {
                ([("cache", result.word())], sum(cores, |core| &core.results[result as usize]))
            }),
        )?;
        self.counters(
            figure("responses", "Responses by class of status"),
            CLASSES
                .iter()
                .enumerate()
                .map(|(index, class)| ([("status", *class)], sum(cores, |core| &core.classes[index]))),
        )?;
        self.counters(
            figure("errors", "Requests without a proper answer, by what failed and on which side"),
            Kind::ALL.map(|kind| {
                let labels = [("kind", kind.word()), ("side", side_word(kind.side()))];
                (labels, sum(cores, |core| &core.errors[kind as usize]))
            }),
        )?;
        self.counter(
            bytes("sent", "Content sent to clients, without heads and framing"),
            sum(cores, |core| &core.sent_bytes),
        )?;
        self.counter(
            bytes("received", "Content received from clients, without heads and framing"),
            sum(cores, |core| &core.received_bytes),
        )
    }

    fn forwarded(&mut self, cores: &[Core]) -> fmt::Result {
        let mut sums: Vec<(Reason, u64)> = Vec::new();
        for (reason, count) in cores.iter().flat_map(|core| core.reasons.counts()) {
            match sums.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, sum)) => *sum += count,
                None => sums.push((reason, count)),
            }
        }
        sums.sort_unstable();
        self.counters(
            figure(
                "forwarded",
                "Requests not answered from the cache, by RFC 9211's reason, and more where known",
            ),
            sums.into_iter().map(|((reason, detail), count)| {
                ([("reason", reason), ("detail", detail.unwrap_or(""))], count)
            }),
        )
    }

    fn times(&mut self, cores: &[Core]) -> fmt::Result {
        let of = |pick: fn(&Core) -> &Histogram| Snapshot::of(cores.iter().map(pick));
        self.histogram(
            seconds("source_wait", "Time until the source's head had come, where one was asked"),
            of(|core| &core.source),
        )?;
        self.histogram(
            seconds(
                "overhead",
                "Time from a request's head to the last byte of its answer, without the wait for the source",
            ),
            of(|core| &core.overhead),
        )
    }

    fn readings(&mut self, owners: &Owners) -> fmt::Result {
        for reading in Reading::ALL {
            if let Some(read) = &owners.readings[reading as usize] {
                let (kind, figure) = described(reading);
                match kind {
                    MetricType::Counter => self.counter(figure, read())?,
                    _ => self.gauge(figure, read() as f64)?,
                }
            }
        }
        Ok(())
    }

    fn forgotten(&mut self, metrics: &Metrics) -> fmt::Result {
        self.counters(
            figure(
                "purges",
                "Purges by what they were about, and whether things were forgotten or made stale",
            ),
            metrics.purges.counts().map(|(kind, soft, count)| {
                ([("scope", kind.word()), ("mode", if soft { "soft" } else { "hard" })], count)
            }),
        )?;
        self.counters(
            figure("errands", "Requests of our own, by why; they count as no client's"),
            Errand::ALL.map(|errand| {
                ([("purpose", errand.word())], metrics.errands[errand as usize].load(Ordering::Relaxed))
            }),
        )
    }

    fn connections(&mut self, owners: &Owners) -> fmt::Result {
        let Some(read) = &owners.connections else { return Ok(()) };
        self.counters(
            figure("connections", "Client connections by what happened to them before there was a request"),
            read().into_iter().map(|(event, count)| ([("event", event)], count)),
        )
    }

    fn targets(&mut self, owners: &Owners) -> fmt::Result {
        let Some(read) = &owners.targets else { return Ok(()) };
        let figure =
            figure("target_healthy", "Whether requests are sent to a source's target (1) or not (0)");
        let mut encoder = self.describe(&figure, MetricType::Gauge)?;
        for target in read() {
            let labels = [("source", target.source), ("target", target.target)];
            encoder.encode_family(&labels)?.encode_gauge(&u64::from(target.healthy))?;
        }
        Ok(())
    }

    fn redis(&mut self, owners: &Owners) -> fmt::Result {
        let all = owners.redis.as_ref().map(|read| read()).unwrap_or_default();
        if all.is_empty() {
            return Ok(());
        }
        let gauges: [(Figure, OfRedis); 5] = [
            (figure("redis_up", "Whether a Redis that is read from answers (1) or not (0)"), |of| {
                Some(of.up.into())
            }),
            (figure("redis_held", "Answers of a Redis held in process"), |of| Some(of.held)),
            (bytes("redis_held", "Bytes they take"), |of| Some(of.held_bytes)),
            (
                figure(
                    "redis_replica_in_step",
                    "Whether its replica is in step and read from (1) or not (0)",
                ),
                |of| of.replica_in_step.map(u64::from),
            ),
            (figure("redis_tracking", "Whether a tracked Redis tells what changes (1) or not (0)"), |of| {
                Some(of.tracked?.live.into())
            }),
        ];
        for (figure, read) in gauges {
            let mut encoder = self.describe(&figure, MetricType::Gauge)?;
            for (source, value) in all.iter().filter_map(|of| Some((&of.source, read(of)?))) {
                encoder.encode_family(&[("source", source.as_str())])?.encode_gauge(&value)?;
            }
        }
        let counters: [(Figure, OfRedis); 9] = [
            (figure("redis_denied", "Commands that the user of a Redis may not run"), |of| Some(of.denied)),
            (figure("redis_commands", "Commands and pipelines for a Redis that is read from"), |of| {
                Some(of.commands)
            }),
            (figure("redis_failures", "Of these, and of attempts to connect, those that failed"), |of| {
                Some(of.failures)
            }),
            (figure("redis_refused", "Commands not sent, since too many had failed just before"), |of| {
                Some(of.refused)
            }),
            (figure("redis_tracking_lives", "Times a tracked Redis began to tell what changes"), |of| {
                Some(of.tracked?.lives)
            }),
            (figure("redis_invalidations", "Keys that a tracked Redis named as changed"), |of| {
                Some(of.tracked?.invalidations)
            }),
            (figure("redis_flushes", "Times a tracked Redis named all keys as changed"), |of| {
                Some(of.tracked?.flushes)
            }),
            (
                figure(
                    "redis_outdated",
                    "Answers not held, since a key of theirs changed while they were read",
                ),
                |of| Some(of.tracked?.outdated),
            ),
            (figure("redis_evicted", "Held answers pushed out to make room"), |of| Some(of.tracked?.evicted)),
        ];
        for (figure, read) in counters {
            let of = all.iter().filter_map(|of| Some(([("source", of.source.clone())], read(of)?)));
            self.counters(figure, of)?;
        }
        Ok(())
    }

    fn families(&mut self, owners: &Owners) -> fmt::Result {
        let all = owners.families.as_ref().map(|read| read()).unwrap_or_default();
        for family in all.iter().filter(|family| !family.values.is_empty()) {
            let figure = figure(family.name, family.help);
            let of = family.values.iter().map(|(name, value)| ([(family.label, name.as_str())], *value));
            if family.is_counter {
                self.counters(figure, of)?;
                continue;
            }
            let mut encoder = self.describe(&figure, MetricType::Gauge)?;
            for (labels, value) in of {
                encoder.encode_family(&labels)?.encode_gauge(&value)?;
            }
        }
        Ok(())
    }

    fn config(&mut self, owners: &Owners) -> fmt::Result {
        let config = owners.config;
        self.counters(
            figure("config_loads", "How often the config was read, by whether it took effect"),
            [([("result", "success")], config.succeeded), ([("result", "failure")], config.failed)],
        )?;
        self.gauge(
            figure("config_last_load_successful", "Whether the config read last took effect (1) or not (0)"),
            f64::from(u8::from(config.succeeded > 0 && !config.last_failed)),
        )?;
        let Some(at) = config.last_success else { return Ok(()) };
        self.gauge(
            seconds("config_last_success_timestamp", "When a config last took effect, since 1970"),
            unix_seconds(at),
        )
    }

    fn process(&mut self, metrics: &Metrics) -> fmt::Result {
        self.counter(
            figure(
                "log_lines_dropped",
                "Lines of the access log that were not written, for want of room or of a reader",
            ),
            sum(&metrics.cores, |core| &core.log_lines_dropped) + metrics.access_log().lost(),
        )?;
        self.gauge(figure("cores", "Threads that serve requests"), metrics.cores.len() as f64)?;
        self.gauge(
            seconds("start_time", "When the process started, since 1970"),
            unix_seconds(metrics.started),
        )?;
        self.describe(&figure("build", "What is running"), MetricType::Info)?
            .encode_info(&[("version", env!("CARGO_PKG_VERSION"))])
    }
}

/// How each reading is called.
fn described(reading: Reading) -> (MetricType, Figure) {
    match reading {
        Reading::CacheBytes => {
            (MetricType::Gauge, bytes("cache", "Memory taken by the cache: keys, heads, bodies"))
        }
        Reading::CacheCapacity => (MetricType::Gauge, bytes("cache_capacity", "Memory the cache may take")),
        Reading::CacheKeys => (MetricType::Gauge, figure("cache_keys", "Keys in the cache")),
        Reading::Evictions => {
            (MetricType::Counter, figure("cache_evictions", "Entries pushed out to make room"))
        }
        Reading::Invalidations => (
            MetricType::Counter,
            figure("cache_invalidations", "Keys forgotten because of an unsafe request"),
        ),
        Reading::Fills => (MetricType::Counter, figure("fills", "Fetches for the cache")),
        Reading::FillsInProgress => {
            (MetricType::Gauge, figure("fills_in_progress", "Fetches for the cache under way"))
        }
        Reading::Coalesced => (
            MetricType::Counter,
            figure("coalesced_requests", "Requests that waited for somebody else's fetch"),
        ),
        Reading::Stored => (MetricType::Counter, figure("stored", "Answers stored in the cache")),
        Reading::StoredBytes => {
            (MetricType::Counter, bytes("stored_content", "Content of the answers stored"))
        }
        Reading::TagBytes => {
            (MetricType::Gauge, bytes("cache_tags", "Memory taken by tags; part of the cache's"))
        }
        Reading::Swept => {
            (MetricType::Counter, figure("cache_swept", "Entries forgotten or made stale because of a purge"))
        }
        Reading::Folded => (
            MetricType::Counter,
            figure(
                "cache_folded_purges",
                "Purges that forget more than they named, since there were too many",
            ),
        ),
        Reading::Compressed => {
            (MetricType::Counter, figure("compressed", "Stored answers compressed for those who accept it"))
        }
        Reading::DiskRecords => (MetricType::Gauge, figure("disk_records", "Answers on disk now")),
        Reading::DiskBytes => (MetricType::Gauge, bytes("disk", "Space taken on disk")),
        Reading::DiskCapacity => {
            (MetricType::Gauge, bytes("disk_capacity", "Space that may be taken on disk"))
        }
        Reading::DiskHits => (MetricType::Counter, figure("disk_hits", "Answers found on disk")),
        Reading::DiskMisses => {
            (MetricType::Counter, figure("disk_misses", "Answers looked for on disk in vain"))
        }
        Reading::DiskWrites => (MetricType::Counter, figure("disk_writes", "Answers written to disk")),
        Reading::DiskDropped => (
            MetricType::Counter,
            figure("disk_dropped", "Answers not written: too many waiting, too large, or writing failed"),
        ),
        Reading::DiskEvicted => {
            (MetricType::Counter, figure("disk_evicted", "Answers pushed out of the disk to make room"))
        }
        Reading::DiskCorrupt => {
            (MetricType::Counter, figure("disk_corrupt", "What on disk did not match its checksum"))
        }
        Reading::DiskErrors => {
            (MetricType::Counter, figure("disk_errors", "What the system refused on disk"))
        }
        Reading::DiskUp => (MetricType::Gauge, figure("disk_up", "Whether the disk tier can be written")),
        Reading::SharedUp => {
            (MetricType::Gauge, figure("shared_up", "Whether the Redis of the shared tier answers"))
        }
        Reading::SharedHears => {
            (MetricType::Gauge, figure("shared_hears", "Whether purges of other instances are heard"))
        }
        Reading::SharedTells => (
            MetricType::Gauge,
            figure(
                "shared_tells",
                "Whether Redis takes what this instance tells the others: purges, heartbeats",
            ),
        ),
        Reading::SharedMissing => {
            (MetricType::Gauge, figure("shared_missing", "Other instances that have fallen silent"))
        }
        Reading::SharedHits => (MetricType::Counter, figure("shared_hits", "Answers found in Redis")),
        Reading::SharedMisses => {
            (MetricType::Counter, figure("shared_misses", "Answers looked for in Redis in vain"))
        }
        Reading::SharedSkipped => (
            MetricType::Counter,
            figure(
                "shared_skipped",
                "Look-ups in Redis that failed or were left out, Redis being slow or gone",
            ),
        ),
        Reading::SharedWrites => (MetricType::Counter, figure("shared_writes", "Answers written to Redis")),
        Reading::SharedDropped => (
            MetricType::Counter,
            figure(
                "shared_dropped",
                "Answers not written to Redis: too large, of too little use, or Redis slow or gone",
            ),
        ),
        Reading::SharedWaited => (
            MetricType::Counter,
            figure("shared_waited", "Answers that another instance fetched while this one waited"),
        ),
        Reading::SharedWaitedInVain => (
            MetricType::Counter,
            figure("shared_waited_in_vain", "Times of waiting for another instance that came to nothing"),
        ),
        Reading::PurgesTold => (MetricType::Counter, figure("purges_told", "Purges told to other instances")),
        Reading::PurgesUntold => (
            MetricType::Gauge,
            figure("purges_untold", "Purges that other instances have not been told of yet"),
        ),
        Reading::PurgesHeard => {
            (MetricType::Counter, figure("purges_heard", "Purges heard of other instances"))
        }
        Reading::Doubts => (
            MetricType::Counter,
            figure(
                "cache_doubts",
                "Times that everything was made stale, since nobody could say what was purged",
            ),
        ),
        Reading::OpenConnections => {
            (MetricType::Gauge, figure("open_connections", "Client connections open now"))
        }
    }
}

fn put_counter(encoder: &mut MetricEncoder<'_>, count: u64) -> fmt::Result {
    encoder.encode_counter::<NoLabelSet, u64, f64>(&count, None)
}

fn sum(cores: &[Core], pick: impl Fn(&Core) -> &Counter) -> u64 {
    cores.iter().fold(0, |sum: u64, core| sum.wrapping_add(pick(core).get()))
}

fn unix_seconds(at: Timestamp) -> f64 {
    at.as_millis() as f64 / 1e3
}
