//! The plan of a call: plain JSON for whoever has loaded the library.

use serde_json::{Map, Value, json};

use super::{
    manifest::{Initialization, LibraryType, ModuleManifest, Resolved, ToolEntry},
    template::Scope,
};

impl ModuleManifest {
    /// What to call, on what, with which arguments. `arguments` have been validated against the tool's parameters.
    ///
    /// ```json
    /// { "init": { "type": "factory", "method": "create", "treatAsConstructor": false, "config": {} },
    ///   "function": "get", "instanceMethod": true, "async": true,
    ///   "args": ["/a", null, 1], "holes": [1], "handle": "axios-1", "keep": true, "prefix": "axios" }
    /// ```
    /// `method`, `className`, `config`, `holes` (places in `args` that are `undefined`), `handle`, `keep` and
    /// `prefix` (of the new handle) are there only where they say something.
    pub fn plan(&self, tool: &ToolEntry, mut arguments: Map<String, Value>, resolved: &Resolved) -> Value {
        let handle = if tool.takes_handle { arguments.shift_remove("handle") } else { None };
        let placed = tool.calling.arrange(arguments, resolved);
        let mut plan = Map::new();
        plan.insert("init".into(), self.initialization.plan(resolved));
        plan.insert("function".into(), tool.function.to_string().into());
        plan.insert("instanceMethod".into(), tool.instance_method.into());
        plan.insert("async".into(), tool.is_async.into());
        plan.insert("args".into(), placed.args.into());
        if !placed.holes.is_empty() {
            plan.insert("holes".into(), placed.holes.into());
        }
        if let Some(handle) = handle {
            plan.insert("handle".into(), handle);
        }
        if tool.keeps_instance() {
            plan.insert("keep".into(), true.into());
            plan.insert("prefix".into(), self.name.as_str().into());
        }
        plan.into()
    }
}

impl Initialization {
    /// `init` of a plan.
    pub fn plan(&self, resolved: &Resolved) -> Value {
        let mut init = json!({ "type": self.kind.name() });
        if self.kind == LibraryType::Static {
            return init;
        }
        init["treatAsConstructor"] = self.treat_as_constructor.into();
        for (name, path) in [("method", &self.method), ("className", &self.class_name)] {
            if let Some(path) = path {
                init[name] = path.to_string().into();
            }
        }
        let scope = Scope { arguments: None, resolved };
        if let Some(config) = self.config.as_ref().and_then(|config| config.fill(&scope)) {
            init["config"] = config;
        }
        init
    }
}
