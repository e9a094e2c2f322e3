//! One MCP host's server: who we are, which tools there are now, and a call to one of them.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ErrorData,
    Extensions, Implementation, JsonObject, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents, ServerCapabilities,
    ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::daemon::Daemon;
use super::kept::Kept;
use super::lookout::{Lookout, Told};
use super::{Toolsets, answer, http, tool_list};

/// What a host's model is told before its first call. The rest is in the tools' own descriptions.
const INSTRUCTIONS: &str = include_str!("instructions.txt");

/// What is one host's.
#[derive(Debug)]
pub(super) struct Server {
    daemon: Arc<Daemon>,
    /// The task that its calls are for, unless the host's URL names another; none means the daemon's default.
    task: Option<String>,
    toolsets: Toolsets,
    kept: Arc<Kept>,
    /// What the last list of tools said of the browser.
    told: Told,
    /// What looks out for the browser, for as long as the host is there.
    watching: Mutex<JoinSet<()>>,
}

impl Server {
    /// Serves a host that works in `task`.
    pub(super) fn new(daemon: Arc<Daemon>, task: Option<String>, toolsets: Toolsets, kept: Arc<Kept>) -> Self {
        Self { daemon, task, toolsets, kept, told: Told::new(None), watching: Mutex::default() }
    }

    fn task(&self, extensions: &Extensions) -> Option<String> {
        http::task_of(extensions).or_else(|| self.task.clone())
    }

    fn lookout(&self, extensions: &Extensions) -> Lookout {
        Lookout::new(Arc::clone(&self.daemon), self.task(extensions), &self.told)
    }

    async fn run(&self, name: &str, args: &JsonObject, task: Option<&str>) -> CallToolResult {
        if !tool_list::is_offered(name, self.toolsets) {
            let sentence = format!(
                "{name} runs code on this machine and is offered only where the user asks for it: start the server with \
                 `ostler mcp --toolset scripts`"
            );
            return answer::refused("bad_request", &sentence);
        }
        let mut result = match self.daemon.tool(name, args, task).await {
            Ok(reply) => answer::result(&reply, args, &self.kept),
            Err(error) => return answer::unanswered(&error),
        };
        let note = self.daemon.found_by_itself(task).await;
        result.content.extend(note.map(ContentBlock::text));
        result
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().enable_resources();
        let who = Implementation::new("ostler", env!("CARGO_PKG_VERSION")).with_title("ostler browser");
        ServerConfig::new(capabilities.build()).with_server_info(who).with_instructions(INSTRUCTIONS)
    }

    /// From here on the host is told when the browser appears or goes.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (mut lookout, peer) = (self.lookout(&context.extensions), context.peer);
        self.watching.lock().await.spawn(async move {
            loop {
                lookout.changed().await;
                if peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }

    fn accepted_subscription_filter(&self, _requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    /// The same for hosts of the newest protocol, which ask for it.
    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let lookout = self.lookout(&subscription.request_context().extensions);
        let changes = async {
            let mut lookout = lookout.beginning_now().await;
            loop {
                lookout.changed().await;
                if subscription.sink().notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = changes => {}
            () = subscription.cancelled() => {}
        }
        Ok(())
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let task = self.task(&context.extensions);
        let _ = self.daemon.prepare(task.as_deref()).await;
        let reachable = self.daemon.reachable(task.as_deref()).await;
        self.told.send_replace(Some(reachable));
        Ok(ListToolsResult::with_all_items(tool_list::offered(self.toolsets, reachable)))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tool_list::find(name)
    }

    /// Cancelled by the host, or by its going away, the call ends in the daemon as well.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let task = self.task(&context.extensions);
        let args = request.arguments.unwrap_or_default();
        tokio::select! {
            result = self.run(&request.name, &args, task.as_deref()) => Ok(result.into()),
            () = context.ct.cancelled() => Err(ErrorData::internal_error("the call was cancelled", None)),
        }
    }

    /// The SDK did not know the parameters of a method that there is: others do not get here.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let why = format!("\"params\" of {} are not what it takes in this version of the protocol", request.method);
        Err(ErrorData::invalid_params(why, None))
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.kept.list()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let Some(text) = self.kept.read(&uri) else {
            let why = "no such result is kept; only the newest ones are, and resources/list names them";
            return Err(ErrorData::resource_not_found(why, None));
        };
        let contents = ResourceContents::text(text, uri).with_mime_type("application/json");
        Ok(ReadResourceResponse::Complete(ReadResourceResult::new(vec![contents])))
    }
}
