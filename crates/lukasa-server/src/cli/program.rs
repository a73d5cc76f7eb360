//! The path of this program, for the files of other programs that start it later.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::system::files::real_path;

/// Folders of caches in which `uvx` and `npx` run a program without installing it.
const CACHE_FOLDERS: [&str; 2] = ["archive-v0", "_npx"];

/// The named program, or else this one, unless it is in a cache: it would be missing once the cache is
/// emptied.
pub fn path_to_start(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(program) = named {
        return Ok(std::path::absolute(program)?);
    }
    let program = std::env::current_exe().context("the path of this program is unknown")?;
    if is_cached(&program, |name| std::env::var_os(name)) {
        bail!(
            "this program is in a cache and will be missing when the cache is emptied: {}\n  next: install \
             it, with `uv tool install lukasa` or `npm install --global --prefix ~/.local lukasa`, and run \
             the installed `lukasa`; or name an installed program with --program",
            program.display()
        );
    }
    Ok(program)
}

/// Whether a program is below the cache of uv or npm.
fn is_cached<T: AsRef<OsStr>>(program: &Path, variable: impl Fn(&str) -> Option<T>) -> bool {
    let folder = |name: &str, below: &str| {
        let value = variable(name).filter(|value| !value.as_ref().is_empty())?;
        let folder = Path::new(&value).join(below);
        // The path of the program has no links in it.
        Some(real_path(&folder).unwrap_or(folder))
    };
    let caches = [
        folder("UV_CACHE_DIR", ""),
        folder("XDG_CACHE_HOME", "uv"),
        folder("HOME", ".cache/uv"),
        folder("LOCALAPPDATA", "uv/cache"),
    ];
    caches.iter().flatten().any(|cache| program.starts_with(cache))
        || program.iter().any(|part| CACHE_FOLDERS.iter().any(|name| part == *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_in_a_cache_of_uv_or_npm_is_found() {
        let set = |name: &str| match name {
            "UV_CACHE_DIR" => Some("/var/uv-cache"),
            "XDG_CACHE_HOME" => Some("/srv/cache"),
            "HOME" => Some("/srv/alice"),
            _ => None,
        };
        let none = |_: &str| None::<&str>;
        for path in [
            "/var/uv-cache/builds-v0/x/bin/lukasa",
            "/srv/cache/uv/environments-v2/x/bin/lukasa",
            "/srv/alice/.cache/uv/x/bin/lukasa",
        ] {
            assert!(is_cached(Path::new(path), set), "{path}");
            assert!(!is_cached(Path::new(path), none), "{path}");
        }
        for path in [
            "/mnt/uv/archive-v0/x/bin/lukasa",
            "/srv/alice/.npm/_npx/0f/node_modules/@lukasa/linux-x64/bin/lukasa",
        ] {
            assert!(is_cached(Path::new(path), none), "{path}");
        }
        for path in [
            "/srv/alice/.local/share/uv/tools/lukasa/bin/lukasa",
            "/srv/alice/.cache/build/debug/lukasa",
            "/usr/bin/lukasa",
        ] {
            assert!(!is_cached(Path::new(path), set), "{path}");
        }
        assert!(
            !is_cached(Path::new("/usr/bin/lukasa"), |name| (name == "UV_CACHE_DIR").then_some(""))
        );
    }
}
