//! The environment is process-wide, so these run this binary again with another one.

use super::*;

const TARGET: &str = "PINZA_TEST_TARGET";

async fn run_again(test: &str, target: &str, env: &[(&str, &str)]) {
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "--ignored", "--nocapture", test]).env(TARGET, target);
    child.envs(env.iter().copied()).kill_on_drop(true);
    let output = child.output().await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[tokio::test]
async fn proxy_variables_are_ignored() {
    let proxy = WireServer::start(|_| Reply::ok("proxied"));
    let server = WireServer::start(|_| Reply::ok("direct"));
    let address = proxy.url("");
    let names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    let mut env: Vec<_> = names.iter().map(|name| (*name, address.as_str())).collect();
    env.extend([("NO_PROXY", ""), ("no_proxy", "")]);
    run_again("http::environment::child_goes_direct", &server.url("/"), &env).await;
    assert_eq!((proxy.connections(), server.connections()), (0, 1));
}

#[tokio::test]
#[ignore = "run by proxy_variables_are_ignored"]
async fn child_goes_direct() {
    let response = fetch(get(&std::env::var(TARGET).unwrap())).await.unwrap();
    assert_eq!(response.body, b"direct");
}

#[tokio::test]
async fn a_machine_without_certificates_still_speaks_http() {
    let server = WireServer::start(|_| Reply::ok("direct"));
    let env = [("SSL_CERT_FILE", "/nonexistent"), ("SSL_CERT_DIR", "/nonexistent")];
    run_again("http::environment::child_has_no_certificates", &server.url("/"), &env).await;
}

#[tokio::test]
#[ignore = "run by a_machine_without_certificates_still_speaks_http"]
async fn child_has_no_certificates() {
    let url = std::env::var(TARGET).unwrap();
    assert_eq!(fetch(get(&url)).await.unwrap().body, b"direct");
    let error = fetch(get(&url.replace("http:", "https:"))).await.expect_err("no trust");
    assert_eq!(error, HttpError::NoCertificates);
}
