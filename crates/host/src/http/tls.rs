//! What every reqwest client of this program is built with.

/// A client, and whether it can check servers' certificates.
#[derive(Clone, Debug)]
pub struct BuiltClient {
    pub client: reqwest::Client,
    /// Whether there are CA certificates; without them only plain http works.
    pub https: bool,
}

/// Builds a client on the ring provider. `builder` makes the same builder each time that it is
/// asked.
pub fn build_client(builder: impl Fn() -> reqwest::ClientBuilder) -> Result<BuiltClient, reqwest::Error> {
    // reqwest asks for a process-wide provider. If the program has chosen one, that holds.
    let _ = rustls::crypto::ring::default_provider().install_default();
    if let Ok(client) = builder().build() {
        return Ok(BuiltClient { client, https: true });
    }
    // A bare container has no CA certificates; plain http works there all the same.
    let client = builder().tls_certs_only([]).build()?;
    Ok(BuiltClient { client, https: false })
}
