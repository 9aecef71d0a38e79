//! Streams cut, split and mixed in every way that a network, a proxy or a server may do it.
//!
//! The law: the same answer, or a typed error; and no call is ever reported as whole that the
//! whole stream does not have exactly so.

use bytes::Bytes;
use pinza_agent::{ProviderErrorKind, ProviderKind};
use proptest::{collection::vec, prelude::*};

use super::streams::{Fixture, Heard, check_deltas, check_laws, fixtures, hear};

async fn whole(fixture: &Fixture) -> Heard {
    hear(fixture.kind, vec![fixture.bytes.clone().into()]).await
}

async fn cut_everywhere(kind: ProviderKind) {
    for fixture in fixtures(kind) {
        let full = whole(&fixture).await;
        for end in 0..fixture.bytes.len() {
            let heard = hear(kind, vec![Bytes::copy_from_slice(&fixture.bytes[..end])]).await;
            let place = format!("{} cut at {end}", fixture.file.display());
            check_laws(&heard, &place);
            check_deltas(&heard, &place);
            for call in heard.ends() {
                assert!(full.ends().contains(&call), "{place}: half of a call passes for one: {call:?}");
            }
            match &heard.error {
                None => assert_eq!(heard.done(), full.done(), "{place}"),
                Some(error) => {
                    let same = full.error.as_ref().is_some_and(|full| full.kind == error.kind);
                    assert!(same || error.kind == ProviderErrorKind::Truncated, "{place}: {error:?}");
                }
            }
        }
    }
}

async fn split_everywhere(kind: ProviderKind) {
    for fixture in fixtures(kind) {
        let full = whole(&fixture).await;
        let bytes = Bytes::from(fixture.bytes.clone());
        for at in 1..bytes.len() {
            let heard = hear(kind, vec![bytes.slice(..at), bytes.slice(at..)]).await;
            assert_eq!(heard, full, "{} split at {at}", fixture.file.display());
        }
        let single: Vec<Bytes> = (0..bytes.len()).map(|at| bytes.slice(at..=at)).collect();
        assert_eq!(hear(kind, single).await, full, "{} byte by byte", fixture.file.display());
    }
}

/// The same events, written in the other ways that the format allows.
async fn mix(kind: ProviderKind) {
    for fixture in fixtures(kind) {
        let full = whole(&fixture).await;
        let text = String::from_utf8(fixture.bytes.clone()).unwrap();
        let between = |what: &str| text.replace("\n\n", &format!("\n\n{what}"));
        let mixed = [
            ("CRLF", text.replace('\n', "\r\n")),
            ("CR", text.replace('\n', "\r")),
            ("BOM", format!("\u{feff}{text}")),
            ("keep-alives", format!(": hello\n\n{}", between(": keep-alive\n\n"))),
            ("bare colons", between(":\n")),
            ("empty lines", format!("\n\n{}", between("\n\n\n"))),
            ("ids and times", between("id: 7\nretry: 3000\n\n")),
            ("unknown fields", between("flavour: vanilla\n")),
            ("no space after the colon", text.replace("\ndata: ", "\ndata:").replace("event: ", "event:")),
            ("empty data", between("data:\n\n")),
            ("no last line break", text.trim_end().to_owned()),
            ("all of it", format!("\u{feff}{}", between(": ping\n\n\n")).replace('\n', "\r\n")),
        ];
        for (what, mixed) in mixed {
            let bytes = Bytes::from(mixed);
            let place = format!("{} with {what}", fixture.file.display());
            assert_eq!(hear(kind, vec![bytes.clone()]).await, full, "{place}");
            let single: Vec<Bytes> = (0..bytes.len()).map(|at| bytes.slice(at..=at)).collect();
            assert_eq!(hear(kind, single).await, full, "{place}, byte by byte");
        }
    }
}

/// Bytes that no server should send: an error with a name, not a panic and not a call.
async fn spoil(kind: ProviderKind) {
    for fixture in fixtures(kind) {
        let full = whole(&fixture).await;
        for at in (0..fixture.bytes.len()).step_by(7) {
            for byte in [0, b'{', b'"', b'\n', 0xff] {
                let mut bytes = fixture.bytes.clone();
                bytes[at] = byte;
                let heard = hear(kind, vec![bytes.into()]).await;
                let place = format!("{} with {byte} at {at}", fixture.file.display());
                check_laws(&heard, &place);
            }
        }
        assert_eq!(whole(&fixture).await, full, "reading leaves nothing behind");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Events in any order, any of them missing or there twice: whatever is heard, the laws hold.
    #[test]
    fn shuffled(kind in 0..4_usize, which in any::<prop::sample::Index>(), order in vec(any::<prop::sample::Index>(), 0..12)) {
        let kind = ProviderKind::ALL[kind];
        let fixtures = fixtures(kind);
        let text = String::from_utf8(which.get(&fixtures).bytes.clone()).unwrap();
        let events: Vec<&str> = text.split_inclusive("\n\n").collect();
        let shuffled: String = order.iter().map(|index| *index.get(&events)).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let heard = runtime.block_on(hear(kind, vec![shuffled.clone().into()]));
        check_laws(&heard, &shuffled);
    }
}

macro_rules! damage {
    ($($name:ident: $kind:ident;)*) => { $(
        mod $name {
            use super::*;

            #[tokio::test]
            async fn cut_at_every_byte() {
                cut_everywhere(ProviderKind::$kind).await;
            }

            #[tokio::test]
            async fn split_at_every_byte() {
                split_everywhere(ProviderKind::$kind).await;
            }

            #[tokio::test]
            async fn mixed_with_everything_that_is_allowed() {
                mix(ProviderKind::$kind).await;
            }

            #[tokio::test]
            async fn spoilt() {
                spoil(ProviderKind::$kind).await;
            }
        }
    )* };
}

damage! {
    openai: OpenAi;
    openai_responses: OpenAiResponses;
    anthropic: Anthropic;
    gemini: Gemini;
}
