//! No answer is larger than its reader can take.

use std::sync::{Arc, Mutex};

use pinza_core::{
    BoxFuture, CallId, Content, OUTPUT_LIMIT, OutputStore, TextLimit, Tool, ToolError, ToolOutput, ToolResult,
};
use serde_json::json;

use crate::support::{World, definition, describe, fake};

/// Keeps texts in memory, under `out/CALL.txt`.
#[derive(Default)]
struct Shelf(Mutex<Vec<(String, String)>>);

impl OutputStore for Shelf {
    fn keep<'a>(&'a self, call: &'a CallId, text: String) -> BoxFuture<'a, Result<String, String>> {
        let path = format!("out/{call}.txt");
        self.0.lock().unwrap().push((path.clone(), text));
        Box::pin(std::future::ready(Ok(path)))
    }
}

struct FullShelf;

impl OutputStore for FullShelf {
    fn keep<'a>(&'a self, _: &'a CallId, _: String) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(std::future::ready(Err("no space".into())))
    }
}

fn tool(result: ToolResult) -> Arc<dyn Tool> {
    fake(definition("says"), move |_, _| Box::pin(std::future::ready(result.clone())))
}

/// The result of a tool under a limit, and what the store was given.
async fn bounded(result: ToolResult, limit: TextLimit) -> (ToolResult, Vec<(String, String)>) {
    let shelf = Arc::new(Shelf::default());
    let mut world = World::with_store([tool(result)], Arc::clone(&shelf) as _);
    world.scope.text_limit = limit;
    let result = world.call("says", json!({})).await;
    let kept = shelf.0.lock().unwrap().clone();
    (result, kept)
}

fn image(size: usize) -> Content {
    Content::Image { data: "A".repeat(size), mime_type: "image/png".into() }
}

fn output(content: Vec<Content>) -> ToolOutput {
    ToolOutput { content, ..ToolOutput::default() }
}

#[tokio::test]
async fn what_fits_is_left_alone() {
    for size in [0, 1, 99, 100] {
        let fits = output(vec![Content::text("x".repeat(size)), image(500)]);
        let (result, kept) = bounded(Ok(fits.clone()), TextLimit(100)).await;
        assert_eq!(result.unwrap(), fits);
        assert!(kept.is_empty());
    }
}

#[tokio::test]
async fn a_long_text_becomes_head_tail_and_path() {
    let text: String = (0..).map(|number| format!("{number}\n")).take(40).collect();
    let (result, kept) = bounded(Ok(ToolOutput::text(&*text)), TextLimit(64)).await;
    let (head, tail) = (&text[..48], &text[text.len() - 8..]);
    let left_out = text.len() - 56;
    assert_eq!(
        result.unwrap().as_text(),
        format!("{head}\n\n[… {left_out} bytes left out; the whole text is in out/call-1.txt …]\n\n{tail}")
    );
    assert_eq!(kept, [("out/call-1.txt".to_owned(), text)]);
}

#[tokio::test]
async fn cuts_fall_between_characters() {
    for text in ["🦀".repeat(80), "é".repeat(200), "a🦀é".repeat(60), "\u{10ffff}x".repeat(80)] {
        for limit in 1..120 {
            let (result, kept) = bounded(Ok(ToolOutput::text(&*text)), TextLimit(limit)).await;
            let shown = result.unwrap().as_text();
            let (head, rest) = shown.split_once("\n\n[… ").unwrap();
            let (note, tail) = rest.split_once(" …]\n\n").unwrap();
            let left_out: usize = note.split_once(' ').unwrap().0.parse().unwrap();
            assert!(text.starts_with(head) && text.ends_with(tail), "{limit}: {shown}");
            assert_eq!(head.len() + left_out + tail.len(), text.len(), "{limit}");
            assert!(head.len() + tail.len() <= limit, "{limit}");
            assert_eq!(kept[0].1, text, "{limit}");
        }
    }
}

#[tokio::test]
async fn texts_are_kept_together_and_images_stay() {
    let blocks = vec![Content::text("a".repeat(80)), image(300), Content::text("b".repeat(80))];
    let long = output(blocks).details(json!({"kept": true}));
    let (result, kept) = bounded(Ok(long), TextLimit(100)).await;
    let result = result.unwrap();
    assert_eq!(result.content.len(), 2);
    assert!(matches!(&result.content[0], Content::Text { text } if text.ends_with(&"b".repeat(12))));
    assert_eq!(result.content[1], image(300));
    assert_eq!(result.details, Some(json!({"kept": true})));
    assert_eq!(kept[0].1, format!("{}\n{}", "a".repeat(80), "b".repeat(80)));
}

#[tokio::test]
async fn the_text_of_a_resource_is_text() {
    let uri = "file:///long.txt".to_owned();
    let resource = Content::Resource { uri, mime_type: None, text: "r".repeat(500) };
    let (result, kept) = bounded(Ok(output(vec![resource])), TextLimit(100)).await;
    let shown = result.unwrap();
    assert!(shown.size() < 250, "{shown:?}");
    assert_eq!(kept[0].1, "r".repeat(500));
}

#[tokio::test]
async fn a_store_that_cannot_keep_it_costs_only_the_middle() {
    let long = || tool(Ok(ToolOutput::text("x".repeat(70_000))));
    let no_store = World::new([long()]);
    let full = World::with_store([long()], Arc::new(FullShelf));
    for (world, words) in
        [(no_store, "; ask for less at once …]"), (full, "; the whole text could not be kept: no space …]")]
    {
        let text = world.call("says", json!({})).await.unwrap().as_text();
        assert!(text.contains(words), "{}", &text[49_000..]);
        assert!(text.len() < TextLimit::MODEL.0);
    }
}

#[tokio::test]
async fn beyond_sixteen_mebibytes_there_is_no_result() {
    let refusal = format!(
        "output_limit: The result has {} bytes, more than {OUTPUT_LIMIT} (Ask for less at once.)",
        OUTPUT_LIMIT + 1
    );
    let cases = [
        (output(vec![Content::text("x".repeat(OUTPUT_LIMIT))]), true),
        (output(vec![Content::text("x".repeat(OUTPUT_LIMIT + 1))]), false),
        (output(vec![image(OUTPUT_LIMIT)]), true),
        (output(vec![Content::text("x"), image(OUTPUT_LIMIT)]), false),
        (output(vec![]).details(json!({"a": ["x".repeat(OUTPUT_LIMIT)]})), false),
    ];
    for (result, fits) in cases {
        let (result, kept) = bounded(Ok(result), TextLimit::NONE).await;
        assert!(kept.is_empty());
        match fits {
            true => assert!(result.is_ok()),
            false => assert_eq!(describe(&result), refusal),
        }
    }
}

#[tokio::test]
async fn an_error_is_bounded_too() {
    let long = ToolError::execution("🦀".repeat(1_000)).hint("Try less.");
    let (result, _) = bounded(Err(long), TextLimit(101)).await;
    let error = result.unwrap_err();
    assert!(error.message.len() < 250, "{}", error.message);
    assert!(error.message.starts_with("🦀🦀") && error.message.contains("bytes left out"));
    assert_eq!(error.hint.as_deref(), Some("Try less."));

    let mut world = World::new([]);
    world.scope.text_limit = TextLimit(1_000);
    let unknown = world.call(&"x".repeat(100_000), json!({})).await.unwrap_err();
    assert!(unknown.message.len() < 1_200, "{}", unknown.message.len());
}
