//! A server on the SDK alone, without validation, policy or journal: what `./bench mcp` compares with.
//!
//! usage: bare stdio TOOLS
//!        bare http TOOLS PORT
#![expect(clippy::unwrap_used, reason = "a program to measure with")]

use std::sync::Arc;

use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
    service::TowerToHyperService,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::{
        io::stdio_pipes,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};

#[derive(Clone)]
struct Bare {
    tools: Arc<Vec<Tool>>,
}

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = arguments.get("text").and_then(|text| text.as_str()).unwrap_or_default();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

#[tokio::main(flavor = "multi_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let (way, count) = (arguments.next().unwrap(), arguments.next().unwrap().parse::<usize>().unwrap());
    let schema = serde_json::json!({
        "type": "object",
        "properties": { "text": { "type": "string", "description": "Any text" } },
        "required": ["text"],
    });
    let schema = Arc::new(schema.as_object().cloned().unwrap());
    let tool = |number| Tool::new(format!("tool_{number}"), "Returns its text", Arc::clone(&schema));
    let bare = Bare { tools: Arc::new((0..count).map(tool).collect()) };
    if way == "stdio" {
        bare.serve(stdio_pipes()).await.unwrap().waiting().await.unwrap();
        return;
    }
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(bare.clone()), sessions, config);
    let port: u16 = arguments.next().unwrap().parse().unwrap();
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
