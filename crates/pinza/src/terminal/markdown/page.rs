//! Where the lines of blocks go: behind the marks of the containers they stand in, and apart from each other.

use anstyle::Style;

use super::start::Item;
use crate::terminal::{Line, Look};

#[derive(Clone, Debug)]
pub(super) struct Page {
    look: Look,
    pub(super) width: usize,
    pub(super) containers: Vec<Container>,
    /// Lines that are ready to be shown.
    pub(super) lines: Vec<Line>,
    /// Something has been shown.
    begun: bool,
    /// The source has had a blank line since.
    pub(super) blank: bool,
    /// What was shown last keeps away from what follows.
    apart: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Container {
    pub(super) kind: Kind,
    /// Nothing of it has been shown, its marker neither.
    pub(super) fresh: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Quote,
    Item { item: Item, number: u64 },
}

/// How a block stands to its neighbours.
#[derive(Clone, Copy)]
pub(super) enum Space {
    AsWritten,
    Before,
    Around,
}

impl Page {
    pub(super) fn new(look: Look, width: usize) -> Self {
        let (containers, lines) = (Vec::new(), Vec::new());
        Self { look, width, containers, lines, begun: false, blank: false, apart: false }
    }

    /// A block begins: a blank line if it needs one.
    pub(super) fn begin(&mut self, space: Space) {
        let in_item = |container: &Container| matches!(container.kind, Kind::Item { .. }) && !container.fresh;
        let in_list = self.containers.iter().any(in_item);
        let apart = self.apart || !matches!(space, Space::AsWritten);
        if self.begun && (self.blank || (apart && !in_list)) {
            let mut line = Line::default();
            for part in self.shown_containers().iter().filter(|container| !container.fresh) {
                let (style, text) = self.prefix(part, false);
                line.push(style, &text, None);
            }
            line.trim_end();
            self.lines.push(line);
        }
        self.begun = true;
        self.blank = false;
        self.apart = matches!(space, Space::Around);
    }

    pub(super) fn emit_all(&mut self, lines: Vec<Line>) {
        lines.into_iter().for_each(|line| self.emit(line));
    }

    pub(super) fn emit(&mut self, mut body: Line) {
        let mut line = Line::default();
        for container in self.shown_containers() {
            let (style, text) = self.prefix(container, container.fresh);
            line.push(style, &text, None);
        }
        // The mark of the user's own lines is not for models.
        if line.spans.iter().all(|(_, text)| text.trim().is_empty())
            && let Some((_, text)) = body.spans.first_mut()
            && let Some(rest) = text.strip_prefix('›')
        {
            *text = format!(">{rest}");
        }
        line.append(&body);
        line.trim_end();
        self.lines.push(line);
        self.containers.iter_mut().for_each(|container| container.fresh = false);
    }

    /// How many columns there are for what stands in the containers.
    pub(super) fn room(&self) -> usize {
        let taken: usize = self.shown_containers().iter().map(|container| self.columns(container)).sum();
        self.width - taken
    }

    /// The innermost containers, as far as they leave half of the screen for what is in them.
    fn shown_containers(&self) -> &[Container] {
        let mut taken = 0;
        let shown = self.containers.iter().rev().take_while(|container| {
            taken += self.columns(container);
            taken <= self.width / 2
        });
        &self.containers[self.containers.len() - shown.count()..]
    }

    fn columns(&self, container: &Container) -> usize {
        self.prefix(container, true).1.chars().count()
    }

    /// What stands before a line of a container.
    fn prefix(&self, container: &Container, first: bool) -> (Style, String) {
        match &container.kind {
            Kind::Quote => (Style::new().dimmed(), (if self.look.redraws { "▌ " } else { "> " }).to_owned()),
            Kind::Item { item, number } => {
                let marker = item.shown(*number);
                let text = if first { marker } else { " ".repeat(marker.chars().count()) };
                (Style::new(), text)
            }
        }
    }
}
