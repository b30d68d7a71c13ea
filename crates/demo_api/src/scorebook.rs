//! Scorebook: the games and leagues of the third seed document, as JSON. Everything is made up from its number; only how
//! often a game was changed is kept. Read and changed by the endpoints.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

/// Games, numbered from 1.
const GAMES: u64 = 1200;
/// Leagues, numbered from 1; each has as many games.
const LEAGUES: u64 = 24;
const PLAYS: u64 = 300;
const PLAYERS: u64 = 600;

/// Clones share the versions.
#[derive(Clone)]
pub(crate) struct Scorebook(Arc<[AtomicU64]>);

/// As in lists.
#[derive(Serialize)]
struct Game {
    id: u64,
    version: u64,
    league: u64,
    field: String,
    home: String,
    away: String,
    score: [u64; 2],
    inning: u64,
    status: &'static str,
}

/// One line of a game's record.
#[derive(Serialize)]
struct Play {
    inning: u64,
    batter: u64,
    pitcher: u64,
    result: &'static str,
    runs: u64,
}

#[derive(Serialize)]
struct Player {
    id: u64,
    team: String,
    name: String,
    games: u64,
    hits: u64,
    runs: u64,
    average: f64,
}

#[derive(Serialize)]
struct Record {
    #[serde(flatten)]
    game: Game,
    plays: Vec<Play>,
}

#[derive(Serialize)]
struct League {
    id: u64,
    games: Vec<Game>,
    players: Vec<Player>,
}

impl Scorebook {
    pub(crate) fn new() -> Self {
        Scorebook((0..GAMES).map(|_| AtomicU64::new(1)).collect())
    }

    /// All games, about 160 KB.
    pub(crate) fn games(&self) -> String {
        json(&(1..=GAMES).filter_map(|id| self.row(id)).collect::<Vec<_>>())
    }

    /// One with everything that happened, about 20 KB; `None` where there is none.
    pub(crate) fn game(&self, id: u64) -> Option<String> {
        let game = self.row(id)?;
        let results = ["out", "single", "out", "walk", "out", "double"];
        let plays = (0..PLAYS).map(|play| Play {
            inning: 1 + play * 9 / PLAYS,
            batter: 1 + (id * 31 + play) % PLAYERS,
            pitcher: 1 + (id * 17 + play / 40) % PLAYERS,
            result: results[(play % 6) as usize],
            runs: u64::from(play % 29 == 0),
        });
        Some(json(&Record { game, plays: plays.collect() }))
    }

    /// A league with its games and players, about 60 KB; `None` where there is none.
    pub(crate) fn league(&self, id: u64) -> Option<String> {
        if !(1..=LEAGUES).contains(&id) {
            return None;
        }
        let games = (1..=GAMES).filter(|game| league_of(*game) == id).filter_map(|game| self.row(game));
        let players = (1..=PLAYERS).map(|number| Player {
            id: id * PLAYERS + number,
            team: team(id + number % 12),
            name: format!("Player {number} of league {id}"),
            games: 50,
            hits: number * 7 % 90,
            runs: number * 3 % 40,
            average: (number * 7 % 90) as f64 / 200.0,
        });
        Some(json(&League { id, games: games.collect(), players: players.collect() }))
    }

    /// One more change of this game; its version afterwards, `None` where there is no such game.
    pub(crate) fn change(&self, id: u64) -> Option<u64> {
        Some(self.version(id)?.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn row(&self, id: u64) -> Option<Game> {
        let version = self.version(id)?.load(Ordering::Relaxed);
        Some(Game {
            id,
            version,
            league: league_of(id),
            field: format!("Field {}", 1 + id % 8),
            home: team(id),
            away: team(id + 5),
            score: [id % 9 + version - 1, id * 7 % 8],
            inning: 9,
            status: "final",
        })
    }

    fn version(&self, id: u64) -> Option<&AtomicU64> {
        self.0.get(usize::try_from(id).ok()?.checked_sub(1)?)
    }
}

fn league_of(game: u64) -> u64 {
    1 + game % LEAGUES
}

fn team(number: u64) -> String {
    format!("Team {}", 1 + number % 96)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers and text always are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_the_size_of_real_ones() {
        let book = Scorebook::new();
        for (content, least, most) in [
            (book.games(), 140_000, 180_000),
            (book.game(7).unwrap(), 15_000, 30_000),
            (book.league(3).unwrap(), 50_000, 80_000),
        ] {
            assert!((least..=most).contains(&content.len()), "{}", content.len());
        }
    }

    #[test]
    fn a_change_is_seen_wherever_the_game_is() {
        let book = Scorebook::new();
        assert_eq!(book.change(7), Some(2));
        let changed = r#""id":7,"version":2"#;
        assert!(book.games().contains(changed));
        assert!(book.game(7).unwrap().contains(changed));
        assert!(book.league(league_of(7)).unwrap().contains(changed));
        assert!(book.game(8).unwrap().contains(r#""id":8,"version":1"#));
    }

    #[test]
    fn there_are_no_others() {
        let book = Scorebook::new();
        for id in [0, GAMES + 1, u64::MAX] {
            assert!(book.game(id).is_none() && book.league(id).is_none() && book.change(id).is_none());
        }
        assert!(book.game(GAMES).is_some() && book.league(LEAGUES).is_some());
    }
}
