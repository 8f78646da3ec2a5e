//! Tables of DACL that can be reproduced.

use serde::{Deserialize, Serialize};

use crate::pages::dacl::data_set::DaclDataSet;
use crate::pages::dacl::row::DaclRow;

/// Table of DACL (Verma et al., 2021).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DaclTarget {
    /// Table 1: linear classification of tables.
    #[serde(rename = "dacl1")]
    Table1,
    /// Table 2: linear classification of images.
    #[serde(rename = "dacl2")]
    Table2,
    /// Table 4: linear classification of graphs.
    #[serde(rename = "dacl4")]
    Table4,
}

impl DaclTarget {
    /// Returns the name in commands and of the files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table1 => "dacl1",
            Self::Table2 => "dacl2",
            Self::Table4 => "dacl4",
        }
    }

    /// Returns the title of the page.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Table1 => "Table 1 of DACL, reproduced: accuracy on tables",
            Self::Table2 => "Table 2 of DACL, reproduced: accuracy on images",
            Self::Table4 => "Table 4 of DACL, reproduced: accuracy on graphs",
        }
    }

    /// Returns the data sets, in the order in which they are run.
    pub fn data_sets(self) -> &'static [DaclDataSet] {
        const SETS: &[DaclDataSet] = &DaclDataSet::ALL;
        let (tables, graphs) = SETS.split_at(7);
        match self {
            Self::Table1 => tables,
            Self::Table2 => &[DaclDataSet::Cifar10],
            Self::Table4 => graphs,
        }
    }

    /// Returns the rows.
    pub fn rows(self) -> &'static [DaclRow] {
        match self {
            Self::Table1 => &DaclRow::TABLES,
            Self::Table2 => &DaclRow::IMAGES,
            Self::Table4 => &DaclRow::GRAPHS,
        }
    }
}
