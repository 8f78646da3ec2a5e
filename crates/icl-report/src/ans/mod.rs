//! Experiments on the number of negatives (Wu, Wu and Huang, 2022): records of their rows, and the documents that judge
//! the paper's claims by them.

mod page;
mod record;
mod row;
mod target;
mod verdicts;

pub use page::{AnsReproduction, ans_document};
pub use record::{ANS_SCHEMA, AnsMeasures, AnsRecord, AnsSettings, parse_ans_records};
pub use row::{AnsCourse, AnsRow};
pub use target::AnsTarget;
