//! The page at `/`: says what is here, to whoever opens the address in a browser.

use crate::routes::About;

pub(crate) fn page(about: &About) -> String {
    let About { version, tools, exposure } = about;
    format!(
        "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<meta name=\"color-scheme\" content=\"light dark\">
<title>Pinza</title>
<style>
  body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }}
  code {{ font-family: ui-monospace, monospace }}
  dt {{ float: left; clear: left; width: 7rem; font-family: ui-monospace, monospace }}
</style>
<h1>Pinza</h1>
<p>Version {version} serves {tools} tools here (<code>--expose {exposure}</code>).</p>
<dl>
  <dt>/mcp</dt><dd>the Model Context Protocol, for agents</dd>
  <dt>/healthz</dt><dd>whether this server is alive</dd>
  <dt>/metrics</dt><dd>what was called, for Prometheus</dd>
</dl>
</html>
"
    )
}
