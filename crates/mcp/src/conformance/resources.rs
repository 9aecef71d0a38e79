//! A text, a picture, and a template.

use pinza_core::BoxFuture;

use super::PIXEL;
use crate::server::{ResourceBody, ResourceInfo, ResourceSource, SourceError, TemplateInfo};

pub(super) struct Resources;

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
pub(super) const WATCHED: &str = "test://watched-resource";

impl ResourceSource for Resources {
    fn list(&self) -> BoxFuture<'_, Vec<ResourceInfo>> {
        let info = |uri: &str, name: &str, mime_type: &str| ResourceInfo {
            uri: uri.into(),
            name: name.into(),
            description: format!("A fixture: {name}"),
            mime_type: Some(mime_type.into()),
            size: None,
        };
        let all = vec![
            info(TEXT, "static text", "text/plain"),
            info(BINARY, "static binary", "image/png"),
            info(WATCHED, "watched resource", "text/plain"),
        ];
        Box::pin(std::future::ready(all))
    }

    fn templates(&self) -> Vec<TemplateInfo> {
        vec![TemplateInfo {
            uri_template: "test://template/{id}/data".into(),
            name: "template".into(),
            description: "A fixture: data by id".into(),
            mime_type: Some("application/json".into()),
        }]
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<ResourceBody, SourceError>> {
        Box::pin(std::future::ready(read(uri)))
    }

    fn changes(&self) -> bool {
        true
    }
}

fn read(uri: &str) -> Result<ResourceBody, SourceError> {
    let text = |text: &str| Ok(ResourceBody::Text { mime_type: "text/plain".into(), text: text.into() });
    match uri {
        TEXT => text("This is the content of the static text resource."),
        WATCHED => text("This resource can be subscribed to."),
        BINARY => Ok(ResourceBody::Blob { mime_type: "image/png".into(), data: PIXEL.into() }),
        _ => {
            let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
            let id = id.filter(|id| !id.is_empty() && !id.contains('/')).ok_or(SourceError::NotFound)?;
            let data = serde_json::json!({
                "id": id,
                "templateTest": true,
                "data": format!("Data for ID: {id}"),
            });
            Ok(ResourceBody::Text { mime_type: "application/json".into(), text: data.to_string() })
        }
    }
}
