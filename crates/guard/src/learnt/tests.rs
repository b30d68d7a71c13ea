use std::sync::Barrier;

use proptest::prelude::*;

use super::*;

const LONGEST: Duration = Duration::from_mins(1);

/// One owner, and the time.
struct Scene {
    learnt: Arc<Learnt>,
    now: Instant,
}

impl Scene {
    fn new() -> Self {
        Scene { learnt: Learnt::new(LONGEST), now: Instant::now() }
    }

    fn after(&mut self, seconds: f64) {
        self.now += Duration::from_secs_f64(seconds);
    }

    /// A call that may be made.
    fn call(&self) -> LearntCall {
        match self.learnt.take(self.now) {
            Admission::Taken(call) => call,
            other => panic!("{other:?}"),
        }
    }

    /// How long to wait, in seconds.
    fn wait(&self) -> f64 {
        match self.learnt.take(self.now) {
            Admission::In(wait) => wait.as_secs_f64(),
            other => panic!("{other:?}"),
        }
    }

    /// How many may be made at once.
    fn burst(&self) -> Vec<LearntCall> {
        let next = || match self.learnt.take(self.now) {
            Admission::Taken(call) => Some(call),
            _ => None,
        };
        std::iter::from_fn(next).take(1000).collect()
    }

    fn tell(&self, call: LearntCall, heard: &Heard<'_>) {
        call.heard(heard, self.now);
    }

    fn is_ignorant(&self) -> bool {
        self.learnt.is_ignorant.load(Relaxed)
    }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn refused(pause: Duration) -> Heard<'static> {
    Heard { is_refused: true, pause: Some(pause), quotas: &[] }
}

fn unavailable(pause: Duration) -> Heard<'static> {
    Heard { pause: Some(pause), ..Heard::default() }
}

fn quota(name: u64, remaining: u64, reset: u64) -> HeardQuota {
    HeardQuota { name, limit: Some(100), remaining, reset: Duration::from_secs(reset), window: None }
}

fn remains(quotas: &[HeardQuota]) -> Heard<'_> {
    Heard { quotas, ..Heard::default() }
}

#[test]
fn of_whoever_says_nothing_nothing_is_known() {
    let scene = Scene::new();
    for call in scene.burst() {
        scene.tell(call, &Heard::default());
    }
    assert!(scene.is_ignorant());
    assert_eq!(scene.burst().len(), 1000);
}

#[test]
fn a_refusal_stops_everybody_and_then_one_goes_first() {
    let mut scene = Scene::new();
    let (first, other) = (scene.call(), scene.call());
    scene.tell(first, &refused(seconds(30)));
    assert!((scene.wait() - 30.0).abs() < 1e-6);
    scene.after(10.0);
    scene.tell(other, &refused(seconds(10)));
    assert!((scene.wait() - 20.0).abs() < 1e-6, "the longest counts");
    scene.after(20.0);
    let probe = scene.call();
    assert!(scene.wait() <= LOOK_AGAIN);
    scene.tell(probe, &refused(seconds(5)));
    assert!((scene.wait() - 5.0).abs() < 1e-6);
    scene.after(5.0);
    let probe = scene.call();
    scene.tell(probe, &Heard::default());
    assert!(scene.wait() > LOOK_AGAIN, "a pace is kept");
}

#[test]
fn whoever_goes_first_and_does_not_come_back_keeps_nobody_waiting() {
    let mut scene = Scene::new();
    scene.tell(scene.call(), &unavailable(seconds(30)));
    scene.after(30.0);
    drop(scene.call());
    let slow = scene.call();
    assert!(scene.wait() <= LOOK_AGAIN);
    scene.after(PATIENCE);
    assert!(!scene.burst().is_empty());
    drop(slow);
}

#[test]
fn who_is_not_available_is_left_alone_for_a_while_and_teaches_no_pace() {
    let mut scene = Scene::new();
    scene.tell(scene.call(), &unavailable(seconds(30)));
    assert!((scene.wait() - 30.0).abs() < 1e-6);
    scene.after(30.0);
    scene.tell(scene.call(), &Heard::default());
    assert_eq!(scene.burst().len(), 1000);
    assert!(scene.is_ignorant());
}

#[test]
fn whatever_a_provider_says_nobody_waits_longer_than_may_be() {
    let absurd = [
        refused(Duration::MAX),
        remains(&[HeardQuota {
            name: 1,
            limit: Some(u64::MAX),
            remaining: 0,
            reset: Duration::MAX,
            window: Some(Duration::MAX),
        }]),
    ];
    for heard in absurd {
        let mut scene = Scene::new();
        scene.tell(scene.call(), &heard);
        assert!((scene.wait() - 60.0).abs() < 1e-6, "{heard:?}");
        scene.after(60.0);
        scene.tell(scene.call(), &Heard::default());
    }
}

#[test]
fn whoever_is_let_through_all_the_same_is_told_no_pace() {
    let mut scene = Scene::new();
    scene.tell(scene.call(), &refused(seconds(3600)));
    scene.after(60.0);
    scene.tell(scene.call(), &Heard::default());
    assert_eq!(scene.burst().len(), 1000);
}

#[test]
fn refusals_that_tell_no_time_pause_for_longer_each_time() {
    let mut scene = Scene::new();
    for pause in [1.0, 2.0, 4.0, 8.0] {
        let call = scene.call();
        scene.tell(call, &Heard { pause: None, ..refused(Duration::ZERO) });
        assert!((scene.wait() - pause).abs() < 1e-6);
        scene.after(pause);
    }
    scene.tell(scene.call(), &Heard::default());
    scene.after(60.0);
    let call = scene.call();
    scene.tell(call, &refused(Duration::ZERO));
    assert!((scene.wait() - 1.0).abs() < 1e-6);
}

#[test]
fn of_plenty_whoever_has_been_quiet_may_take_many_at_once_and_more_as_answers_come() {
    let mut scene = Scene::new();
    scene.tell(scene.call(), &remains(&[quota(1, 90, 50)]));
    scene.after(5.0);
    let mut made = Vec::new();
    for remaining in [80, 71, 63, 63] {
        let calls = scene.burst();
        made.push(calls.len());
        assert!(scene.wait() <= if made.len() < 3 { LOOK_AGAIN } else { 1.0 });
        for call in calls {
            scene.tell(call, &remains(&[quota(1, remaining, 45)]));
        }
    }
    assert_eq!(made, [10, 9, 5, 0], "an eighth of what is left each time, a fourth of all together");
}

#[test]
fn what_remains_is_spread_once_it_is_scarce() {
    let mut scene = Scene::new();
    scene.tell(scene.call(), &remains(&[quota(1, 12, 50)]));
    let mut made = 0;
    for _ in 0..500 {
        made += scene.burst().len();
        scene.after(0.1);
    }
    assert!((9..=10).contains(&made), "two of a hundred are left: {made}");
}

#[test]
fn calls_under_way_are_taken_off_what_remains() {
    let scene = Scene::new();
    let mut calls: Vec<_> = (0..5).map(|_| scene.call()).collect();
    // The newest, which holds those before it or does not.
    scene.tell(calls.remove(4), &remains(&[quota(1, 6, 10)]));
    assert!(scene.wait() > 9.0, "four under way, and two that are always left");
}

#[test]
fn an_older_answer_does_not_undo_a_newer_one() {
    let mut scene = Scene::new();
    let (older, newer) = (scene.call(), scene.call());
    scene.tell(newer, &remains(&[quota(1, 0, 30)]));
    scene.tell(older, &remains(&[quota(1, 80, 30)]));
    scene.after(1.0);
    assert!(scene.wait() > 28.0);
}

#[test]
fn one_answer_that_says_nothing_is_left_holds_the_next_call_until_the_reset() {
    for reset in [1, 2, 3, 30, 59] {
        let mut scene = Scene::new();
        scene.tell(scene.call(), &remains(&[quota(1, 0, reset)]));
        let wait = scene.wait();
        assert!(wait >= reset as f64 && wait <= reset as f64 + 1.0, "{reset}: {wait}");
        scene.after(wait + 0.001);
        scene.tell(scene.call(), &remains(&[quota(1, 99, reset)]));
    }
}

#[test]
fn in_windows_of_a_second_a_rate_that_was_found_is_better_than_to_stop() {
    let mut scene = Scene::new();
    scene.tell(scene.call(), &refused(seconds(1)));
    scene.after(1.0);
    scene.tell(scene.call(), &remains(&[quota(1, 0, 1)]));
    assert!(scene.wait() < 0.5);
}

#[test]
fn whoever_comes_back_last_may_be_who_took_the_last() {
    let mut scene = Scene::new();
    let (older, newer) = (scene.call(), scene.call());
    scene.tell(newer, &remains(&[quota(1, 50, 30)]));
    scene.tell(older, &remains(&[quota(1, 0, 30)]));
    scene.after(10.0);
    assert!(scene.wait() > 19.0);
    let scene = Scene::new();
    let (older, newer) = (scene.call(), scene.call());
    scene.tell(newer, &remains(&[quota(1, 99, 60)]));
    scene.tell(older, &remains(&[quota(1, 0, 1)]));
    assert!(!scene.burst().is_empty(), "that was the window before");
}

#[test]
fn a_window_that_slides_is_told_from_one_that_ends() {
    let mut scene = Scene::new();
    for _ in 0..2 {
        let call = scene.call();
        scene.tell(call, &remains(&[quota(1, 3, 60)]));
        scene.after(61.0);
    }
    let slides = |scene: &Scene| scene.learnt.known().quotas[0].slides();
    assert!(slides(&scene), "it should be whole");
    let mut scene = Scene::new();
    for (passed, reset) in [(0, 60), (20, 40), (60, 40), (10, 30), (55, 35)] {
        scene.now += seconds(passed);
        scene.tell(scene.call(), &remains(&[quota(1, 90, reset)]));
        assert!(!slides(&scene), "{reset}");
    }
    scene.after(2.0);
    scene.tell(scene.call(), &remains(&[quota(1, 90, 35)]));
    assert!(slides(&scene), "it would have to be whole at the same time");
}

#[test]
fn a_refusal_that_a_quota_explains_teaches_no_rate_unless_they_go_on() {
    let mut scene = Scene::new();
    let mut refusals = 0;
    while scene.learnt.known().rate.is_none() {
        let call = scene.call();
        scene.tell(call, &Heard { quotas: &[quota(1, 0, 10)], ..refused(seconds(10)) });
        scene.after(11.0);
        refusals += 1;
    }
    assert_eq!(refusals, 12, "a twelfth of a hundred, in reserve, was not enough");
}

#[test]
fn of_several_quotas_the_scarcest_counts() {
    let mut scene = Scene::new();
    scene.tell(scene.call(), &remains(&[quota(1, 90, 30), quota(2, 0, 20), quota(3, 90, 30)]));
    scene.after(1.0);
    assert!(scene.wait() > 18.0);
    scene.after(21.0);
    assert!(!scene.burst().is_empty());
}

#[test]
fn no_more_quotas_are_kept_than_anybody_has() {
    let scene = Scene::new();
    let many: Vec<_> = (0..100).map(|name| quota(name, 90, 50)).collect();
    scene.tell(scene.call(), &remains(&many));
    assert_eq!(scene.learnt.known().quotas.len(), MOST_QUOTAS);
}

#[test]
fn figures_tell_what_is_known_and_take_nothing() {
    let mut scene = Scene::new();
    assert_eq!(scene.learnt.figures(scene.now), LearntFigures::default());
    scene.tell(scene.call(), &remains(&[quota(1, 52, 59), quota(2, 90, 59)]));
    let LearntFigures { pause, wait, per_second, quota } = scene.learnt.figures(scene.now);
    let QuotaLeft { remaining, limit, reset } = quota.expect("two were announced");
    assert_eq!((pause, remaining, limit, reset.as_secs()), (None, 52, 100, 59));
    let pace = per_second.expect("it is spread");
    assert!((pace - 50.0 / 59.0).abs() < 0.01, "but for the reserve: {pace}");
    assert_eq!(wait, None);
    let calls = scene.burst();
    let after = scene.learnt.figures(scene.now);
    assert_eq!(after.quota.map(|quota| quota.remaining), Some(52 - calls.len() as u64), "under way");
    assert_eq!(after.wait.map(|wait| wait.as_secs_f64()), Some(scene.wait()));
    scene.tell(calls.into_iter().next().expect("one went"), &unavailable(seconds(30)));
    assert_eq!(scene.learnt.figures(scene.now).pause.map(|pause| pause.as_secs()), Some(30));
    scene.after(24.0 * 3600.0);
    assert_eq!(scene.learnt.figures(scene.now).quota, None);
}

#[test]
fn of_many_owners_the_slowest_is_told_and_how_many_are_paused() {
    let owners = LearntByOwner::new(10, LONGEST);
    let now = Instant::now();
    assert_eq!(owners.figures(now), OwnersFigures::default());
    for (owner, heard) in
        [("a", unavailable(seconds(30))), ("b", refused(seconds(30))), ("c", remains(&[quota(1, 0, 30)]))]
    {
        let Admission::Taken(call) = owners.of(owner.as_bytes()).take(now) else {
            panic!("nothing is known")
        };
        call.heard(&heard, now);
    }
    let OwnersFigures { paused, per_second } = owners.figures(now);
    assert_eq!((paused, per_second), (2, Some(0.0)));
}

#[test]
fn a_window_that_is_over_is_whole_again_also_if_nobody_says_so() {
    let mut scene = Scene::new();
    scene.tell(scene.call(), &remains(&[quota(1, 0, 30)]));
    assert!(scene.wait() > 29.0);
    scene.after(31.0);
    assert!(!scene.burst().is_empty());
}

#[test]
fn what_has_not_been_heard_of_for_long_is_forgotten() {
    let mut scene = Scene::new();
    scene.tell(scene.call(), &refused(seconds(30)));
    scene.after(30.0);
    scene.tell(scene.call(), &remains(&[quota(1, 50, 30)]));
    assert!(!scene.is_ignorant());
    scene.after(24.0 * 3600.0);
    drop(scene.call());
    assert!(scene.is_ignorant());
}

#[test]
fn however_many_cores_take_at_once_no_more_go_than_may() {
    const THREADS: usize = 8;
    let mut scene = Scene::new();
    scene.tell(scene.call(), &remains(&[quota(1, 60, 60)]));
    scene.after(60.0 * 0.9);
    let together = Barrier::new(THREADS);
    let hammer = || {
        together.wait();
        scene.burst().len()
    };
    let made: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(hammer)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).sum()
    });
    assert!((1..=58).contains(&made), "{made}");
}

#[derive(Clone, Debug)]
enum Step {
    Take,
    Drop,
    Hear { is_refused: bool, pause: Option<Duration>, quotas: Vec<HeardQuota> },
    Pass(Duration),
}

fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        Just(Duration::MAX),
        (0..100_000_u64).prop_map(Duration::from_millis),
        any::<u64>().prop_map(Duration::from_nanos),
    ]
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(u64::MAX), 0..200_u64, any::<u64>()]
}

fn heard_quota() -> impl Strategy<Value = HeardQuota> {
    let limit = proptest::option::of(number());
    let window = proptest::option::of(duration());
    (0..12_u64, limit, number(), duration(), window).prop_map(|(name, limit, remaining, reset, window)| {
        HeardQuota { name, limit, remaining, reset, window }
    })
}

fn step() -> impl Strategy<Value = Step> {
    let quotas = proptest::collection::vec(heard_quota(), 0..4);
    let hear = (any::<bool>(), proptest::option::of(duration()), quotas)
        .prop_map(|(is_refused, pause, quotas)| Step::Hear { is_refused, pause, quotas });
    prop_oneof![
        4 => Just(Step::Take),
        1 => Just(Step::Drop),
        3 => hear,
        2 => (0..200_000_u64).prop_map(|millis| Step::Pass(Duration::from_millis(millis))),
    ]
}

proptest! {
    /// Whatever a provider says, nothing panics, nobody is told to wait for longer than may be, and a call goes at last.
    #[test]
    fn there_is_always_a_way_on(steps in proptest::collection::vec(step(), 1..80), longest in 0..100_000_u64) {
        let longest = Duration::from_millis(longest);
        let mut scene = Scene { learnt: Learnt::new(longest), now: Instant::now() };
        let mut calls = Vec::new();
        for step in steps {
            match step {
                Step::Take => match scene.learnt.take(scene.now) {
                    Admission::Taken(call) => calls.push(call),
                    Admission::WhenTold => prop_assert!(false, "time is all there is to wait for"),
                    Admission::In(wait) => {
                        let most = longest.max(Duration::from_secs_f64(LOOK_AGAIN)) + Duration::from_micros(1);
                        prop_assert!(!wait.is_zero() && wait <= most, "{wait:?}");
                    }
                },
                Step::Drop => drop(calls.pop()),
                Step::Hear { is_refused, pause, quotas } => {
                    if let Some(call) = calls.pop() {
                        call.heard(&Heard { is_refused, pause, quotas: &quotas }, scene.now);
                    }
                }
                Step::Pass(time) => scene.now += time,
            }
        }
        let by = scene.now + longest + Duration::from_secs_f64(PATIENCE + LOOK_AGAIN);
        while let Admission::In(wait) = scene.learnt.take(scene.now) {
            scene.now += wait;
            prop_assert!(scene.now <= by);
        }
    }
}
