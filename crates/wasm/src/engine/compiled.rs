//! Compiled: a module that is machine code and known to be what we can call. In: the file. Out: something to make
//! instances of, and where its exports are.

use std::collections::BTreeMap;

use message::Result;
use plan::WasmSource;
use wasmtime::{
    Config, Engine, ExternType, FuncType, InstanceAllocationStrategy, InstancePre, Linker, Module,
    ModuleExport, PoolingAllocationConfig, ValType,
};

use super::bounds::Bounds;
use super::failure::{unfit, unfit_since};

/// Bytes of the stack of one call, which is part of its thread's (2 MiB).
const STACK: usize = 512 << 10;
/// Bytes of memory that stay with a thread from call to call, and are wiped by hand; the rest goes back to the system.
const KEPT: usize = 64 << 10;
/// Tables of one module.
const TABLES: u32 = 4;
/// Elements of one table: functions that are called by pointer. Addresses are set aside for them, and memory as needed.
const ELEMENTS: usize = 100_000;

/// See the module.
pub(crate) struct Compiled {
    pub(crate) engine: Engine,
    pub(crate) instances: InstancePre<Bounds>,
    pub(crate) memory: ModuleExport,
    pub(crate) alloc: ModuleExport,
    /// By their names.
    pub(crate) functions: BTreeMap<String, ModuleExport>,
}

impl Compiled {
    /// Reads, validates and compiles.
    pub(crate) fn new(plan: &WasmSource) -> Result<Self> {
        let bytes = std::fs::read(&plan.module).map_err(|error| {
            unfit(plan, "cannot be read; see that the path is right and that we may read it").caused_by(error)
        })?;
        let engine = Engine::new(&config(plan)).map_err(|error| {
            let why =
                "cannot be run here; each of its threads sets 4 GiB of addresses aside (see `ulimit -v`)";
            unfit_since(plan, why, error)
        })?;
        let module = Module::new(&engine, bytes).map_err(|error| {
            unfit_since(plan, "is no WebAssembly that we can run, binary (.wasm) or text (.wat)", error)
        })?;
        if let Some(import) = module.imports().next() {
            return Err(unfit(plan, &not_given(import.module(), import.name())));
        }
        let export = |name: &str, fits: &dyn Fn(ExternType) -> bool| {
            let fits = module.get_export(name).is_some_and(fits);
            fits.then(|| module.get_export_index(name)).flatten()
        };
        let memory = export("memory", &|ty| matches!(ty, ExternType::Memory(memory) if !memory.is_64()))
            .ok_or_else(|| {
                unfit(plan, "exports no `memory`, through which what goes in and out has to pass")
            })?;
        let alloc = FuncType::new(&engine, [ValType::I32], [ValType::I32]);
        let alloc = export("alloc", &|ty| is(&ty, &alloc)).ok_or_else(|| {
            unfit(plan, "exports no `alloc(length: i32) -> i32`, which has to say where to put what goes in")
        })?;
        let function = FuncType::new(&engine, [ValType::I32, ValType::I32], [ValType::I64]);
        let functions = module
            .exports()
            .filter(|export| is(&export.ty(), &function))
            .filter_map(|export| Some((export.name().to_owned(), module.get_export_index(export.name())?)))
            .collect();
        let instances = Linker::new(&engine)
            .instantiate_pre(&module)
            .map_err(|error| unfit_since(plan, "cannot be instantiated", error))?;
        Ok(Compiled { engine, instances, memory, alloc, functions })
    }
}

/// Instances come from a pool with one place for each thread. Without it the memory of each call would be mapped and
/// unmapped, for which the system makes all threads of the process wait, and which takes longer than a short call does.
fn config(plan: &WasmSource) -> Config {
    let threads = u32::try_from(plan.threads).unwrap_or(u32::MAX).max(1);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_core_instances(threads)
        .total_memories(threads)
        .linear_memory_keep_resident(KEPT)
        .max_tables_per_module(TABLES)
        .total_tables(threads.saturating_mul(TABLES))
        .table_elements(ELEMENTS);
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .max_wasm_stack(STACK)
        .wasm_backtrace_max_frames(None)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

fn is(ty: &ExternType, wanted: &FuncType) -> bool {
    matches!(ty, ExternType::Func(ty) if FuncType::eq(ty, wanted))
}

/// There is no import that we give; who wants one has usually not asked for it.
fn not_given(from: &str, name: &str) -> String {
    let hint = match from {
        "wasi_snapshot_preview1" | "wasi_unstable" => {
            "; compile it without WASI (Rust: wasm32-unknown-unknown)"
        }
        "env" if name == "abort" => "; compile it with `--use abort=` (AssemblyScript)",
        _ => "",
    };
    format!("imports `{from}.{name}`, and modules are given nothing{hint}")
}
