//! `params._env`: who sees which variable.

use pinza_testkit::Program;
use serde_json::json;

use super::{group, tool};
use crate::support::{check_call, fine, pinza};

const SECRET: &str = "s3cr3t-value";

fn with_variables() -> Program {
    let pinza = pinza();
    fine(&pinza, &["env", "set", &format!("TOKEN={SECRET}")]);
    fine(&pinza, &["env", "set", "OTHER=kept"]);
    fine(&pinza, &["config", "set", "env.REGION", "eu"]);
    let script = "function execute({ _env }) { return Object.keys(_env).sort().map((name) => `${name}=${_env[name]}`).join(' ') }";
    tool(&pinza, "open", json!({}), script);
    tool(&pinza, "declares", json!({"env": ["TOKEN", "REGION", "ABSENT"]}), script);
    tool(&pinza, "nothing", json!({"env": []}), script);
    pinza
}

#[test]
fn flags_and_configuration_reach_tools_that_declare_nothing_and_the_store_does_not() {
    let pinza = with_variables();
    check_call(&pinza, &["open"], Ok("REGION=eu"));
    check_call(&pinza, &["open", "--env", "MODE=fast", "--env", "REGION=us"], Ok("MODE=fast REGION=us"));
}

#[test]
fn a_tool_that_declares_gets_what_it_names_and_nothing_else() {
    let pinza = with_variables();
    let both = format!("REGION=eu TOKEN={SECRET}");
    check_call(&pinza, &["declares"], Ok(&both));
    check_call(&pinza, &["declares", "--env", "MODE=fast"], Ok(&both));
    check_call(&pinza, &["declares", "--env", "TOKEN=typed"], Ok("REGION=eu TOKEN=typed"));
    check_call(&pinza, &["nothing", "--env", "MODE=fast"], Ok(""));
}

#[test]
fn what_a_model_writes_as_env_is_replaced() {
    let pinza = with_variables();
    let forged = r#"{"_env": {"TOKEN": "forged", "REGION": "moon"}}"#;
    check_call(&pinza, &["open", forged], Ok("REGION=eu"));
    check_call(&pinza, &["declares", forged], Ok(&format!("REGION=eu TOKEN={SECRET}")));
    let more = json!({"parameters": {"properties": {"_env": {"type": "string"}}}});
    tool(&pinza, "asks", more, "function execute({ _env }) { return typeof _env + Object.keys(_env) }");
    check_call(&pinza, &["asks", "_env=forged"], Ok("objectREGION"));
}

#[test]
fn each_tool_of_a_group_declares_for_itself() {
    let pinza = with_variables();
    let manifest = json!([
        {"name": "has", "description": "x", "function": "keys", "env": ["TOKEN"]},
        {"name": "has_not", "description": "x", "function": "keys"},
    ]);
    group(&pinza, "pair", &manifest, "const keys = ({ _env }) => Object.keys(_env).join()");
    check_call(&pinza, &["has"], Ok("TOKEN"));
    check_call(&pinza, &["has_not"], Ok("REGION"));
}

#[test]
fn a_tool_that_is_called_by_another_gets_its_own_variables_only() {
    let pinza = with_variables();
    let script = "async function execute({ _env }) { return [_env.TOKEN ?? null, await tools.declares({ _env: { TOKEN: 'forged' } })] }";
    tool(&pinza, "middle", json!({}), script);
    check_call(&pinza, &["middle"], Ok(&format!(r#"[null,"REGION=eu TOKEN={SECRET}"]"#)));
    check_call(&pinza, &["js_eval", "code=await tools.open()"], Ok("REGION=eu"));
}

#[test]
fn there_is_no_other_environment() {
    let pinza = with_variables();
    let code = "code=[typeof process, typeof require, typeof Deno, typeof module].join()";
    check_call(&pinza, &["js_eval", code], Ok("undefined,undefined,undefined,undefined"));
}
