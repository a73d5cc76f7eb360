//! The files that describe the server to systemd and to launchd, as pure functions of what they start.

use std::net::SocketAddr;

/// The server that a service starts.
#[derive(Debug)]
pub struct ServiceSpec {
    /// The path of the program.
    pub program: String,
    pub listen: SocketAddr,
    pub data_dir: String,
    /// Variables with the folders that the shell of the installation names.
    pub environment: Vec<(&'static str, String)>,
    /// A file of more variables that may be absent; launchd has no such files.
    pub settings_file: String,
}

/// launchd's name of the service, and the name of its file.
pub const LAUNCHD_LABEL: &str = "lukasa.server";

const WRITTEN_BY: &str =
    "Written by `lukasa service install`; `lukasa service uninstall` removes it.";

impl ServiceSpec {
    fn arguments(&self) -> [String; 5] {
        let (listen, folder) = (self.listen.to_string(), self.data_dir.clone());
        ["serve".into(), "--listen".into(), listen, "--data-dir".into(), folder]
    }

    /// The unit of systemd's user manager. The manager has no privileges, so the unit has only those
    /// restrictions that need none.
    pub fn systemd_unit(&self) -> String {
        // systemd replaces variables in the arguments, but not in the path of the program.
        let arguments: Vec<String> =
            self.arguments().iter().map(|argument| quoted(argument).replace('$', "$$")).collect();
        let environment: String = self
            .environment
            .iter()
            .map(|(name, value)| format!("Environment={}\n", quoted(&format!("{name}={value}"))))
            .collect();
        format!(
            "# {WRITTEN_BY}\n\
             # `systemctl --user edit lukasa` adds settings that stay.\n\n\
             [Unit]\n\
             Description=Lukasa, long-term memory for AI assistants\n\n\
             [Service]\n\
             Type=exec\n\
             ExecStart={} {}\n\
             {environment}\
             # The file below is the only one: that of the machine's service is not read.\n\
             Environment=LUKASA_ENV_FILE=\n\
             EnvironmentFile=-{}\n\
             Restart=on-failure\n\
             RestartSec=5s\n\
             TimeoutStartSec=5min\n\
             TimeoutStopSec=60s\n\
             # Only Lukasa is signalled: it stops its own PostgreSQL after its requests have ended.\n\
             KillMode=mixed\n\
             UMask=0077\n\
             NoNewPrivileges=yes\n\
             LockPersonality=yes\n\
             RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX\n\
             RestrictNamespaces=yes\n\
             RestrictRealtime=yes\n\
             RestrictSUIDSGID=yes\n\
             SystemCallArchitectures=native\n\n\
             [Install]\n\
             WantedBy=default.target\n",
            quoted(&self.program),
            arguments.join(" "),
            self.settings_file.replace('%', "%%"),
        )
    }

    /// The property list of a launchd agent.
    pub fn launchd_plist(&self) -> String {
        let string = |text: &str| format!("    <string>{}</string>\n", escaped(text));
        let arguments: String = std::iter::once(&self.program)
            .chain(&self.arguments())
            .map(|argument| string(argument))
            .collect();
        let environment: String = self
            .environment
            .iter()
            .map(|(name, value)| format!("    <key>{}</key>\n{}", escaped(name), string(value)))
            .collect();
        let log = escaped(&format!("{}/server.log", self.data_dir));
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
             \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
             <!-- {WRITTEN_BY} -->\n\
             <plist version=\"1.0\">\n\
             <dict>\n  \
               <key>Label</key>\n  <string>{LAUNCHD_LABEL}</string>\n  \
               <key>ProgramArguments</key>\n  <array>\n{arguments}  </array>\n  \
               <key>EnvironmentVariables</key>\n  <dict>\n{environment}  </dict>\n  \
               <key>RunAtLoad</key>\n  <true/>\n  \
               <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n  \
               <key>ThrottleInterval</key>\n  <integer>5</integer>\n  \
               <key>ExitTimeOut</key>\n  <integer>60</integer>\n  \
               <key>Umask</key>\n  <integer>63</integer>\n  \
               <key>StandardErrorPath</key>\n  <string>{log}</string>\n\
             </dict>\n\
             </plist>\n"
        )
    }
}

/// The address that a file written by [`ServiceSpec`] lets the server listen on.
pub fn listen_address(file: &str) -> Option<SocketAddr> {
    let (_, after) = file.split_once("--listen")?;
    let mut words = after.split(|c: char| c.is_whitespace() || c == '<' || c == '>');
    words.find_map(|word| word.parse().ok())
}

/// The program that a file written by [`ServiceSpec`] starts.
pub fn program_path(file: &str) -> Option<String> {
    if let Some((_, after)) = file.split_once("ExecStart=") {
        let (word, _) = after.lines().next()?.split_once(" serve --listen ")?;
        let word = word.trim_matches('"').replace("%%", "%");
        return Some(word.replace("\\\"", "\"").replace("\\\\", "\\"));
    }
    let (_, after) = file.split_once("<key>ProgramArguments</key>")?;
    let (word, _) = after.split_once("<string>")?.1.split_once("</string>")?;
    Some(word.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}

/// Whether a settings file, one `NAME=value` per line, turns authentication on.
pub fn has_authentication(settings: &str) -> bool {
    let values = settings.lines().filter_map(|line| line.trim().strip_prefix("LUKASA_AUTH="));
    // Of several lines the last one counts.
    let value = values.map(|value| value.trim().trim_matches(['"', '\''])).next_back();
    value == Some("keys")
}

/// A word of a unit file: in quotation marks if it needs them, with `%` as text.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-:=@+%$[]".contains(c);
    let mut text = String::new();
    for c in word.chars() {
        match c {
            '%' => text.push_str("%%"),
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            c => text.push(c),
        }
    }
    if !word.is_empty() && word.chars().all(is_plain) { text } else { format!("\"{text}\"") }
}

/// Text for XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> ServiceSpec {
        ServiceSpec {
            program: "/opt/my programs/lukasa".into(),
            listen: SocketAddr::from(([127, 0, 0, 1], 7777)),
            data_dir: "/srv/data & more".into(),
            environment: vec![("LUKASA_POSTGRES_DIR", "/opt/pg 18/bin".into())],
            settings_file: "/srv/my settings/lukasa.env".into(),
        }
    }

    #[test]
    fn service_address_is_read_from_its_file() {
        for listen in ["127.0.0.1:7779", "[::1]:7780"] {
            let spec = ServiceSpec { listen: listen.parse().unwrap(), ..spec() };
            for file in [spec.systemd_unit(), spec.launchd_plist()] {
                assert_eq!(listen_address(&file), Some(spec.listen), "{file}");
            }
        }
        assert_eq!(listen_address("[Unit]"), None);
    }

    #[test]
    fn service_program_is_read_from_its_file() {
        for program in ["/usr/bin/lukasa", "/opt/my programs/100% & more/lukasa", "/a \"b\"/c"] {
            let spec = ServiceSpec { program: program.into(), ..spec() };
            for file in [spec.systemd_unit(), spec.launchd_plist()] {
                assert_eq!(program_path(&file).as_deref(), Some(program), "{file}");
            }
        }
        assert_eq!(program_path("[Unit]"), None);
    }

    #[test]
    fn service_authentication_is_read_from_its_settings() {
        for on in [
            "LUKASA_AUTH=keys",
            "A=b\n LUKASA_AUTH=\"keys\" \n",
            "LUKASA_AUTH=off\nLUKASA_AUTH=keys",
        ] {
            assert!(has_authentication(on), "{on}");
        }
        for off in
            ["", "#LUKASA_AUTH=keys", "LUKASA_AUTH=keys\nLUKASA_AUTH=off", "XLUKASA_AUTH=keys"]
        {
            assert!(!has_authentication(off), "{off}");
        }
    }

    #[test]
    fn service_unit_of_systemd_matches_its_snapshot() {
        insta::assert_snapshot!(spec().systemd_unit(), @r#"
        # Written by `lukasa service install`; `lukasa service uninstall` removes it.
        # `systemctl --user edit lukasa` adds settings that stay.

        [Unit]
        Description=Lukasa, long-term memory for AI assistants

        [Service]
        Type=exec
        ExecStart="/opt/my programs/lukasa" serve --listen 127.0.0.1:7777 --data-dir "/srv/data & more"
        Environment="LUKASA_POSTGRES_DIR=/opt/pg 18/bin"
        # The file below is the only one: that of the machine's service is not read.
        Environment=LUKASA_ENV_FILE=
        EnvironmentFile=-/srv/my settings/lukasa.env
        Restart=on-failure
        RestartSec=5s
        TimeoutStartSec=5min
        TimeoutStopSec=60s
        # Only Lukasa is signalled: it stops its own PostgreSQL after its requests have ended.
        KillMode=mixed
        UMask=0077
        NoNewPrivileges=yes
        LockPersonality=yes
        RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        SystemCallArchitectures=native

        [Install]
        WantedBy=default.target
        "#);
    }

    #[test]
    fn service_plist_of_launchd_matches_its_snapshot() {
        insta::assert_snapshot!(spec().launchd_plist(), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <!-- Written by `lukasa service install`; `lukasa service uninstall` removes it. -->
        <plist version="1.0">
        <dict>
          <key>Label</key>
          <string>lukasa.server</string>
          <key>ProgramArguments</key>
          <array>
            <string>/opt/my programs/lukasa</string>
            <string>serve</string>
            <string>--listen</string>
            <string>127.0.0.1:7777</string>
            <string>--data-dir</string>
            <string>/srv/data &amp; more</string>
          </array>
          <key>EnvironmentVariables</key>
          <dict>
            <key>LUKASA_POSTGRES_DIR</key>
            <string>/opt/pg 18/bin</string>
          </dict>
          <key>RunAtLoad</key>
          <true/>
          <key>KeepAlive</key>
          <dict>
            <key>SuccessfulExit</key>
            <false/>
          </dict>
          <key>ThrottleInterval</key>
          <integer>5</integer>
          <key>ExitTimeOut</key>
          <integer>60</integer>
          <key>Umask</key>
          <integer>63</integer>
          <key>StandardErrorPath</key>
          <string>/srv/data &amp; more/server.log</string>
        </dict>
        </plist>
        "#);
    }

    #[test]
    fn service_unit_words_with_special_characters_are_quoted() {
        assert_eq!(quoted("/opt/lukasa"), "/opt/lukasa");
        assert_eq!(quoted("/opt/100 %"), "\"/opt/100 %%\"");
        assert_eq!(quoted("a\"b\\c\nd"), r#""a\"b\\c\nd""#);
        assert_eq!(quoted(""), "\"\"");
        let odd = ServiceSpec { data_dir: "/srv/$HOME%h".into(), ..spec() };
        assert!(odd.systemd_unit().contains("--data-dir /srv/$$HOME%%h\n"));
    }
}
