//! Images on their way to a model.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use pinza_core::Content;

/// An image that an API takes. One that it refuses would make every later request of the
/// conversation fail, so it stays what a text says about it.
pub(crate) struct Image<'a> {
    pub(crate) mime_type: &'a str,
    pub(crate) data: &'a str,
}

impl<'a> Image<'a> {
    /// The image in a block of content, if it is of one of these types.
    pub(crate) fn of(content: &'a Content, types: &[&str]) -> Option<Self> {
        let (Content::Image { data, mime_type } | Content::Blob { data, mime_type: Some(mime_type), .. }) =
            content
        else {
            return None;
        };
        let mime_type = match mime_type.as_str() {
            "image/jpg" => "image/jpeg",
            other => other,
        };
        let is_image =
            types.contains(&mime_type) && STANDARD.decode(data).is_ok_and(|bytes| !bytes.is_empty());
        is_image.then_some(Self { mime_type, data })
    }

    pub(crate) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.mime_type, self.data)
    }
}
