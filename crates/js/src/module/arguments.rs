//! From a call's arguments, which have names, to a function's, which have places.
//!
//! A schema cannot say how `axios.get(url, config)` is called, so a manifest may say it with `args`. Without:
//! one parameter is its value, several stand in the schema's order.

use serde_json::{Map, Value};

use super::{
    manifest::Resolved,
    template::{Item, Scope},
};

/// How a function takes its arguments.
#[derive(Clone, Debug, PartialEq)]
pub enum Calling {
    /// `args`: one template for each argument.
    Template(Vec<Item>),
    /// Each parameter at its place in the schema.
    Positional(Vec<String>),
    /// `passAsObject`: one argument, with all names.
    Object,
}

/// The arguments of one call, by place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallArguments {
    pub args: Vec<Value>,
    /// Places in `args` whose null stands for `undefined`: left out, with others behind them.
    pub holes: Vec<usize>,
}

impl Calling {
    /// Puts arguments into their places. A place has a meaning, so an argument that is absent leaves a hole where
    /// others follow, and nothing at the end.
    pub fn arrange(&self, mut arguments: Map<String, Value>, resolved: &Resolved) -> CallArguments {
        let mut placed = CallArguments::default();
        match self {
            Self::Object => placed.push(Some(arguments.into())),
            Self::Positional(names) => {
                names.iter().for_each(|name| placed.push(arguments.swap_remove(name)));
            }
            Self::Template(items) => {
                let scope = Scope { arguments: Some(&arguments), resolved };
                for item in items {
                    match item {
                        Item::One(template) => placed.push(template.fill(&scope)),
                        Item::Spread(_) => {
                            item.fill(&scope).into_iter().for_each(|value| placed.push(Some(value)));
                        }
                    }
                }
            }
        }
        placed.trim();
        placed
    }
}

impl CallArguments {
    fn push(&mut self, value: Option<Value>) {
        if value.is_none() {
            self.holes.push(self.args.len());
        }
        self.args.push(value.unwrap_or_default());
    }

    fn trim(&mut self) {
        while self.holes.last().is_some_and(|hole| hole + 1 == self.args.len()) {
            self.holes.pop();
            self.args.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::module::{Mode, ModuleManifest};

    /// The places of `arguments` in a tool with these fields.
    fn arranged(tool: &Value, arguments: &Value) -> (Value, Vec<usize>) {
        let mut module = json!({
            "name": "m", "version": "1.0.0", "description": "d", "package": "p", "type": "static",
            "dependencies": { "token": "string" },
            "tools": [{ "name": "t", "description": "d", "function": "f" }]
        });
        for (field, value) in tool.as_object().unwrap() {
            module["tools"][0][field] = value.clone();
        }
        let parsed = ModuleManifest::parse(&module.to_string(), Mode::Strict);
        let module = parsed.manifest.unwrap_or_else(|| panic!("{:?}", parsed.faults));
        let resolved = module.resolve(|name| (name == "token").then(|| "secret".into())).unwrap();
        let placed = module.tools[0].calling.arrange(arguments.as_object().unwrap().clone(), &resolved);
        (placed.args.into(), placed.holes)
    }

    #[test]
    fn arguments_find_their_places() {
        let one = json!({"parameters": {"properties": {"a": {}}}});
        let three = json!({"parameters": {"properties": {"c": {}, "a": {}, "b": {}}}});
        let with = |args: Value| {
            let mut tool = three.clone();
            tool["args"] = args;
            tool
        };
        let mut object = three.clone();
        object["passAsObject"] = json!(true);
        let cases = [
            (json!({}), json!({}), json!([]), vec![]),
            (json!({}), json!({"extra": 1}), json!([]), vec![]),
            (one.clone(), json!({"a": {"x": 1}}), json!([{"x": 1}]), vec![]),
            (one.clone(), json!({"a": [1, 2]}), json!([[1, 2]]), vec![]),
            (one.clone(), json!({"a": null}), json!([null]), vec![]),
            (one, json!({}), json!([]), vec![]),
            (three.clone(), json!({"a": 1, "b": 2, "c": 3}), json!([3, 1, 2]), vec![]),
            (three.clone(), json!({"c": 3}), json!([3]), vec![]),
            (three.clone(), json!({"b": 2}), json!([null, null, 2]), vec![0, 1]),
            (three.clone(), json!({"a": null}), json!([null, null]), vec![0]),
            (three.clone(), json!({"b": 2, "c": 3, "extra": 1}), json!([3, null, 2]), vec![1]),
            (object.clone(), json!({"b": 2}), json!([{"b": 2}]), vec![]),
            (object, json!({}), json!([{}]), vec![]),
            (
                with(json!(["${a}", {"b": "${b}", "c": "${c}"}])),
                json!({"a": 1, "c": 3}),
                json!([1, {"c": 3}]),
                vec![],
            ),
            (with(json!(["${a}", "${b}", "${c}"])), json!({"a": 1, "c": 3}), json!([1, null, 3]), vec![1]),
            (with(json!(["${a}", "${b}", "${c}"])), json!({"a": 1}), json!([1]), vec![]),
            (
                with(json!(["${a}", "...${b}", "${c}"])),
                json!({"a": 1, "b": [2, 3]}),
                json!([1, 2, 3]),
                vec![],
            ),
            (with(json!(["${a}", "...${b}", "${c}"])), json!({"c": 4, "b": []}), json!([null, 4]), vec![0]),
            (with(json!(["${a}", null])), json!({}), json!([null, null]), vec![0]),
            (with(json!([["${a}", "${b}"], "${token}"])), json!({"b": 2}), json!([[2], "secret"]), vec![]),
            (with(json!([])), json!({"a": 1}), json!([]), vec![]),
        ];
        for (tool, arguments, args, holes) in cases {
            assert_eq!(arranged(&tool, &arguments), (args, holes), "{tool} {arguments}");
        }
    }
}
