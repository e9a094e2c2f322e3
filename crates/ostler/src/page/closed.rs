//! Closed shadow trees: what no script can see, the browser names to one who asks it of the element.
//!
//! Asking costs a round trip for each element, so only those are asked about that a walk came by, that may have such a
//! tree, and that were not asked about before.

use std::time::Duration;

use futures_util::future::join_all;
use ostler_core::CallError;
use serde::Deserialize;
use serde_json::{Value, json};

use super::document::{Argument, Document};
use super::{CALL, Page};
use crate::meta::TaskLayer;

/// How often a page is walked because of trees that were found, of which one may hold another, or because more elements
/// may have one than are asked about after one walk.
pub(super) const MOST_ROUNDS: usize = 4;
/// How many elements a walk notes at most, `MOST_UNSURE` of the walker.
const FULL: usize = 1000;
/// How many elements are asked about at the same time.
const AT_ONCE: usize = 100;

/// What the browser says of an element.
#[derive(Deserialize)]
struct Described {
    node: Node,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    #[serde(default)]
    shadow_roots: Vec<Root>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Root {
    backend_node_id: u64,
    shadow_root_type: String,
}

impl<T: TaskLayer> Page<'_, T> {
    /// Looks for closed shadow trees in the elements that the last walk noted, and shows them to the walker. Returns
    /// whether another walk may see more: there are any, or there was no room to note all that may have one.
    pub(super) async fn open_closed_trees(&self, document: &Document) -> Result<bool, CallError> {
        let nothing: [Argument<'_, ()>; 0] = [];
        let Some(list) = document.handle(self, "unsure", &nothing, CALL).await? else { return Ok(false) };
        let elements = self.entries(document, &list).await?;
        let mut trees = Vec::new();
        for some in elements.chunks(AT_ONCE) {
            trees.extend(self.closed_trees_of(document, some).await);
        }
        let arguments: Vec<Argument<'_, ()>> = trees.iter().map(|tree| Argument::ObjectId(tree)).collect();
        let adopted: usize = document.ask(self, "adopt", &arguments, CALL).await?;
        // A handle would keep what it stands for alive as long as the document.
        for some in [&elements, &trees, &vec![list]].into_iter().flat_map(|handles| handles.chunks(AT_ONCE)) {
            join_all(some.iter().map(|handle| self.release(document, handle))).await;
        }
        Ok(adopted > 0 || elements.len() >= FULL)
    }

    /// Returns handles of the closed trees in some elements.
    async fn closed_trees_of(&self, document: &Document, elements: &[String]) -> Vec<String> {
        let described = join_all(elements.iter().map(|element| {
            let params = json!({"objectId": element});
            async move { self.call::<Described>(&document.session, "DOM.describeNode", &params, CALL).await }
        }));
        // What was removed meanwhile has no tree to show.
        let roots = described.await.into_iter().flatten().flat_map(|described| described.node.shadow_roots);
        let closed = roots.filter(|root| root.shadow_root_type == "closed");
        let trees = join_all(closed.map(|root| document.node(self, root.backend_node_id)));
        trees.await.into_iter().flatten().collect()
    }

    /// Returns handles of the entries of a list.
    async fn entries(&self, document: &Document, list: &str) -> Result<Vec<String>, CallError> {
        #[derive(Deserialize)]
        struct Properties {
            result: Vec<Property>,
        }
        #[derive(Deserialize)]
        struct Property {
            name: String,
            value: Option<Handle>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Handle {
            object_id: Option<String>,
        }
        let params = json!({"objectId": list, "ownProperties": true});
        let listed: Properties = self.call(&document.session, "Runtime.getProperties", &params, CALL).await?;
        let entries = listed.result.into_iter().filter(|property| property.name.parse::<u32>().is_ok());
        Ok(entries.filter_map(|entry| entry.value?.object_id).collect())
    }

    async fn release(&self, document: &Document, handle: &str) {
        let params = json!({"objectId": handle});
        let released = self.call::<Value>(&document.session, "Runtime.releaseObject", &params, Duration::from_secs(1));
        // One of a document that went away is gone with it.
        let _ = released.await;
    }
}
