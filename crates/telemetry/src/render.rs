//! Render: all figures as OpenMetrics text. Called when the admin port is asked for `/metrics`; adds the cores up.

use std::fmt;
use std::sync::Arc;

use message::Kind;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use crate::counter::Counter;
use crate::counts::{CLASSES, CoreCounts};
use crate::histogram::{Histogram, Snapshot};
use crate::reasons::Reason;
use crate::{CacheResult, Family, Metrics};

/// Everything, with the final `# EOF`.
pub(crate) fn render(metrics: &Arc<Metrics>) -> String {
    let mut registry = Registry::with_prefix("fleetfoot");
    registry.register_collector(Box::new(Arc::clone(metrics)));
    let mut text = String::with_capacity(32 * 1024);
    text::encode(&mut text, &registry).expect("writing to memory cannot fail");
    text
}

impl Collector for Metrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let out = &mut encoder;
        write(out, traffic(&self.cores))?;
        times(out, &self.cores)?;
        write(out, self.kept())?;
        write(out, self.config.families())?;
        write(out, process(self))?;
        out.encode_descriptor("build", "What is running", None, MetricType::Info)?
            .encode_info(&[("version", env!("CARGO_PKG_VERSION"))])
    }
}

fn write(out: &mut DescriptorEncoder<'_>, families: Vec<Family>) -> fmt::Result {
    families.iter().try_for_each(|family| family.encode(out))
}

fn traffic(cores: &[CoreCounts]) -> Vec<Family> {
    vec![
        Family::counter(
            "requests",
            "Requests by what the cache did: answered from it, asked the source, or passed it",
        )
        .by(
            ["cache"],
            CacheResult::ALL
                .map(|result| ([result.word()], sum(cores, |core| &core.results[result as usize]))),
        ),
        Family::counter("responses", "Responses by class of status").by(
            ["status"],
            CLASSES
                .iter()
                .enumerate()
                .map(|(index, class)| ([*class], sum(cores, |core| &core.classes[index]))),
        ),
        Family::counter("errors", "Requests without a proper answer, by what failed and on which side").by(
            ["kind", "side"],
            Kind::ALL
                .map(|kind| ([kind.word(), kind.side().word()], sum(cores, |core| core.errors.of(kind)))),
        ),
        Family::counter("sent", "Content sent to clients, without heads and framing")
            .bytes()
            .of(sum(cores, |core| &core.sent_bytes)),
        Family::counter("received", "Content received from clients, without heads and framing")
            .bytes()
            .of(sum(cores, |core| &core.received_bytes)),
        forwarded(cores),
    ]
}

fn forwarded(cores: &[CoreCounts]) -> Family {
    let mut sums: Vec<(Reason, u64)> = Vec::new();
    for (reason, count) in cores.iter().flat_map(|core| core.reasons.counts()) {
        match sums.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, sum)) => *sum += count,
            None => sums.push((reason, count)),
        }
    }
    sums.sort_unstable();
    Family::counter(
        "forwarded",
        "Requests not answered from the cache, by RFC 9211's reason, and more where known",
    )
    .by(
        ["reason", "detail"],
        sums.into_iter().map(|((reason, detail), count)| ([reason, detail.unwrap_or("")], count)),
    )
}

/// What is no single value, so no [`Family`].
fn times(out: &mut DescriptorEncoder<'_>, cores: &[CoreCounts]) -> fmt::Result {
    let mut histogram = |name, help, pick: fn(&CoreCounts) -> &Histogram| {
        let sum = Snapshot::of(cores.iter().map(pick));
        out.encode_descriptor(name, help, Some(&Unit::Seconds), MetricType::Histogram)?
            .encode_histogram::<NoLabelSet>(sum.seconds(), sum.count(), &sum.buckets(), None)
    };
    histogram("source_wait", "Time until the source's head had come, where one was asked", |core| {
        &core.source
    })?;
    histogram(
        "overhead",
        "Time from a request's head to the last byte of its answer, without the wait for the source",
        |core| &core.overhead,
    )
}

fn process(metrics: &Metrics) -> Vec<Family> {
    let lost = sum(&metrics.cores, |core| &core.log_lines_dropped) + metrics.access_log().lost();
    vec![
        Family::counter(
            "log_lines_dropped",
            "Lines of the access log that were not written, for want of room or of a reader",
        )
        .of(lost),
        Family::gauge("cores", "Threads that serve requests").of(metrics.cores.len() as u64),
        Family::gauge("start_time", "When the process started, since 1970").seconds().of(metrics.started),
    ]
}

fn sum(cores: &[CoreCounts], pick: impl Fn(&CoreCounts) -> &Counter) -> u64 {
    cores.iter().fold(0, |sum: u64, core| sum.wrapping_add(pick(core).get()))
}
