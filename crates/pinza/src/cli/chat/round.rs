//! One message of the user with all that follows, as it is seen at a terminal: words, thoughts and calls as they
//! come, questions, and what is typed meanwhile.
//!
//! Whatever happens is only noted; at most thirty times a second, and only if something changed, it is drawn. So a
//! fast model costs no more than a slow one, and nothing here waits for the terminal between two events.

mod approver;
mod call;
mod card;
mod style;
mod thought;
mod typed;
mod view;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use pinza::{
    agent::{Event, Inbox, Message, Talk, TalkError},
    core::{Answer, CancellationToken, Content, visible},
};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
};

use self::{
    approver::Word,
    card::{Card, Pressed},
    style::{ASKS, BAD, line},
    typed::Typed,
    view::{Piece, View},
};
pub(super) use self::{
    approver::{Questions, ScreenApprover},
    style::{grouped, note},
};
use super::{super::Result, Chatting};
use crate::terminal::{Caret, Key, Keys, Line, Screen, image, terminal_gone};

/// The shortest time between two frames.
const FRAME: Duration = Duration::from_millis(33);
/// How often what turns and counts is drawn again.
const TURN: Duration = Duration::from_millis(100);
/// How long a round may take to wind down when the program is told to end.
const GRACE: Duration = Duration::from_secs(2);

/// How a message of the user ended. `typed` is what was typed meanwhile and not heard.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rounded {
    Answered {
        typed: String,
    },
    Failed {
        typed: String,
    },
    /// Ctrl-C, once.
    Stopped {
        typed: String,
    },
    /// Ctrl-C twice, a signal, or the terminal is gone.
    Leave,
}

impl Chatting<'_> {
    /// Says something and shows all that follows, until the model has ended or was stopped.
    pub(super) async fn round(
        &self,
        screen: &mut Screen,
        talk: &mut Talk,
        content: Vec<Content>,
    ) -> Result<Rounded> {
        if !screen.look().redraws {
            return self.plain_round(talk, content).await;
        }
        let cancellation = CancellationToken::new();
        let (telling, events) = unbounded_channel();
        let stage = self.stage(cancellation.clone(), Arc::new(move |event| drop(telling.send(event))));
        screen.measure();
        screen.seize()?;
        let view = View::new(screen.look(), screen.width(), screen.verbose());
        let mut round = Round {
            screen,
            view,
            card: None,
            typed: Typed::default(),
            inbox: stage.inbox.clone(),
            cancellation,
            began: Instant::now(),
            drawn: Instant::now(),
            dirty: true,
            leaving: Leaving::No,
        };
        let mut outside = Outside {
            events,
            words: self.questions.listen(),
            keys: Keys::read()?,
            resized: signal(SignalKind::window_change())?,
        };
        let said = round.follow(talk.say(content, &self.setup, &stage), &mut outside).await;
        Ok(round.end(said, outside))
    }

    /// The same where nothing is drawn again. No key is read meanwhile, so that somebody has to look whether there still
    /// is a terminal.
    async fn plain_round(&self, talk: &mut Talk, content: Vec<Content>) -> Result<Rounded> {
        let cancellation = CancellationToken::new();
        let leaving = async {
            tokio::select! {
                told = told_to_leave() => told?,
                () = terminal_gone() => {}
            }
            cancellation.cancel();
            // What was said so far is kept, if that does not take long.
            tokio::time::sleep(GRACE).await;
            anyhow::Ok(Rounded::Leave)
        };
        let typed = String::new();
        tokio::select! {
            said = self.say(talk, content, cancellation.clone()) => match said? {
                true => Ok(Rounded::Answered { typed }),
                false => Ok(Rounded::Failed { typed }),
            },
            left = leaving => left,
        }
    }
}

/// Comes back when the program is told to end. Whoever reads from the terminal between rounds listens to this beside
/// it: once a round has listened, such signals end nothing by themselves.
pub(super) async fn told_to_leave() -> std::io::Result<()> {
    let (mut terminate, mut hang_up) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = hang_up.recv() => {}
    }
    Ok(())
}

/// A message that was kept, as it looked when it came; `after` is the message that may have its results.
pub(super) fn kept(screen: &Screen, message: &Message, after: Option<&Message>) -> Vec<Line> {
    let results = match after {
        Some(Message::Results { results }) => results.as_slice(),
        _ => &[],
    };
    let mut view = View::new(screen.look(), screen.width(), screen.verbose());
    view.keep(message, results);
    view.finished().into_iter().filter_map(Piece::line).collect()
}

/// All that a round listens to beside the talk itself.
struct Outside {
    events: UnboundedReceiver<Event>,
    words: UnboundedReceiver<Word>,
    keys: Keys,
    resized: Signal,
}

struct Round<'a> {
    screen: &'a mut Screen,
    view: View,
    card: Option<Card>,
    typed: Typed,
    inbox: Inbox,
    cancellation: CancellationToken,
    began: Instant,
    drawn: Instant,
    /// Whether something is to be seen that is not yet drawn.
    dirty: bool,
    leaving: Leaving,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    No,
    /// What is under way may still be kept.
    Until(Instant),
    Now,
}

impl Round<'_> {
    /// Until the talk has ended, or nobody waits for it any more.
    async fn follow<T>(
        &mut self,
        saying: impl Future<Output = std::result::Result<T, TalkError>>,
        outside: &mut Outside,
    ) -> Option<std::result::Result<T, TalkError>> {
        let mut saying = std::pin::pin!(saying);
        let mut told_to_leave = std::pin::pin!(told_to_leave());
        loop {
            let next = self.next_frame().map(tokio::time::Instant::from_std);
            let frame = async {
                match next {
                    Some(next) => tokio::time::sleep_until(next).await,
                    None => std::future::pending().await,
                }
            };
            let withdrawn = async {
                match &mut self.card {
                    Some(card) => card.withdrawn().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                said = &mut saying => return Some(said),
                Some(event) = outside.events.recv() => self.hear(event),
                Some(word) = outside.words.recv() => self.ask(word),
                key = outside.keys.next() => self.press(key),
                () = withdrawn => self.put_away(),
                _ = outside.resized.recv() => self.dirty = true,
                _ = &mut told_to_leave, if self.leaving == Leaving::No => self.leave(),
                () = frame => self.draw(Instant::now()),
            }
            if self.screen.gone() {
                self.leave();
            }
            match self.leaving {
                Leaving::Now => return None,
                Leaving::Until(end) if Instant::now() >= end => return None,
                Leaving::Until(_) | Leaving::No => {}
            }
        }
    }

    /// The last frame, and the terminal as it was.
    fn end<T>(mut self, said: Option<std::result::Result<T, TalkError>>, mut outside: Outside) -> Rounded {
        while let Ok(event) = outside.events.try_recv() {
            self.hear(event);
        }
        // A question that is still open has been answered by the end.
        self.put_away();
        for key in outside.keys.stop() {
            self.press(key);
        }
        if said.is_none() {
            self.view.take(Event::error(&TalkError::Cancelled), Instant::now());
        }
        self.view.line(Line::default());
        // The live part goes with the same frame, so that what is finished takes its place.
        self.present(Vec::new(), Caret::Shown);
        self.screen.keep_folded(self.view.folded());
        self.screen.release();
        let typed = self.typed.rest();
        match said {
            None => Rounded::Leave,
            Some(_) if self.leaving != Leaving::No => Rounded::Leave,
            Some(_) if self.cancellation.is_cancelled() => Rounded::Stopped { typed },
            Some(Ok(_)) => Rounded::Answered { typed },
            Some(Err(_)) => Rounded::Failed { typed },
        }
    }

    fn hear(&mut self, event: Event) {
        if let Event::UserMessage { text } = &event {
            self.typed.heard(text);
        }
        self.view.take(event, Instant::now());
        self.dirty = true;
    }

    fn ask(&mut self, word: Word) {
        self.dirty = true;
        match word {
            Word::Question(question) => {
                self.put_away();
                self.view.asked(&question.prompt.call);
                self.card = Some(Card::new(*question, Instant::now()));
            }
            Word::Unkept(reason) => {
                let told = format!("  the rule could not be written: {}", visible(&reason));
                self.view.at_once([line([(BAD, told)])]);
            }
        }
    }

    /// A question that was withdrawn is no longer shown.
    fn put_away(&mut self) {
        if let Some(card) = self.card.take() {
            self.view.answered(card.call());
            self.dirty = true;
        }
    }

    fn press(&mut self, key: Key) {
        self.dirty = true;
        match (key, self.card.take()) {
            (Key::Gone, _) => self.leave(),
            (Key::Ctrl('c'), card) => {
                if let Some(card) = card {
                    self.answer(card, Answer::Deny);
                }
                self.stop();
            }
            (key, Some(mut card)) if !card.is_withdrawn() => match card.press(key, Instant::now()) {
                Pressed::Answer(answer) => self.answer(card, answer),
                Pressed::Typing(key) => {
                    self.card = Some(card);
                    self.edit(key);
                }
                Pressed::Whole => {
                    let whole = card.whole(self.screen.width());
                    self.card = Some(card);
                    self.view.at_once(whole);
                }
                Pressed::Nothing => self.card = Some(card),
            },
            (Key::Ctrl('o'), _) => self.unfold(),
            (key, _) => self.edit(key),
        }
    }

    fn answer(&mut self, card: Card, answer: Answer) {
        self.view.answered(card.call());
        let told = card.answer(answer);
        self.view.at_once([told]);
    }

    fn edit(&mut self, key: Key) {
        if let Some(text) = self.typed.key(key) {
            self.inbox.put(vec![Content::text(text)]);
        }
    }

    /// Details, or none: of what goes on, and of what was folded before.
    fn unfold(&mut self) {
        let verbose = !self.screen.verbose();
        self.screen.set_verbose(verbose);
        if !verbose {
            return self.view.fold();
        }
        if !self.view.unfold() {
            let before = self.screen.take_folded();
            self.view.at_once(before);
        }
    }

    /// Stops the round; the second time, leaves.
    fn stop(&mut self) {
        if self.cancellation.is_cancelled() {
            self.leaving = Leaving::Now;
        }
        self.cancellation.cancel();
    }

    /// The program has to end: what was said so far is kept, if that does not take long.
    fn leave(&mut self) {
        self.cancellation.cancel();
        if self.leaving == Leaving::No {
            self.leaving = Leaving::Until(Instant::now() + GRACE);
        }
    }

    fn next_frame(&self) -> Option<Instant> {
        let end = match self.leaving {
            Leaving::Until(end) => Some(end),
            Leaving::No | Leaving::Now => None,
        };
        let soon = self.dirty.then_some(self.drawn + FRAME);
        let turning = (self.view.moves() || self.view.is_still()).then_some(self.drawn + TURN);
        let armed = self.card.as_ref().and_then(|card| card.arms(self.drawn));
        [end, soon, turning, armed].into_iter().flatten().min()
    }

    fn draw(&mut self, now: Instant) {
        (self.dirty, self.drawn) = (false, now);
        if self.screen.measure() {
            self.view.resize(self.screen.width());
        }
        let (width, rows) = (self.screen.width(), self.screen.height().saturating_sub(1).max(1));
        let mut beneath: Vec<Line> =
            self.card.iter_mut().flat_map(|card| card.lines(width, rows.saturating_sub(1), now)).collect();
        let typed = self.typed.lines(width);
        beneath.extend(typed.into_iter().rev().take(rows.saturating_sub(beneath.len()).min(4)).rev());
        let room = rows.saturating_sub(beneath.len());
        let mut live = self.view.live(room, now);
        if self.view.is_still() && self.card.is_none() && room > 0 {
            live.push(self.waiting(now));
        }
        live.extend(beneath);
        let caret = if self.typed.is_empty() || self.card.is_some() { Caret::Hidden } else { Caret::Shown };
        self.present(live, caret);
    }

    fn present(&mut self, live: Vec<Line>, caret: Caret) {
        let pieces = self.view.finished();
        if pieces.iter().all(|piece| matches!(piece, Piece::Line(_))) {
            let lines: Vec<Line> = pieces.into_iter().filter_map(Piece::line).collect();
            return self.screen.draw(&lines, live, caret);
        }
        show(self.screen, pieces);
        self.screen.draw(&[], live, caret);
    }

    /// While there is nothing else to see.
    fn waiting(&self, now: Instant) -> Line {
        let passed = now.saturating_duration_since(self.began).as_secs();
        let spinner = call::picture(now);
        if self.cancellation.is_cancelled() {
            return line([(ASKS, format!("  {spinner} stopping … (Ctrl-C again leaves)"))]);
        }
        match passed {
            0 => note(spinner),
            1..=4 => note(&format!("{spinner} {passed} s")),
            _ => note(&format!("{spinner} {passed} s  (Ctrl-C stops)")),
        }
    }
}

/// Pieces of finished output, one after the other.
fn show(screen: &mut Screen, pieces: Vec<Piece>) {
    let mut lines = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Line(line) => lines.push(line),
            Piece::Image { data, mime } => {
                let bytes = STANDARD.decode(&data).unwrap_or_default();
                let size = grouped(bytes.len());
                lines.push(note(&format!("  ▣ {} of {size} bytes", visible(&mime))));
                if let Some(sequence) = image(&bytes, &mime, screen.width().min(style::WIDEST)) {
                    screen.lines(&std::mem::take(&mut lines));
                    screen.sequence(&sequence);
                }
            }
        }
    }
    if !lines.is_empty() {
        screen.lines(&lines);
    }
}
