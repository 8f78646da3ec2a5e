//! Pairs of texts: columns, words, equal texts.

use std::fs;

use icl_core::bags::TextBatch;
use icl_core::testing::{TestBackend, to_vec};
use icl_core::{Collate, GrowthRatio, Pairing, Seed, Side, Views};
use icl_data::{
    DataError, Header, Split, TextPairCollate, TextPairDataset, TextPairOptions, TextPairView,
    TextPairViews, TextPairs, Vocabulary, read_text_pairs,
};

use crate::data_dir::shared;

fn read(name: &str, text: &str, options: &TextPairOptions) -> Result<TextPairs, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    let message = |error: DataError| error.to_string().replace(&path.display().to_string(), "T");
    read_text_pairs(&path, options).map_err(message)
}

const NEWS: &str = "id,title,body\n1,Rain in May,\"It rains, and \"\"rains\"\"\"\n2,Sun,May is dry\n3,Rain in May,Sun\n";

fn options(first: &str, second: &str) -> TextPairOptions {
    TextPairOptions::new(first, second)
}

#[test]
fn columns_are_found_by_name_or_number() {
    let news = read("t.csv", NEWS, &options("title", "body")).unwrap();
    assert_eq!(news.name(), "t");
    assert_eq!(news.pairs()[0], ["Rain in May", "It rains, and \"rains\""]);
    assert_eq!(news.pairs().len(), 3);
    assert_eq!(read("t.csv", NEWS, &options("2", "3")).unwrap(), news);
    assert_eq!(
        read("t.csv", &NEWS.replace('\n', "\r\n"), &options("2", "3")).unwrap(),
        news
    );
    let bare = TextPairOptions {
        header: Header::No,
        ..options("1", "2")
    };
    let read = read("t.tsv", "a b\tc\nd\te, f\n", &bare).unwrap();
    assert_eq!(read.pairs(), [["a b", "c"], ["d", "e, f"]]);
}

#[test]
fn malformed_files_give_one_error_each() {
    let of_news = |text: &str| read("t.csv", text, &options("title", "body")).unwrap_err();
    assert_eq!(
        of_news("id,title,body\n1,a,\n"),
        "T, line 2, column \"body\": found nothing, expected a text"
    );
    assert_eq!(
        of_news("id,title,body\n1,a,b\n2,a"),
        "T, line 3: found 2 values, expected 3, as on the first line"
    );
    assert_eq!(
        of_news("id,title\n1,a\n"),
        "\"t\": found no column \"body\", expected one of id, title, or a number from 1"
    );
    assert_eq!(
        of_news("title,title,body\n1,a,b\n"),
        "T: found columns 1 and 2 with the name \"title\", expected different names"
    );
    assert_eq!(
        read("t.parquet", NEWS, &options("1", "2")).unwrap_err(),
        "T: found a Parquet file, expected a text file `NAME.csv` or `NAME.tsv`, plain or with `.gz`"
    );
}

fn views_of(side: Side, data: &TextPairDataset) -> Vec<TextPairView> {
    let view = |sample| {
        let pairing = Pairing {
            part: 0,
            side,
            pair: Seed::new(1),
            partners: &[],
        };
        TextPairViews.paired_view(sample, &pairing, &mut Seed::new(2).rng())
    };
    data.samples().iter().map(view).collect()
}

#[test]
fn a_batch_holds_means_of_words_and_excludes_equal_texts() {
    let news = read("t.csv", NEWS, &options("title", "body")).unwrap();
    let words = Vocabulary::new(news.pairs(), 2);
    assert_eq!(words.words(), ["in", "may", "rain", "sun"]);
    let data = TextPairDataset::new(&news, &words);
    let [first, second] = Side::BOTH.map(|side| views_of(side, &data));
    assert_eq!(TextPairViews.plain(&data.samples()[0]), first[0]);
    let collate = TextPairCollate::new(words.words().len());
    let batch: TextBatch<TestBackend> =
        collate.collate(&[first, second].concat(), &Default::default());
    // The first and the third pair have the same title.
    assert_eq!(*batch.excluded, [vec![0, 2], vec![1], vec![0, 2]]);
    let pointers = to_vec(&batch.words.forward.pointers.clone().float());
    // The first body has no word of the vocabulary.
    assert_eq!(pointers, [0.0, 3.0, 4.0, 7.0, 7.0, 8.0, 9.0]);
    let columns = to_vec(&batch.words.forward.columns.clone().float());
    assert_eq!(columns, [2.0, 0.0, 1.0, 3.0, 2.0, 0.0, 1.0, 1.0, 3.0]);
}

#[test]
fn news_have_their_known_counts() {
    let Some(path) = shared("text/ag-news-7600.csv.gz") else {
        return;
    };
    let news = read_text_pairs(path, &options("title", "description")).unwrap();
    assert_eq!(news.pairs().len(), 7600);
    // Counted by a program in Python.
    let words = Vocabulary::new(news.pairs(), 3);
    assert_eq!(words.words().len(), 8790);
    let data = TextPairDataset::new(&news, &words);
    let first = &data.samples()[..2000];
    let pairs = first.iter().enumerate();
    let n_shared: usize = pairs
        .map(|(at, pair)| {
            let later = first[at + 1..].iter();
            later.filter(|other| pair.shares_a_text(other)).count()
        })
        .sum();
    assert_eq!(n_shared, 11);
}

#[test]
fn words_of_a_file_make_a_vocabulary() {
    let news = read("t.csv", NEWS, &options("title", "body")).unwrap();
    let words = Vocabulary::new(news.pairs(), 2);
    assert_eq!(words.words(), ["in", "may", "rain", "sun"]);
    let again = Vocabulary::try_of_words(words.words().to_vec()).unwrap();
    assert_eq!(again, words);
    // Of "rain in may it rains and rains", "sun may is dry" and "rain in may sun".
    assert_eq!(words.n_unknown(news.pairs()), [15, 6]);
    for wrong in [["b", "a"], ["a", "a"]] {
        let error = Vocabulary::try_of_words(wrong.map(String::from).to_vec()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "found the word \"{}\" after \"{}\", expected words in alphabetical order, each once",
                wrong[1], wrong[0]
            )
        );
    }
}

#[test]
fn pairs_are_split_joined_and_written() {
    let news = read("t.csv", NEWS, &options("title", "body")).unwrap();
    assert_eq!(*news.columns(), ["title", "body"]);
    let other = "title,body\nRain in May,Sun\n\" a,\nb\",c\n";
    let other = read("u.csv", other, &options("title", "body")).unwrap();
    let (joined, increment) = TextPairs::join(&news, &other).unwrap();
    assert_eq!((joined.name(), joined.pairs().len()), ("t+u", 5));
    assert_eq!(joined.pairs()[3..], *other.pairs());
    assert_eq!(increment.new_data(), [3, 4]);
    assert_eq!(joined.n_equal(&increment), 1);
    assert_ne!(joined.checksum(), news.checksum());
    let few = read("v.csv", "title,body\na,b\n", &options("title", "body")).unwrap();
    assert_eq!(
        TextPairs::join(&news, &few).unwrap_err().to_string(),
        "data set \"v\": found 1 rows, expected at least 2"
    );

    let at = tempfile::tempdir().unwrap();
    let path = at.path().join("t+u.csv");
    joined.write(&[4, 0, 1], &path).unwrap();
    let written = read_text_pairs(&path, &options("title", "body")).unwrap();
    let of = |index: usize| joined.pairs()[index].clone();
    assert_eq!(written.pairs(), [of(4), of(0), of(1)]);
    let bare = TextPairOptions {
        header: Header::No,
        ..options("2", "1")
    };
    let bare = read("t.tsv", "a b\tc\nd\te, f\n", &bare).unwrap();
    assert_eq!(bare.written_columns(), ["column 2", "column 1"]);

    let alpha = GrowthRatio::try_new(0.4).unwrap();
    let increment = joined
        .increment(Split::Random, alpha, Seed::new(1))
        .unwrap();
    assert_eq!((increment.old().len(), increment.new_data().len()), (3, 2));
    let error = joined
        .increment(Split::Time, alpha, Seed::new(1))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "split \"time\": found pairs of texts, expected interactions"
    );
}
