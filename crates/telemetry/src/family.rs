//! Family: a figure that somebody keeps, or one that several keep, as `/metrics` shows it. Whoever counts gives it when
//! somebody asks; `render` writes it.
//!
//! The one exception is what a `Recorder` adds to on the way of every request: those are counters and histograms of one
//! core (`counts`, `histogram`), for speed, and `render` adds the cores up.

use std::fmt;

use message::Timestamp;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Unit;

/// One name with its meaning, and the values under it. Without any, its heading alone is shown.
#[derive(Clone, Debug)]
pub struct Family {
    /// Without our prefix, `_total` and the unit, which the encoder appends.
    name: &'static str,
    help: &'static str,
    is_counter: bool,
    unit: Option<Unit>,
    values: Vec<(Labels, Value)>,
}

/// Whose a value is: names such as `source`, and what they say.
type Labels = Vec<(&'static str, String)>;

/// What was counted or measured.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A count, or whether something is so: 1 or 0.
    Whole(u64),
    /// A time in seconds, or so much a second.
    Real(f64),
}

impl Family {
    /// What only ever goes up.
    pub const fn counter(name: &'static str, help: &'static str) -> Self {
        Family { name, help, is_counter: true, unit: None, values: Vec::new() }
    }

    /// What goes up and down, or is so or not.
    pub const fn gauge(name: &'static str, help: &'static str) -> Self {
        Family { name, help, is_counter: false, unit: None, values: Vec::new() }
    }

    /// Its values are bytes.
    #[must_use]
    pub fn bytes(self) -> Self {
        Family { unit: Some(Unit::Bytes), ..self }
    }

    /// Its values are seconds.
    #[must_use]
    pub fn seconds(self) -> Self {
        Family { unit: Some(Unit::Seconds), ..self }
    }

    /// The only value there is.
    #[must_use]
    pub fn of(self, value: impl Into<Value>) -> Self {
        Family { values: vec![(Labels::new(), value.into())], ..self }
    }

    /// A value for each of several, told apart by what these labels say.
    #[must_use]
    pub fn by<const N: usize, L: Into<String>, V: Into<Value>>(
        self,
        labels: [&'static str; N],
        values: impl IntoIterator<Item = ([L; N], V)>,
    ) -> Self {
        let values = values.into_iter().map(|(words, value)| {
            let labels = labels.into_iter().zip(words.map(Into::into)).collect();
            (labels, value.into())
        });
        Family { values: values.collect(), ..self }
    }

    pub(crate) fn encode(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let kind = if self.is_counter { MetricType::Counter } else { MetricType::Gauge };
        let mut encoder = encoder.encode_descriptor(self.name, self.help, self.unit.as_ref(), kind)?;
        self.values.iter().try_for_each(|(labels, value)| match (labels.is_empty(), *value) {
            // A gauge that stands alone has always been written with a decimal point.
            (true, Value::Whole(value)) if !self.is_counter => encoder.encode_gauge(&(value as f64)),
            (true, value) => self.put(&mut encoder, value),
            (false, value) => self.put(&mut encoder.encode_family(labels)?, value),
        })
    }

    fn put(&self, encoder: &mut MetricEncoder<'_>, value: Value) -> fmt::Result {
        match value {
            Value::Whole(value) if self.is_counter => {
                encoder.encode_counter::<NoLabelSet, u64, f64>(&value, None)
            }
            Value::Whole(value) => encoder.encode_gauge(&value),
            Value::Real(value) => encoder.encode_gauge(&value),
        }
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Value::Whole(count)
    }
}

impl From<bool> for Value {
    fn from(is_so: bool) -> Self {
        Value::Whole(is_so.into())
    }
}

/// So much a second.
impl From<f64> for Value {
    fn from(rate: f64) -> Self {
        Value::Real(rate)
    }
}

/// Seconds since 1970.
impl From<Timestamp> for Value {
    fn from(at: Timestamp) -> Self {
        Value::Real(at.as_millis() as f64 / 1e3)
    }
}
