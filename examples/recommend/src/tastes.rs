//! Synthetic interactions of users with tastes.

use std::fmt::Write;
use std::fs;

use anyhow::Result;
use icl::data::{Interactions, read_interactions};
use icl::prelude::*;
use rand::RngExt;

/// Number of users, who arrive one after another.
const N_USERS: usize = 100;
/// Number of items that each user chooses.
const N_CHOICES: usize = 15;
/// Number of tastes.
const N_TASTES: usize = 5;
/// Number of items of each taste.
const ITEMS_OF_TASTE: usize = 30;
/// Share of the choices that follow the user's taste.
const FAITHFUL: f64 = 0.9;
/// Number of users before the first one with the last taste, which is new then.
const BEFORE_LAST_TASTE: usize = 60;

/// Draws interactions of users, each of whom has a taste and chooses popular items of it first. The last taste comes late.
pub fn interactions(seed: Seed) -> Result<Interactions> {
    let mut text = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n".to_owned();
    for user in 0..N_USERS {
        let items = choices(user, &mut seed.child("tastes").at(user as u64).rng());
        for (choice, item) in items.into_iter().enumerate() {
            let time = 6 * user + 5 * choice;
            writeln!(text, "{user}\t{item}\t5\t{time}")?;
        }
    }
    // A data set is a file, and the reader does the rest.
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("tastes.inter");
    fs::write(&path, text)?;
    Ok(read_interactions(path)?)
}

/// Draws the different items of a user, in the order of time.
fn choices(user: usize, rng: &mut Rng) -> Vec<usize> {
    let n_tastes = match user < BEFORE_LAST_TASTE {
        true => N_TASTES - 1,
        false => N_TASTES,
    };
    let own = rng.random_range(0..n_tastes);
    let mut items = Vec::with_capacity(N_CHOICES);
    while items.len() < N_CHOICES {
        let taste = match rng.random_bool(FAITHFUL) {
            true => own,
            false => rng.random_range(0..n_tastes),
        };
        // Squared, so that the first items of a taste are the popular ones.
        let place = rng.random::<f64>().powi(2) * ITEMS_OF_TASTE as f64;
        let item = taste * ITEMS_OF_TASTE + place as usize;
        if !items.contains(&item) {
            items.push(item);
        }
    }
    items
}
