//! The help of the commands: which options `-h` prints, the order of the groups of options, and examples.

use clap::{Arg, Command};

/// Help of a command.
struct Page {
    command: &'static str,
    /// Ids of the options that `-h` prints; the others are in `--help` alone. Empty: `-h` prints all.
    common: &'static str,
    /// Examples: a comment and a command line each.
    examples: &'static [[&'static str; 2]],
}

/// The commands that have options. A common option is one that a user of own data sets in the first days, or that cron
/// needs; those of one method, of one kind of encoder or of the papers' formulas are not.
const PAGES: [Page; 16] = [
    Page {
        command: "train",
        common: "data target limit encoder epochs batch_size learning_rate hold_out out force json seed backend \
                 config resume",
        examples: &[
            ["Photos", "icl train --data photos/ --out day-0"],
            [
                "A table; the column of classes is no feature",
                "icl train --data orders.csv --target fraud --out day-0",
            ],
            [
                "An embedded data set, for a quick look",
                "icl train --data digits --epochs 20 --out day-0",
            ],
        ],
    },
    Page {
        command: "update",
        common: "old new target from method budget epochs learning_rate hold_out accept exit_code out force \
                 json backend config resume more",
        examples: &[
            [
                "The photos of a day, with those that the encoder was trained on",
                "icl update --from day-0/encoder.safetensors --old photos/ --new monday/ --out day-1",
            ],
            [
                "From cron: exit code 3 if the new encoder is worse, which is then not written",
                "icl update --from e.safetensors --old all.csv --new monday.csv --out day-1 --exit-code",
            ],
            [
                "The old data are gone but for a sample that icl keep wrote",
                "icl update --from day-1/encoder.safetensors --old-sample kept-1 --new days/2.csv --out day-2",
            ],
        ],
    },
    Page {
        command: "stream",
        common: "data split stream watch once from method when keep budget_per_update control dry_run hold_out \
                 out json backend config resume",
        examples: &[
            [
                "An encoder that follows a folder; in cron, add --once",
                "icl stream --watch inbox/ --out encoders",
            ],
            [
                "When would it update? Nothing is trained",
                "icl stream --from e.safetensors --data digits --split class:5 --when drift --dry-run",
            ],
            [
                "An update after every third experience, compared with retraining after each",
                "icl stream --data digits --split data:6 --when every:3 --control retraining --out s",
            ],
        ],
    },
    Page {
        command: "embed",
        common: "from data target texts limit id keep views out force backend seed",
        examples: &[
            [
                "Rows for a search index",
                "icl embed --from day-0/encoder.safetensors --data photos/ --out photos.parquet",
            ],
            [
                "Anchors and positives for icl diagnose",
                "icl embed --from day-0/encoder.safetensors --data photos/ --views 2 --out a.npy",
            ],
        ],
    },
    Page {
        command: "export",
        common: "",
        examples: &[
            [
                "For torchvision's resnet18",
                "icl export --from day-0/encoder.safetensors --format torchvision --out resnet.safetensors",
            ],
            [
                "For ONNX Runtime",
                "icl export --from day-0/encoder.safetensors --format onnx --out encoder.onnx",
            ],
        ],
    },
    Page {
        command: "align",
        common: "",
        examples: &[
            [
                "A map from the embeddings before an update to those after it",
                "icl align --from before.npy --to after.npy --out map.safetensors",
            ],
            [
                "The map, applied to what is stored",
                "icl align --from index.parquet --map map.safetensors --out mapped.parquet",
            ],
        ],
    },
    Page {
        command: "diagnose",
        common: "",
        examples: &[[
            "Is an update worth it? Exit code 3 if so",
            "icl diagnose --anchors a.npy --positives a.positives.npy --old old.npy --new new.npy --exit-code",
        ]],
    },
    Page {
        command: "negatives",
        common: "",
        examples: &[[
            "With the AUC that icl diagnose found",
            "icl negatives --train-auc 0.95",
        ]],
    },
    Page {
        command: "run",
        common: "data target alpha split encoder method budget epochs learning_rate hold_out protocol out force \
                 json seeds backend config resume",
        examples: &[
            [
                "Five methods on the embedded digits, of which 5 to 9 are new",
                "icl run --data digits --split class:0,1,2,3,4",
            ],
            [
                "Is an update as good as retraining when a tenth of the photos is new?",
                "icl run --data photos/ --alpha 0.1 --method icl --method retraining --out comparison",
            ],
        ],
    },
    Page {
        command: "report",
        common: "",
        examples: &[["After an upgrade of icl", "icl report icl-runs/MUTAG-1"]],
    },
    Page {
        command: "show",
        common: "",
        examples: &[[
            "On which data, and at what cost",
            "icl show day-9/encoder.safetensors",
        ]],
    },
    Page {
        command: "split",
        common: "",
        examples: &[[
            "The latest tenth of a table as new data",
            "icl split --data orders.csv --split column:date --alpha 0.1 --out parts",
        ]],
    },
    Page {
        command: "keep",
        common: "data from size target exclude texts out seed",
        examples: &[
            [
                "The first day",
                "icl keep --data days/1.csv --size 1000 --out kept-1",
            ],
            [
                "Every other day, after the update",
                "icl keep --from kept-1 --data days/2.csv --out kept-2",
            ],
        ],
    },
    Page {
        command: "fetch",
        common: "",
        examples: &[["Two public data sets", "icl fetch MNIST PROTEINS"]],
    },
    Page {
        command: "compare-backends",
        common: "backends steps data split alpha encoder method batch_size learning_rate out force seed config",
        examples: &[[
            "The same 100 steps on two backends",
            "icl compare-backends --backends flex,tch --data digits --steps 100",
        ]],
    },
    Page {
        command: "man",
        common: "",
        examples: &[[
            "Then, man icl-train",
            "icl man --out ~/.local/share/man/man1",
        ]],
    },
];

/// Groups of options in the order in which help lists them: what a command works on, what it does, what it leaves, how
/// it runs; then what few change, the formulas.
const GROUPS: [&str; 13] = [
    "Data",
    "Encoder",
    "Stream",
    "Method",
    "Map",
    "Negatives",
    "Training",
    "Evaluation",
    "Accuracy",
    "Output",
    "Execution",
    "Loss",
    "Views",
];

/// Returns a program whose commands list their options in the order of [`GROUPS`], the common ones of each group first
/// and in `-h` alone where they have many, and examples at the end.
pub fn with_help(all: Command) -> Command {
    all.mut_subcommands(|command| {
        let page = PAGES.iter().find(|page| page.command == command.get_name());
        match page {
            Some(page) => page.of(command),
            None => command,
        }
    })
}

impl Page {
    fn of(&self, command: Command) -> Command {
        let mut options: Vec<Arg> = command.get_arguments().cloned().collect();
        options.sort_by_key(|option| (group(option), self.is_rare(option)));
        let mut ordered = options.into_iter().enumerate().map(|(order, option)| {
            let is_rare = self.is_rare(&option);
            option.display_order(order).hide_short_help(is_rare)
        });
        // Clap lists groups in the order of their first options and has no other way to set it.
        let command = command.mut_args(|option| ordered.next().unwrap_or(option));
        let details = command.get_after_help().map(ToString::to_string);
        let examples = self.examples();
        let long = match details {
            Some(details) => format!("{details}\n\n{examples}"),
            None => examples.clone(),
        };
        match self.common {
            "" => command.after_help(long),
            _ => {
                let more = format!("icl {} --help prints all options.", self.command);
                command
                    .after_help(format!("{examples}\n\n{more}"))
                    .after_long_help(long)
            }
        }
    }

    fn is_rare(&self, option: &Arg) -> bool {
        let mut common = self.common.split_whitespace();
        !self.common.is_empty() && common.all(|id| option.get_id() != id)
    }

    fn examples(&self) -> String {
        let lines = self.examples.iter();
        let lines = lines.map(|[comment, line]| format!("  # {comment}\n  {line}"));
        format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n"))
    }
}

/// Place of an option's group; options without a group come first.
fn group(option: &Arg) -> Option<usize> {
    let heading = option.get_help_heading()?;
    let place = GROUPS.iter().position(|it| *it == heading);
    Some(place.unwrap_or(GROUPS.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::ffi::OsString;

    use clap::CommandFactory;

    use crate::command_line::Arguments;
    use crate::command_line::parse::parse;

    /// Largest number of options that `-h` prints.
    const MAX_COMMON: usize = 18;

    /// Commands that users see, before their help is arranged.
    fn commands() -> Vec<Command> {
        let all = Arguments::command();
        let visible = all.get_subcommands().filter(|it| !it.is_hide_set());
        visible.cloned().collect()
    }

    fn shown(command: &Command) -> usize {
        let options = command.get_arguments();
        let shown = options.filter(|it| !it.is_hide_set() && !it.is_hide_short_help_set());
        shown.count()
    }

    #[test]
    fn common_options_are_options_of_their_command() {
        let commands = commands();
        for page in &PAGES {
            let command = commands.iter().find(|it| it.get_name() == page.command);
            let command = command.unwrap_or_else(|| panic!("{}", page.command));
            for id in page.common.split_whitespace() {
                let mut options = command.get_arguments();
                assert!(options.any(|it| it.get_id() == id), "{} {id}", page.command);
            }
        }
    }

    #[test]
    fn short_help_is_short() {
        for command in with_help(Arguments::command()).get_subcommands() {
            let n = shown(command);
            assert!(n <= MAX_COMMON, "{}: {n}", command.get_name());
        }
    }

    /// The order of options and what `-h` leaves out change nothing else.
    #[test]
    fn no_option_is_lost() {
        let ids = |all: &Command, name: &str| {
            let options = all.find_subcommand(name).unwrap().get_arguments();
            let mut ids: Vec<String> = options.map(|it| it.get_id().to_string()).collect();
            ids.sort();
            ids
        };
        let (plain, with_help) = (Arguments::command(), with_help(Arguments::command()));
        for command in plain.get_subcommands() {
            let name = command.get_name();
            assert_eq!(ids(&plain, name), ids(&with_help, name), "{name}");
        }
        with_help.debug_assert();
    }

    #[test]
    fn every_group_has_its_place() {
        for command in commands() {
            for option in command.get_arguments() {
                if let Some(heading) = option.get_help_heading() {
                    let name = command.get_name();
                    assert!(GROUPS.contains(&heading), "{name}: {heading}");
                }
            }
        }
    }

    #[test]
    fn examples_are_command_lines() {
        for page in &PAGES {
            assert!((1..=3).contains(&page.examples.len()), "{}", page.command);
            for [comment, line] in page.examples {
                let words = line.split(' ').map(OsString::from);
                let parsed = parse(words).map(drop);
                assert!(parsed.is_ok(), "{line}: {parsed:?}");
                assert!(line.starts_with(&format!("icl {}", page.command)), "{line}");
                // They fit the widest help.
                let width = [comment, line]
                    .map(|it| it.chars().count())
                    .into_iter()
                    .max();
                assert!(width <= Some(98), "{line}");
            }
        }
    }
}
