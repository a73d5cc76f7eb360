//! Command line settings of the request limits per client, user and tenant.

use clap::Args;

/// Limits of requests before they reach the engine. All are counted per process.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits (per process; 0 turns one off)")]
pub struct LimitSettings {
    /// Memory for request bodies in flight, in megabytes
    #[arg(long, env = "LUKASA_BODY_MEMORY", default_value_t = 256, value_name = "MB")]
    pub body_memory: u32,
    /// The largest body of a request to `/v1`, in megabytes
    #[arg(long, env = "LUKASA_GATEWAY_BODY", default_value_t = 16, value_name = "MB",
          value_parser = clap::value_parser!(u32).range(1..=256))]
    pub gateway_body: u32,
    /// How much an archive that is sent to `/api/import` may unpack to, in megabytes
    #[arg(long, env = "LUKASA_IMPORT_UNPACKED", default_value_t = 64, value_name = "MB",
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub import_unpacked: u32,
    /// Open connections; one more is answered 503 and closed
    #[arg(long, env = "LUKASA_MAX_CONNECTIONS", default_value_t = 4096, value_name = "N")]
    pub max_connections: usize,
    /// Open connections from one address; one more is answered 503 and closed. 256 unless set, or no
    /// limit with `--client-ip-header`: then all come from the proxy. Those of this machine are not
    /// counted
    #[arg(long, env = "LUKASA_ADDRESS_CONNECTIONS", value_name = "N")]
    pub address_connections: Option<usize>,
    /// Requests in flight; one more is answered 503. `/v1` has a separate limit, four times as high
    #[arg(long, env = "LUKASA_MAX_IN_FLIGHT", default_value_t = 512, value_name = "N")]
    pub max_in_flight: usize,
    /// Concurrent requests of one user; half of `--pool-size` unless set
    #[arg(long, env = "LUKASA_USER_CONCURRENCY", value_name = "N")]
    pub user_concurrency: Option<usize>,
    /// Concurrent requests of one tenant in each cell; three quarters of `--pool-size` unless set
    #[arg(long, env = "LUKASA_TENANT_CONCURRENCY", value_name = "N")]
    pub tenant_concurrency: Option<usize>,
    /// Concurrent requests of one user to `/v1`, each until its answer has ended
    #[arg(long, env = "LUKASA_CHAT_CONCURRENCY", default_value_t = 64, value_name = "N")]
    pub chat_concurrency: usize,
    /// Requests per second from one address; bursts may be twice as high
    #[arg(long, env = "LUKASA_IP_RATE", default_value_t = 1_000, value_name = "N")]
    pub ip_rate: u32,
    /// Refused credentials per second from one address
    #[arg(long, env = "LUKASA_REFUSED_RATE", default_value_t = 20, value_name = "N")]
    pub refused_rate: u32,
    /// Requests per second with one credential
    #[arg(long, env = "LUKASA_KEY_RATE", default_value_t = 1_000, value_name = "N")]
    pub key_rate: u32,
    /// Requests per second about one user
    #[arg(long, env = "LUKASA_USER_RATE", default_value_t = 200, value_name = "N")]
    pub user_rate: u32,
    /// Requests per second of one tenant
    #[arg(long, env = "LUKASA_TENANT_RATE", default_value_t = 2_000, value_name = "N")]
    pub tenant_rate: u32,
    /// The header in which your proxy sends the client's address, such as `X-Forwarded-For`; its
    /// last address counts. Set it only if every request comes through that proxy
    #[arg(long, env = "LUKASA_CLIENT_IP_HEADER", value_name = "NAME")]
    pub client_ip_header: Option<axum::http::HeaderName>,
    /// Other origins whose pages may use a server without authentication, as
    /// `http://localhost:3000`
    #[arg(long, env = "LUKASA_LOCAL_ORIGINS", value_delimiter = ',', value_name = "ORIGIN")]
    pub local_origins: Vec<String>,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            body_memory: 256,
            gateway_body: 16,
            import_unpacked: 64,
            max_connections: 4096,
            address_connections: None,
            max_in_flight: 512,
            user_concurrency: None,
            tenant_concurrency: None,
            chat_concurrency: 64,
            ip_rate: 1_000,
            refused_rate: 20,
            key_rate: 1_000,
            user_rate: 200,
            tenant_rate: 2_000,
            client_ip_header: None,
            local_origins: Vec::new(),
        }
    }
}

/// Open connections from one address, if every client has its own.
const ADDRESS_CONNECTIONS: usize = 256;

impl LimitSettings {
    /// How many connections one address may have open; 0 means no limit.
    pub fn max_address_connections(&self) -> usize {
        let default = if self.client_ip_header.is_some() { 0 } else { ADDRESS_CONNECTIONS };
        self.address_connections.unwrap_or(default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_through_a_proxy_are_not_limited_by_address() {
        let mut settings = LimitSettings::default();
        assert_eq!(settings.max_address_connections(), ADDRESS_CONNECTIONS);
        settings.client_ip_header = Some(axum::http::header::FORWARDED);
        assert_eq!(settings.max_address_connections(), 0);
        settings.address_connections = Some(9);
        assert_eq!(settings.max_address_connections(), 9);
    }
}
