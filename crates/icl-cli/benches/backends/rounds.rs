//! All sides of a case in turns.

use std::fmt;
use std::time::{Duration, Instant};

use crate::case::Case;
use crate::machine::Machine;
use crate::process::{Memory, Process, Ready, SideError};
use crate::role::Role;
use crate::side::Side;

/// Number and length of rounds.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    least: usize,
    most: usize,
    /// Time after which no round begins, once there were enough.
    budget: Duration,
    /// Length of a turn in milliseconds; one repetition if that takes longer.
    turn_ms: f64,
}

impl Effort {
    pub const FULL: Self = Self {
        least: 3,
        most: 30,
        budget: Duration::from_secs(10),
        turn_ms: 100.0,
    };
    pub const QUICK: Self = Self {
        least: 2,
        most: 5,
        budget: Duration::from_secs(2),
        turn_ms: 30.0,
    };
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Rounds: {} to {}, no more after {} s; a turn: repetitions for {} ms, at least one",
            self.least,
            self.most,
            self.budget.as_secs(),
            self.turn_ms
        )
    }
}

/// Outcome of one side in a case.
pub struct Outcome {
    pub side: String,
    pub role: Role,
    /// Side by whose times its times are divided.
    pub reference: Option<&'static str>,
    pub result: Result<Figures, SideError>,
}

/// Measurements.
pub struct Figures {
    pub ready: Ready,
    /// Mean time of a repetition in each round, in milliseconds.
    pub times_ms: Vec<f64>,
    /// The same of all processors together.
    pub processors_ms: Vec<f64>,
    pub memory: Memory,
}

/// Side during the rounds.
struct Player {
    process: Process,
    ready: Ready,
    times_ms: Vec<f64>,
    processors_ms: Vec<f64>,
}

/// Starts all sides, lets them take turns and ends them. After a failure of one, the others continue.
pub fn run(case: &Case, sides: &[&Side], machine: &Machine, effort: Effort) -> Vec<Outcome> {
    // All prepare at the same time, and none is measured before the last is ready.
    let started: Vec<Result<Process, SideError>> = sides
        .iter()
        .map(|side| Process::start(side.command(case, machine)?))
        .collect();
    let mut players: Vec<Result<Player, SideError>> = started
        .into_iter()
        .map(|process| {
            let mut process = process?;
            Ok(Player {
                ready: process.ready()?,
                process,
                times_ms: Vec::new(),
                processors_ms: Vec::new(),
            })
        })
        .collect();
    let start = Instant::now();
    let n_players = players.len();
    for round in 0..effort.most {
        if round >= effort.least && start.elapsed() > effort.budget {
            break;
        }
        // Each round begins with another side.
        for turn in 0..n_players {
            let player = &mut players[(round + turn) % n_players];
            if let Ok(it) = player {
                match it.process.turn_ms(effort.turn_ms) {
                    Ok([time_ms, processor_ms]) => {
                        it.times_ms.push(time_ms);
                        it.processors_ms.push(processor_ms);
                    }
                    Err(error) => *player = Err(error),
                }
            }
        }
    }
    let figures = |player: Result<Player, SideError>| {
        let mut player = player?;
        Ok(Figures {
            memory: player.process.memory()?,
            ready: player.ready,
            times_ms: player.times_ms,
            processors_ms: player.processors_ms,
        })
    };
    let outcomes = sides.iter().zip(players);
    outcomes
        .map(|(side, player)| Outcome {
            side: side.name.clone(),
            role: side.role,
            reference: side.reference,
            result: figures(player),
        })
        .collect()
}
