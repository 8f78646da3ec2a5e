//! Interactions of users with items: readers, writer, splits, joining, histories with the item that follows.

mod collate;
mod columns;
mod join;
mod log;
mod next_item;
mod read;
mod split;
mod views;
mod write;

pub use collate::NextItemCollate;
pub use join::JoinedInteractions;
pub use log::{Interaction, Interactions};
pub use next_item::{NextItem, NextItemDataset};
pub use read::{looks_like_interactions, read_interactions};
pub use split::LeaveOneOut;
pub use views::{NextItemView, NextItemViews};
