//! A script as a sequence diagram: a lifeline per descriptor, poller and thread, and an arrow per clause.

use std::fmt::Write as _;

use metadata::one_line;

use crate::text::escaped;

/// The steps of a script, ready to draw.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sequence {
    /// The names of the lifelines, from left to right.
    pub lanes: Vec<Lane>,
    /// What happens, from the top down.
    pub steps: Vec<Step>,
}

/// A lifeline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    /// `own`, `poller`.
    pub name: String,
    /// What it stands for.
    pub kind: LaneKind,
}

/// What a lifeline stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneKind {
    /// A descriptor.
    Descriptor,
    /// A poller.
    Poller,
    /// A thread, or several.
    Thread,
    /// A child process.
    Child,
}

/// A clause of the script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The lifeline that acts.
    pub from: usize,
    /// The lifeline that it acts on. The same one for an action that concerns no other.
    pub to: usize,
    /// The verb: `sends 3`.
    pub text: String,
    /// The kind of the clause.
    pub kind: StepKind,
    /// The recorded answer to a question, with the system that gave it: `Linux: hang-up`.
    pub answer: Option<String>,
}

impl Step {
    /// What stands before the text of a question to the poller, in characters.
    fn bell(&self) -> &'static str {
        if self.kind == StepKind::Bell { "(?) " } else { "" }
    }
}

/// What a clause does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepKind {
    /// It brings something about.
    Fact,
    /// It asks a call for its result.
    Question,
    /// It asks the poller: a bell.
    Bell,
}

/// The width of a character of the labels, at most, in the units of the picture.
const CHARACTER: usize = 7;
const HEAD: usize = 30;
const ROW: usize = 34;
const NARROWEST: usize = 110;
const WIDEST: usize = 260;

impl Sequence {
    /// Draws it as SVG. The text is a part of the picture, and its label says the same as a list.
    pub(crate) fn svg(&self) -> String {
        let spacing = self.spacing();
        let x = |lane: usize| NARROWEST / 2 + 8 + lane * spacing;
        let right = |step: &Step| {
            let text = step
                .text
                .chars()
                .count()
                .max(step.answer.as_deref().map_or(0, |answer| answer.chars().count() + 2));
            x(step.from.max(step.to)) + text * CHARACTER + 40
        };
        let lanes = x(self.lanes.len().saturating_sub(1)) + NARROWEST / 2 + 8;
        let width = self
            .steps
            .iter()
            .filter(|step| step.from == step.to || step.answer.is_some())
            .map(right)
            .chain([lanes])
            .max();
        let width = width.unwrap_or(lanes);
        let mut y = HEAD + 8;
        let mut body = String::new();
        for step in &self.steps {
            y += ROW;
            self.step(step, (x(step.from), x(step.to)), y, &mut body);
            y += if step.answer.is_some() { 18 } else { 0 };
        }
        let height = y + 20;
        let mut svg = format!(
            "<svg class=\"sequence\" role=\"img\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" aria-label=\"{}\">\n",
            escaped(&self.label())
        );
        for (index, lane) in self.lanes.iter().enumerate() {
            let class = match lane.kind {
                LaneKind::Descriptor => "descriptor",
                LaneKind::Poller => "poller",
                LaneKind::Thread | LaneKind::Child => "thread",
            };
            let (at, half) = (x(index), NARROWEST / 2 - 4);
            let _ = writeln!(
                svg,
                "<path class=\"life\" d=\"M{at} {HEAD}V{height}\"/><rect class=\"{class}\" x=\"{}\" y=\"2\" width=\"{}\" height=\"{}\" rx=\"4\"/><text class=\"head\" x=\"{at}\" y=\"{}\">{}</text>",
                at - half,
                2 * half,
                HEAD - 4,
                HEAD - 9,
                escaped(&lane.name)
            );
        }
        svg + &body + "</svg>"
    }

    /// The distance between two lifelines: the longest label between neighbours fits.
    fn spacing(&self) -> usize {
        let needed = self
            .steps
            .iter()
            .filter(|step| step.from != step.to)
            .map(|step| step.text.chars().count() * CHARACTER / step.from.abs_diff(step.to) + 24);
        needed.max().unwrap_or_default().clamp(NARROWEST + 10, WIDEST)
    }

    fn step(&self, step: &Step, (from, to): (usize, usize), y: usize, body: &mut String) {
        let text = escaped(&step.text);
        let class = match step.kind {
            StepKind::Fact => "fact",
            StepKind::Question => "question",
            StepKind::Bell => "bell",
        };
        let right = from.max(to);
        if from == to {
            let _ = writeln!(
                body,
                "<path class=\"{class}\" d=\"M{from} {}h14v12h-8\"/><path class=\"{class} tip\" d=\"M{} {}l8 -4v8z\"/><text class=\"{class}\" x=\"{}\" y=\"{}\">{text}</text>",
                y - 8,
                from + 1,
                y + 4,
                from + 22,
                y + 2
            );
        } else {
            let (tip, middle) = (if to > from { -8 } else { 8 }, from.midpoint(to));
            let _ = writeln!(
                body,
                "<path class=\"{class}\" d=\"M{from} {y}H{to}\"/><path class=\"{class} tip\" d=\"M{to} {y}l{tip} -4v8z\"/><text class=\"{class} between\" x=\"{middle}\" y=\"{}\">{text}</text>",
                y - 5
            );
        }
        if step.kind == StepKind::Bell {
            // A bell at the lifeline of the poller.
            let _ = writeln!(
                body,
                "<path class=\"ring\" d=\"M{} {}q2 -2 2 -6a4 4 0 0 1 8 0q0 4 2 6zm4 1.5a2 2 0 0 0 4 0z\"/>",
                from - 6,
                y + 5
            );
        }
        if let Some(answer) = &step.answer {
            let x = if from == to { from + 22 } else { right + 10 };
            let _ = writeln!(
                body,
                "<text class=\"answer\" x=\"{x}\" y=\"{}\">→ {}</text>",
                y + 18,
                escaped(answer)
            );
        }
    }

    /// Draws it in characters, at most `width` of them in a row if the lifelines leave any choice. A label
    /// that does not fit between its lifelines is above its arrow.
    pub fn text(&self, width: usize) -> String {
        let count = self.lanes.len().max(1);
        let widest = |lane: &Lane| lane.name.chars().count();
        let names = self.lanes.iter().map(widest).max().unwrap_or_default();
        let labels = self.steps.iter().filter(|step| step.from != step.to).map(|step| {
            // ` label `, an arrow, and a lifeline.
            let length = step.bell().len() + step.text.chars().count() + 6;
            length.div_ceil(step.from.abs_diff(step.to))
        });
        // Room for the text beside the last lifeline.
        let fits = width.saturating_sub(width / 4) / count;
        let spacing = labels.max().unwrap_or_default().min(fits).max(names + 2).max(6);
        let x = |lane: usize| names.div_ceil(2) + lane * spacing;
        let lives = || {
            let mut row = vec![' '; x(count - 1) + 1];
            (0..self.lanes.len()).for_each(|lane| row[x(lane)] = '|');
            row
        };
        let mut rows = vec![vec![' '; x(count - 1) + 1]];
        for (index, lane) in self.lanes.iter().enumerate() {
            put(&mut rows[0], x(index) - lane.name.chars().count() / 2, &one_line(&lane.name));
        }
        for step in &self.steps {
            let (text, mut row) = (one_line(&step.text), lives());
            let bell = step.bell();
            let (left, right) = (x(step.from.min(step.to)), x(step.from.max(step.to)));
            if step.from == step.to {
                put(&mut row, left + 2, &format!("{bell}{text}"));
            } else {
                // Beside the arrow's tip.
                let room = right - left - 2;
                let text = format!(" {bell}{text} ");
                let line = if text.chars().count() + 2 <= room {
                    format!("{text:-^room$}")
                } else {
                    let mut above = lives();
                    put(&mut above, left + 1, &text);
                    rows.push(above);
                    "-".repeat(room)
                };
                let line = if step.to > step.from { line + ">" } else { format!("<{line}") };
                put(&mut row, left + 1, &line);
            }
            rows.push(row);
            if let Some(answer) = &step.answer {
                let mut row = lives();
                put(&mut row, right + 2, &one_line(answer));
                rows.push(row);
            }
        }
        let line = |row: Vec<char>| row.into_iter().collect::<String>().trim_end().to_owned() + "\n";
        rows.into_iter().map(line).collect()
    }

    /// The same in words.
    fn label(&self) -> String {
        let name = |lane: usize| self.lanes.get(lane).map_or("", |lane| lane.name.as_str());
        let step = |step: &Step| {
            let to = if step.from == step.to { String::new() } else { format!(" → {}", name(step.to)) };
            let answer = step.answer.as_ref().map(|answer| format!(" ({answer})")).unwrap_or_default();
            format!("{}{to}: {}{answer}", name(step.from), step.text)
        };
        let steps: Vec<_> = self.steps.iter().map(step).collect();
        format!("Sequence diagram. {}", steps.join("; "))
    }
}

/// Writes a text over a row, from a column on.
fn put(row: &mut Vec<char>, column: usize, text: &str) {
    let end = column + text.chars().count();
    row.resize(row.len().max(end), ' ');
    row[column..end].iter_mut().zip(text.chars()).for_each(|(to, c)| *to = c);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn sequence(text: &str) -> Sequence {
        let lane = |name: &str, kind| Lane { name: name.to_owned(), kind };
        let step = |from, to, text: &str, kind, answer: Option<&str>| Step {
            from,
            to,
            text: text.to_owned(),
            kind,
            answer: answer.map(str::to_owned),
        };
        Sequence {
            lanes: vec![
                lane("own", LaneKind::Descriptor),
                lane(text, LaneKind::Descriptor),
                lane("poller", LaneKind::Poller),
            ],
            steps: vec![
                step(1, 0, text, StepKind::Fact, None),
                step(0, 0, "reads?", StepKind::Question, None),
                step(2, 0, "look", StepKind::Bell, Some("Linux: hang-up")),
            ],
        }
    }

    #[test]
    fn each_step_is_an_arrow_in_order_and_a_question_to_the_poller_has_a_bell_and_its_answer() {
        let svg = sequence("peer").svg();
        let places = [
            "own</text>",
            ">peer</text>",
            ">poller</text>",
            ">reads?</text>",
            ">look</text>",
            "class=\"ring\"",
            "→ Linux: hang-up",
        ]
        .map(|part| svg.rfind(part).unwrap_or_else(|| panic!("{part} is not in {svg}")));
        assert!(places[3..].is_sorted(), "{places:?}");
        assert_eq!(svg.matches("class=\"ring\"").count(), 1);
        assert!(svg.contains("aria-label=\"Sequence diagram. peer → own: peer; own: reads?; poller → own: look (Linux: hang-up)\""), "{svg}");
    }

    #[test]
    fn in_characters_each_step_is_an_arrow_too() {
        let text = sequence("peer").text(76);
        let lines = [
            "  own      peer     poller",
            "   |<- peer -|         |",
            "   | reads?  |         |",
            "   |<---- (?) look ----|",
            "   |         |         | Linux: hang-up",
        ];
        assert_eq!(text, lines.map(|line| format!("{line}\n")).concat(), "\n{text}");
        // A label that does not fit is above its arrow, and no line break leaves its row.
        let mut long = sequence("peer");
        long.steps[0].text = "closes,\nand much more than fits into a row".into();
        let text = long.text(40);
        assert!(text.lines().count() == 6 && text.lines().all(|line| line.starts_with(' ')), "\n{text}");
    }

    #[test]
    fn no_text_becomes_markup_and_none_leaves_the_picture() {
        let svg = sequence("</text><script>\"&").svg();
        assert!(!svg.contains("<script") && svg.contains("&lt;/text&gt;&lt;script&gt;&quot;&amp;"), "{svg}");
        let long = "sends ".repeat(30);
        let mut wide = sequence("peer");
        wide.steps[1].text.clone_from(&long);
        let svg = wide.svg();
        let width: usize =
            svg.split("viewBox=\"0 0 ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!(width > long.len() * CHARACTER, "{width}");
    }
}
