//! Tables that fit a terminal.

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, LineStyle, Table as Grid, TableStyle, Width,
};

use crate::document::table::{Row, Table, TableCell};
use crate::text::escape::printable;
use crate::text::wrap::{width as width_of, wrap};

const RULE: LineStyle = LineStyle::none().fill('─').junction('─');
/// Rules above and below the headings and at the end.
const STYLE: TableStyle = TableStyle::new()
    .top_border(RULE)
    .header_separator(RULE)
    .bottom_border(RULE);
/// Space between columns.
const GAP: usize = 2;
/// Width that a heading may take beyond that of the cells below it.
const TITLE: usize = 14;

/// Renders the most important columns of a table, or with `wide` all of them, below each other if
/// they do not fit next to each other. Every line ends.
pub(crate) fn render(table: &Table, width: usize, wide: bool) -> String {
    let columns = match wide {
        true => (0..table.columns.len()).collect(),
        false => table.default_columns(),
    };
    // Ranges follow their medians on the same line if all columns fit that way, else they are below them.
    let layouts = [
        Layout::new(table, width, true),
        Layout::new(table, width, false),
    ];
    let in_line = layouts[0].fits(&columns);
    let layout = &layouts[usize::from(!in_line)];
    let parts = layout.parts(&columns);
    let parts = parts.iter().map(|part| layout.render(part));
    parts.collect::<Vec<_>>().join("\n")
}

/// Contents of all columns and the widths that they need.
struct Layout<'a> {
    table: &'a Table,
    width: usize,
    in_line: bool,
    /// Width of the first column.
    head: usize,
    /// Widths of the others.
    columns: Vec<usize>,
}

impl<'a> Layout<'a> {
    fn new(table: &'a Table, width: usize, in_line: bool) -> Self {
        let heads = table.rows.iter().map(|row| width_of(&row.head.plain()));
        let head = heads.chain([width_of(&table.corner.plain())]).max();
        // Long names are broken where they would take more than 3 of 8 columns.
        let head = head.unwrap_or(0).clamp(1, 3 * width / 8);
        let longest = width - head - GAP;
        let column = |i: usize| {
            let cells = table.rows.iter().filter_map(|row| row.cells.get(i));
            let lines = cells.flat_map(|cell| lines(cell, in_line));
            let title = heading(table, i, TITLE);
            let widest = lines.chain(title).map(|text| width_of(&text)).max();
            widest.unwrap_or(0).clamp(1, longest)
        };
        Self {
            table,
            width,
            in_line,
            head,
            columns: (0..table.columns.len()).map(column).collect(),
        }
    }

    /// Returns the width of a table of these columns.
    fn total(&self, columns: &[usize]) -> usize {
        let widths = columns.iter().map(|&i| GAP + self.columns[i]);
        self.head + widths.sum::<usize>()
    }

    fn fits(&self, columns: &[usize]) -> bool {
        self.total(columns) <= self.width
    }

    /// Splits columns into tables that fit.
    fn parts(&self, columns: &[usize]) -> Vec<Vec<usize>> {
        let mut parts: Vec<Vec<usize>> = vec![Vec::new()];
        for &column in columns {
            let last = parts.len() - 1;
            parts[last].push(column);
            if parts[last].len() > 1 && !self.fits(&parts[last]) {
                parts[last].pop();
                parts.push(vec![column]);
            }
        }
        parts
    }

    fn render(&self, columns: &[usize]) -> String {
        let mut grid = Grid::new();
        grid.load_style(STYLE).set_header(self.heading(columns));
        let mut n_floors = 0;
        for row in self.table.ordered_rows() {
            n_floors += usize::from(row.is_floor);
            if n_floors == 1 {
                let widths = columns.iter().map(|&i| self.columns[i]);
                let widths = std::iter::once(self.head).chain(widths);
                grid.add_row(widths.map(|width| "─".repeat(width)));
            }
            grid.add_row(self.row(row, columns));
        }
        for (at, column) in grid.column_iter_mut().enumerate() {
            let (gap, width, alignment) = match at.checked_sub(1) {
                None => (0, self.head, CellAlignment::Left),
                // A rule has a character between two columns, and so has every line.
                Some(at) => (GAP - 1, self.columns[columns[at]], CellAlignment::Right),
            };
            // No terminal is as wide as a u16 holds.
            let of = |width: usize| u16::try_from(width).unwrap_or(u16::MAX);
            column.set_padding((of(gap), 0));
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(of(gap + width))));
            column.set_cell_alignment(alignment);
        }
        grid.trim_fmt() + "\n"
    }

    /// Returns the headings, of which all end in the same line.
    fn heading(&self, columns: &[usize]) -> Vec<Cell> {
        let titles = columns
            .iter()
            .map(|&i| heading(self.table, i, self.columns[i]));
        let corner = wrap(&self.table.corner.plain(), self.head);
        let cells: Vec<Vec<String>> = std::iter::once(corner).chain(titles).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let cell =
            |lines: &Vec<String>| Cell::new("\n".repeat(height - lines.len()) + &lines.join("\n"));
        cells.iter().map(cell).collect()
    }

    fn row(&self, row: &Row, columns: &[usize]) -> Vec<Cell> {
        let cells = columns.iter().map(|&i| {
            let cell = row.cells.get(i);
            let lines = cell.map_or(Vec::new(), |cell| lines(cell, self.in_line));
            let lines = lines.iter().flat_map(|line| wrap(line, self.columns[i]));
            lines.collect()
        });
        let head = wrap(&row.head.plain(), self.head);
        let cells = std::iter::once(head).chain(cells);
        cells
            .map(|lines: Vec<String>| Cell::new(lines.join("\n")))
            .collect()
    }
}

/// Returns the heading of a column below that of its group, in lines of at most `width` columns.
fn heading(table: &Table, column: usize, width: usize) -> Vec<String> {
    let column = &table.columns[column];
    let mut lines = wrap(&column.group.plain(), width);
    lines.extend(wrap(&column.name.plain(), width));
    lines
}

fn lines(cell: &TableCell, in_line: bool) -> Vec<String> {
    match cell.addition() {
        Some(addition) if !in_line => vec![printable(cell.main()), printable(addition)],
        _ => vec![printable(&cell.in_line())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::table::Column;

    fn table() -> Table {
        Table {
            corner: "data".into(),
            columns: vec![Column::new("untrained"), Column::new("trained")],
            rows: vec![
                Row::new(
                    "TOYS\u{1b}",
                    vec![
                        TableCell::Value("3.500".into(), Some("[3–4]".into())),
                        TableCell::Missing,
                    ],
                ),
                Row::new(
                    "floor",
                    vec![TableCell::Never(None), TableCell::Word("a word".into())],
                )
                .floor(),
            ],
        }
    }

    #[test]
    fn ranges_stand_in_the_line_if_they_fit() {
        let wide = render(&table(), 60, false);
        assert_eq!(wide.lines().count(), 7, "{wide}");
        assert!(wide.contains("3.500 [3–4]") && wide.contains("never"));
        assert!(!wide.contains('\u{1b}'));
        let narrow = render(&table(), 26, false);
        assert_eq!(narrow.lines().count(), 8, "{narrow}");
    }

    #[test]
    fn columns_that_do_not_fit_stand_below() {
        let text = render(&table(), 22, true);
        assert_eq!(text.matches("floor").count(), 2, "{text}");
        assert!(text.lines().all(|line| width_of(line) <= 22));
    }
}
