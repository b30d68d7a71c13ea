//! Cores wait for calls and do other things meanwhile; who goes away takes the call along.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use message::Kind;

use super::{LONG, Module, assert_says, call, echo, endless, function, module, until};

/// Begins a call and leaves it to itself.
fn begun(
    module: &Arc<Module>,
    name: &'static str,
) -> tokio::task::JoinHandle<Result<String, message::Error>> {
    let module = Arc::clone(module);
    tokio::spawn(async move { call(&module, name, "null").await })
}

#[tokio::test]
async fn a_core_goes_on_while_others_compute() {
    let module = module(&[endless()], |plan| {
        plan.threads = 4;
        plan.timeout = Duration::from_millis(500);
    });
    let calls: Vec<_> = (0..8).map(|_| begun(&module, "endless")).collect();
    until("the start", || module.figures().running == 4).await;
    let mut pauses = Vec::new();
    while module.figures().running > 0 {
        let start = Instant::now();
        tokio::time::sleep(Duration::from_millis(1)).await;
        pauses.push(start.elapsed());
    }
    for call in calls {
        assert_says(&call.await.unwrap().unwrap_err(), Kind::SourceTimeout, "computed for more than 500ms");
    }
    pauses.sort();
    let usual = pauses[pauses.len() * 9 / 10];
    println!("a millisecond took {usual:?} at most nine times of ten; {:?} once", pauses.last());
    assert!(usual < Duration::from_millis(20), "a millisecond took {usual:?}");
}

#[tokio::test]
async fn every_caller_gets_its_own_answer() {
    let module = module(&[echo()], |_| ());
    let calls: Vec<_> = (0..500)
        .map(|number| {
            let module = Arc::clone(&module);
            tokio::spawn(async move { call(&module, "echo", &number.to_string()).await })
        })
        .collect();
    for (number, call) in (0..).zip(calls) {
        let number: i32 = number;
        assert_eq!(call.await.unwrap().unwrap(), number.to_string());
    }
    let figures = module.figures();
    assert_eq!((figures.calls, figures.failed, figures.waiting, figures.running), (500, 0, 0, 0));
}

#[tokio::test]
async fn calls_above_the_queue_are_refused_at_once() {
    let module = module(&[endless()], |plan| {
        plan.threads = 1;
        plan.queue = 1;
    });
    let running = begun(&module, "endless");
    until("the start", || module.figures().running == 1).await;
    let waiting = begun(&module, "endless");
    until("the wait", || module.figures().waiting == 1).await;
    let error = call(&module, "endless", "null").await.unwrap_err();
    assert_says(&error, Kind::Overloaded, "");
    let figures = module.figures();
    assert_eq!((figures.calls, figures.refused, figures.failed), (3, 1, 0));
    waiting.abort();
    running.abort();
}

#[tokio::test]
async fn a_call_whose_caller_goes_away_is_stopped_soon() {
    let module = module(&[endless()], |plan| plan.threads = 1);
    let mut fastest = LONG;
    // The machine may be busy: one of a few is enough to see that it can.
    for _ in 0..5 {
        let call = begun(&module, "endless");
        until("the start", || module.figures().running == 1).await;
        call.abort();
        let start = Instant::now();
        until("the end", || module.figures().running == 0).await;
        fastest = fastest.min(start.elapsed());
    }
    println!("stopped after {fastest:?}");
    assert!(fastest < Duration::from_millis(30), "stopped after {fastest:?}");
    assert_eq!(module.figures().cancelled, 5);
    assert_eq!(module.figures().timed_out, 0);
}

#[tokio::test]
async fn a_call_whose_caller_goes_away_before_it_begins_makes_room() {
    let module = module(&[endless(), echo()], |plan| {
        plan.threads = 1;
        plan.queue = 1;
    });
    let running = begun(&module, "endless");
    until("the start", || module.figures().running == 1).await;
    for _ in 0..10 {
        let waiting = begun(&module, "echo");
        until("the wait", || module.figures().waiting == 1).await;
        waiting.abort();
        until("the end of the wait", || module.figures().waiting == 0).await;
    }
    running.abort();
    until("the end", || module.figures().running == 0).await;
    assert_eq!(module.figures().cancelled, 11);
    assert_eq!(call(&module, "echo", "1").await.unwrap(), "1");
}

/// Threads of this process that have such a name.
#[cfg(target_os = "linux")]
fn threads(prefix: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux has it");
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with(prefix)).count()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn threads_end_with_their_module() {
    let module = module(&[endless()], |plan| {
        plan.name = "ends".to_owned();
        plan.threads = 3;
    });
    until("the start of three and one", || threads("wasm-ends-") == 4).await;
    let running = begun(&module, "endless");
    until("the start", || module.figures().running == 1).await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    drop(module);
    until("the end of the threads", || threads("wasm-ends-") == 0).await;
}

/// Pages of memory that this process has in use.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let sizes = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    sizes.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("the second number")
}

/// In a process of its own, where nothing else takes memory.
#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_calls_leave_nothing_behind() {
    const ALONE: &str = "FLEETFOOT_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let mut again = Command::new(std::env::current_exe().unwrap());
        let name = "cores::ten_thousand_calls_leave_nothing_behind";
        let output = again.args(["--exact", name, "--nocapture"]).env(ALONE, "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let takes = function(
        "takes",
        "(drop (memory.grow (i32.const 16)))
         (memory.fill (i32.const 65536) (i32.const 1) (i32.const 500000))
         (i32.store (i32.const 0) (i32.const 0x6c6c756e))
         (i64.const 4)",
    );
    let traps = function("traps", "(drop (memory.grow (i32.const 16))) unreachable");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let module = module(&[takes, traps, echo()], |_| ());
        let mut before = 0;
        for number in 0..10_000 {
            if number == 1000 {
                before = resident();
            }
            match number % 10 {
                0 => assert_eq!(call(&module, "takes", "1").await.unwrap(), "null"),
                1 => assert!(call(&module, "traps", "1").await.is_err()),
                // Begun and given up.
                2 => tokio::select! {
                    biased;
                    _ = call(&module, "takes", "1") => (),
                    () = std::future::ready(()) => (),
                },
                _ => assert_eq!(call(&module, "echo", "[1]").await.unwrap(), "[1]"),
            }
        }
        let more = resident().saturating_sub(before) * 4096;
        assert!(more < 2 << 20, "{more} bytes more after nine thousand calls");
    });
}
