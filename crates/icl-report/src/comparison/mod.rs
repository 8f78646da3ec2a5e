//! Comparison of methods.

mod answer;
mod budgets;
mod charts;
mod cost_chart;
#[cfg(test)]
mod extreme_numbers;
mod goal;
mod guide;
mod headline;
mod levels;
mod overview;
mod page;
mod risk_chart;
mod tables;
mod within_budget;

pub use page::comparison_document;
