//! Call: one call from its input to its output, in an instance of its own. Runs on a thread of `module`'s and takes as
//! long as the module computes.

use bytes::Bytes;
use message::Result;
use plan::WasmSource;
use serde::de::IgnoredAny;
use wasmtime::{AsContextMut as _, Extern, Instance, ModuleExport, Store, WasmParams, WasmResults};
use workers::Stop;

use super::bounds::Bounds;
use super::compiled::Compiled;
use super::failure::{broken_off, unusable};

/// Bytes of output at most.
const OUTPUT: usize = 8 << 20;

/// One call of one function. Nothing of it is left for the next.
pub(crate) struct Call<'a> {
    compiled: &'a Compiled,
    plan: &'a WasmSource,
    function: &'a str,
    store: Store<Bounds>,
}

impl<'a> Call<'a> {
    /// Its time begins now.
    pub(crate) fn new(compiled: &'a Compiled, plan: &'a WasmSource, function: &'a str, stop: &Stop) -> Self {
        let most = usize::try_from(plan.memory).unwrap_or(usize::MAX);
        let bounds = Bounds::new(most, plan.timeout, stop.clone());
        let mut store = Store::new(&compiled.engine, bounds);
        store.limiter(|bounds| bounds);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|context| Ok(context.data().at_tick()));
        Call { compiled, plan, function, store }
    }

    /// A fresh instance, whose start function has run if it has one.
    pub(crate) fn instance(&mut self) -> Result<Instance> {
        self.compiled.instances.instantiate(&mut self.store).map_err(|error| self.broken_off(error))
    }

    /// From input to output.
    pub(crate) fn run(mut self, export: ModuleExport, input: &[u8]) -> Result<Bytes> {
        let instance = self.instance()?;
        let Some(Extern::Memory(memory)) = instance.get_module_export(&mut self.store, &self.compiled.memory)
        else {
            return Err(self.unusable("has lost its memory"));
        };
        let Ok(length) = i32::try_from(input.len()) else {
            return Err(self.unusable("takes no more than 2 GiB"));
        };
        let place: i32 = self.enter(instance, self.compiled.alloc, length)?;
        if place == 0 {
            return Err(self.unusable(&format!("has no room for {length} bytes of input: `alloc` gives 0")));
        }
        if memory.write(&mut self.store, place.cast_unsigned() as usize, input).is_err() {
            return Err(self.unusable("wants its input outside of its memory"));
        }
        let packed: i64 = self.enter(instance, export, (place, length))?;
        let (place, length) = unpacked(packed);
        if length > OUTPUT {
            return Err(self.unusable(&format!("gives {length} bytes, more than {OUTPUT}")));
        }
        let output = memory.data(&self.store).get(place..).and_then(|rest| rest.get(..length));
        let Some(output) = output else {
            return Err(self.unusable("gives what is outside of its memory"));
        };
        if !is_json(output) {
            return Err(self.unusable("gives something else than JSON"));
        }
        Ok(Bytes::copy_from_slice(output))
    }

    fn enter<P: WasmParams, R: WasmResults>(
        &mut self,
        instance: Instance,
        export: ModuleExport,
        parameters: P,
    ) -> Result<R> {
        let Some(Extern::Func(function)) = instance.get_module_export(&mut self.store, &export) else {
            return Err(self.unusable("has lost its functions"));
        };
        let result = function
            .typed(&self.store)
            .and_then(|function| function.call(self.store.as_context_mut(), parameters));
        result.map_err(|error| self.broken_off(error))
    }

    fn broken_off(&self, error: wasmtime::Error) -> message::Error {
        broken_off(self.plan, self.function, self.store.data(), error)
    }

    fn unusable(&self, why: &str) -> message::Error {
        unusable(self.plan, self.function, why)
    }
}

/// `(pointer << 32) | length`, both without a sign, so that what is negative is far too much.
fn unpacked(packed: i64) -> (usize, usize) {
    let packed = packed.cast_unsigned();
    ((packed >> 32) as usize, (packed & u64::from(u32::MAX)) as usize)
}

/// Whether it is one JSON value in UTF-8 (RFC 8259 §8.1). The parser does not look at what it skips, so we do.
fn is_json(output: &[u8]) -> bool {
    std::str::from_utf8(output).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}
