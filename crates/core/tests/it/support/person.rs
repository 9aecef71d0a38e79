//! Somebody who can be asked, and who counts what was shown.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use pinza_core::{Answer, Approver, BoxFuture, Prompt, Rule};

type Thinking = BoxFuture<'static, Answer>;

pub(crate) struct Person {
    think: Box<dyn Fn(&Prompt) -> Thinking + Send + Sync>,
    pub(crate) shown: Mutex<Vec<Prompt>>,
    pub(crate) remembered: Mutex<Vec<Rule>>,
    pub(crate) answered: AtomicUsize,
    pub(crate) open: AtomicUsize,
    pub(crate) most_open: AtomicUsize,
}

impl Person {
    pub(crate) fn who<F>(think: impl Fn(&Prompt) -> F + Send + Sync + 'static) -> Arc<Self>
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        Arc::new(Self {
            think: Box::new(move |prompt| Box::pin(think(prompt))),
            shown: Mutex::default(),
            remembered: Mutex::default(),
            answered: AtomicUsize::default(),
            open: AtomicUsize::default(),
            most_open: AtomicUsize::default(),
        })
    }

    pub(crate) fn says(answer: Answer) -> Arc<Self> {
        Self::who(move |_| std::future::ready(answer))
    }

    /// One who takes a while.
    pub(crate) fn says_after(time: std::time::Duration, answer: Answer) -> Arc<Self> {
        Self::who(move |_| async move {
            tokio::time::sleep(time).await;
            answer
        })
    }

    pub(crate) fn silent() -> Arc<Self> {
        Self::who(|_| std::future::pending())
    }

    /// The calls whose prompts were shown, in order.
    pub(crate) fn calls_shown(&self) -> Vec<String> {
        self.shown.lock().unwrap().iter().map(|prompt| prompt.call.to_string()).collect()
    }

    pub(crate) fn only_prompt(&self) -> Prompt {
        let shown = self.shown.lock().unwrap();
        assert_eq!(shown.len(), 1, "{shown:?}");
        shown[0].clone()
    }
}

struct Open<'a>(&'a Person);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, SeqCst);
    }
}

impl Approver for Person {
    fn ask<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let open = self.open.fetch_add(1, SeqCst) + 1;
            let _open = Open(self);
            self.most_open.fetch_max(open, SeqCst);
            self.shown.lock().unwrap().push(prompt.clone());
            // A breath between showing and answering lets an unserialised prompt show itself.
            tokio::task::yield_now().await;
            let answer = (self.think)(prompt).await;
            self.answered.fetch_add(1, SeqCst);
            answer
        })
    }

    fn remember(&self, rule: &Rule) -> Result<(), String> {
        self.remembered.lock().unwrap().push(rule.clone());
        Ok(())
    }
}
