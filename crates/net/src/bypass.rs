//! Hosts that are connected without the proxy.
//!
//! The owner writes globs separated by commas: an exact host, `*.suffix`, `prefix.*`, or `*`. They match the host as
//! written in the URL, not its addresses.

/// Returns whether one of the globs matches the host.
pub fn bypassed(globs: &str, host: &str) -> bool {
    globs
        .split(',')
        .map(str::trim)
        .any(|glob| matches(glob, host))
}

fn matches(glob: &str, host: &str) -> bool {
    let (glob, host) = (glob.as_bytes(), host.as_bytes());
    match glob {
        [] => false,
        [b'*'] => true,
        [b'*', suffix @ ..] => {
            host.len() >= suffix.len()
                && host[host.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
        }
        [prefix @ .., b'*'] => {
            host.len() >= prefix.len() && host[..prefix.len()].eq_ignore_ascii_case(prefix)
        }
        exact => host.eq_ignore_ascii_case(exact),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_hosts() {
        let rows = [
            ("foo.local", "foo.local", true),
            ("FOO.LOCAL", "foo.local", true),
            ("foo.local", "FOO.local", true),
            ("foo.local", "bar.local", false),
            ("*.local", "foo.local", true),
            ("*.local", "x.y.local", true),
            ("*.local", "local", false),
            ("*.local", "myhost", false),
            ("192.168.*", "192.168.1.4", true),
            ("192.168.*", "192.168.20.97", true),
            ("192.168.*", "10.0.0.1", false),
            ("*", "anything", true),
            ("", "anything", false),
            (" , ,", "anything", false),
            ("*.local, 192.168.*, ,127.0.0.1", "127.0.0.1", true),
            ("*.local, 192.168.*, ,127.0.0.1", "papertick.local", true),
            ("*.local, 192.168.*, ,127.0.0.1", "api.coinbase.com", false),
            ("a*c", "abc", false),
        ];
        for (globs, host, expected) in rows {
            assert_eq!(bypassed(globs, host), expected, "{globs:?} {host}");
        }
    }
}
