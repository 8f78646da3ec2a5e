//! Pages of the figures of the paper of numbers.

use icl_core::Error;
use icl_report::document::Document;

use crate::pages::ans::figures::target::AnsTarget;
use crate::pages::ans::figures::{figure4, figure5};

/// Makes the document of a reproduced figure of Wu et al. (2022): the answer, the figure, and the claims with the printed
/// figures next to those that follow from the paper's own equations. `origin` says where and by which command it was made.
///
/// # Errors
/// [`Error`] never for the numbers of the figures.
pub fn ans_document(target: AnsTarget, origin: &str) -> Result<Document, Error> {
    let blocks = match target {
        AnsTarget::Figure4 => figure4::blocks()?,
        AnsTarget::Figure5 => figure5::blocks()?,
    };
    Ok(Document::new(target.title(), origin.to_owned(), blocks))
}

#[cfg(test)]
mod tests {
    use super::*;

    use icl_report::testing::{assert_fits, assert_sound, row, text_of};

    #[track_caller]
    fn page(target: AnsTarget, words: &[&str]) -> String {
        let document = ans_document(target, "today · icl").unwrap();
        let (html, markdown) = (document.html(), document.markdown());
        assert_sound(&html);
        for words in words {
            assert!(markdown.contains(words), "{words}: {markdown}");
        }
        assert!(html.find("headline") < html.find("<svg class=\"chart\""));
        assert!(text_of(&html).contains("today · icl"));
        assert_fits(&document, 100);
        html
    }

    /// Figures that SciPy gives by quadrature and search, some of them in `ans.json` of icl-core.
    #[test]
    fn figure_4_has_the_computed_figures() {
        let html = page(
            AnsTarget::Figure4,
            &[
                "6 of 8 claims hold",
                "0.9539",
                "2.3262",
                "none up to 500; at λ = 1 2 (",
                "at λ = 0.8: 286 (",
            ],
        );
        assert_eq!(row(&html, "2.4")[..1], ["21 (16–28)"]);
        assert!(row(&html, "0.3")[0].starts_with("491 ("));
        assert!(row(&html, "3")[2].starts_with("73 ("));
        assert!(row(&html, "0.5")[0].starts_with("27 ("));
        let ends = row(&html, "8");
        assert!(
            ends[0] == "none up to 500" && ends[1].starts_with("10 ("),
            "{ends:?}"
        );
    }

    #[test]
    fn figure_5_has_the_computed_figures() {
        let html = page(
            AnsTarget::Figure5,
            &[
                "1 of 3 claims hold",
                "3 against 5, 3 against 4, 7 against 21, 7 against 23",
                "3, 3, 4, 9, 1495, none up to 2000; 7, 12, 23, 47, 121, ",
                "at λ = 1: 3, 3, 4, 4, 5, 5; 7, 12, 22, 43, 67, 78",
                "at μ = 0.5 up to K = 3, at μ = 1 up to K = 17, at μ = 1.5 up to K = 148, at μ = 2.4 up to K = 2000 at least",
            ],
        );
        assert_eq!(html.matches("<svg class=\"chart\"").count(), 8);
        assert!(row(&html, "μ′ = 0.5 μ")[0].starts_with("4 ("));
    }
}
