//! Simulation: [`Tracked`] before a Redis made of numbers, with writers, expiry, flushes, pings and a line that is late,
//! breaks and comes back, and with reads that take as long as they like on the way there and on the way back.
//!
//! Everything is drawn from a seed, so a failure is told as its seed and steps, and comes again. What is checked, at
//! each answer that is given out, stands in [`world`]. That the checks find something is shown by taking out, one by
//! one, what keeps them true.

mod redis;
mod world;

use world::{Fault, Tally, World};

const SEEDS: u64 = 3000;
const STEPS: usize = 400;

/// Runs one seed; what went wrong, and the steps to it.
fn run(seed: u64, fault: Fault, tally: &mut Tally) -> Result<(), String> {
    let mut world = World::new(seed, fault);
    (0..STEPS).try_for_each(|_| world.step())?;
    tally.add(&world);
    Ok(())
}

/// The first seed that fails.
fn find(fault: Fault) -> (Option<(u64, String)>, Tally) {
    let mut tally = Tally::default();
    let found = (0..SEEDS).find_map(|seed| run(seed, fault, &mut tally).err().map(|story| (seed, story)));
    (found, tally)
}

#[test]
fn no_answer_is_given_that_is_older_than_what_was_announced() {
    let (found, tally) = find(Fault::None);
    if let Some((seed, story)) = found {
        panic!("seed {seed}:\n{story}");
    }
    println!("{tally:?}");
    let Tally { fresh, stale, shared, figures } = tally;
    assert!(fresh > 100 * SEEDS && stale > SEEDS && shared > SEEDS, "answers are given out: {tally:?}");
    assert!(figures.kept > 5 * SEEDS && figures.outdated > SEEDS && figures.not_live > SEEDS, "{figures:?}");
    assert!(figures.evicted > SEEDS && figures.lives > SEEDS && figures.flushes > SEEDS / 2, "{figures:?}");
}

#[test]
fn a_seed_is_replayed_step_by_step() {
    let story = |seed| {
        let mut world = World::new(seed, Fault::None);
        (0..STEPS).for_each(|_| world.step().expect("nothing fails"));
        world.story()
    };
    (0..20).for_each(|seed| assert_eq!(story(seed), story(seed)));
}

#[test]
fn without_the_guard_the_simulation_finds_an_old_value() {
    fails(Fault::StampsTakenLate, &["announced"]);
}

#[test]
fn without_the_number_of_the_life_the_simulation_finds_a_value_from_before() {
    fails(Fault::LifeTakenLate, &["life", "announced"]);
}

#[test]
fn without_the_deadline_the_simulation_finds_an_expired_value() {
    fails(Fault::DeadlineForgotten, &["expired"]);
}

#[test]
fn without_asking_first_whoever_shares_a_read_gets_an_old_value() {
    fails(Fault::SharedBlindly, &["announced"]);
}

#[test]
fn with_a_ping_counted_from_its_answer_the_simulation_finds_a_value_that_is_too_old() {
    fails(Fault::ConfirmedLate, &["silence"]);
}

fn fails(fault: Fault, because: &[&str]) {
    let (found, _) = find(fault);
    let (seed, story) = found.expect("the simulation must find this");
    let last = story.lines().last().unwrap_or_default();
    println!("{fault:?}: seed {seed}: {last}");
    assert!(because.iter().any(|word| last.contains(word)), "seed {seed}: {last}");
    let again = run(seed, fault, &mut Tally::default()).expect_err("a seed fails again");
    assert_eq!(story, again);
}
