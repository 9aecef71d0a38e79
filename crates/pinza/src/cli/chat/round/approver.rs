//! Questions about calls, on their way to the round that shows them.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use pinza::{
    Rule,
    core::{Answer, Approver, BoxFuture, Prompt},
};
use tokio::sync::{
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    oneshot,
};

use crate::cli::keep_rule;

/// What an approver has to say to whoever is in front of the terminal.
pub(super) enum Word {
    Question(Box<Question>),
    /// A rule could not be written, and why.
    Unkept(String),
}

/// A question that waits. It is withdrawn when `answer` is closed.
pub(super) struct Question {
    pub(super) prompt: Prompt,
    pub(super) answer: oneshot::Sender<Answer>,
}

/// Where questions go: to the round that runs now, if there is one.
#[derive(Clone, Default)]
pub(in super::super) struct Questions(Arc<Mutex<Option<UnboundedSender<Word>>>>);

impl Questions {
    /// All that is asked from now on, until the next one listens.
    pub(super) fn listen(&self) -> UnboundedReceiver<Word> {
        let (asking, asked) = unbounded_channel();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(asking);
        asked
    }

    /// False if nobody listens.
    fn send(&self, word: Word) -> bool {
        let listener = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listener.as_ref().is_some_and(|listener| listener.send(word).is_ok())
    }
}

/// Asks in the live part of the screen.
pub(in super::super) struct ScreenApprover {
    config_file: PathBuf,
    questions: Questions,
}

impl ScreenApprover {
    pub(in super::super) fn new(config_file: PathBuf, questions: Questions) -> Self {
        Self { config_file, questions }
    }
}

impl Approver for ScreenApprover {
    fn ask<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Answer> {
        let (answer, answered) = oneshot::channel();
        let question = Question { prompt: prompt.clone(), answer };
        Box::pin(async move {
            if !self.questions.send(Word::Question(Box::new(question))) {
                return Answer::Deny;
            }
            // A round that ends without an answer has said no.
            answered.await.unwrap_or(Answer::Deny)
        })
    }

    fn remember(&self, rule: &Rule) -> Result<(), String> {
        keep_rule(&self.config_file, rule).inspect_err(|reason| {
            self.questions.send(Word::Unkept(reason.clone()));
        })
    }
}
