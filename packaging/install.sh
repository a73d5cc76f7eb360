#!/bin/sh
# Installs Lukasa from the unpacked archive, for one user and without root.
#
# usage: ./install.sh [--prefix FOLDER] [--uninstall]
#
# The files go to FOLDER/bin, FOLDER/lib/lukasa and FOLDER/share; FOLDER is ~/.local unless it is named. An earlier
# version is replaced only after this one has run here. Folders that exist keep their owner and mode.
# Memories are not touched: they are in ~/.local/share/lukasa/cluster.
set -eu

# Replaced when the archive is built.
built_for="another system"

# With CDPATH set, cd would search other folders and print the one it found.
here="$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)"
prefix="${HOME:?}/.local"
remove=
while [ $# -gt 0 ]; do
  case "$1" in
    --prefix) prefix="${2:?--prefix needs a folder}"; shift 2 ;;
    --prefix=*) prefix="${1#--prefix=}"; shift ;;
    --uninstall) remove=1; shift ;;
    *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done

# Everything that is in the archive, and no more, so that other files in these folders stay.
files() { (cd "$here" && find bin lib share -type f); }

# The server and its PostgreSQL. One that an earlier upgrade replaced has its program in the removed copy.
is_ours() {
  case "$1" in "$prefix/bin/lukasa" | "$prefix/lib/lukasa/"* | "$prefix/.lukasa-install-"*) ;; *) return 1 ;; esac
}

# The processes whose program is in the prefix.
running() {
  if [ -d /proc/self ]; then
    for process in /proc/[0-9]*; do
      program="$(readlink "$process/exe" 2>/dev/null)" || continue
      if is_ours "${program% (deleted)}"; then printf '%s ' "${process#/proc/}"; fi
    done
  else
    ps -axo pid=,comm= | while read -r process program; do
      if is_ours "$program"; then printf '%s ' "$process"; fi
    done
  fi
}

warn_if_running() {
  [ -n "$1" ] || return 0
  echo "warning: a server still runs from $prefix (processes: ${1% })." >&2
  echo "The files of its PostgreSQL were $2. $3" >&2
}

libc() {
  getconf GNU_LIBC_VERSION 2>/dev/null || { ldd --version 2>&1 || true; } | sed -n 1p
}

if [ -n "$remove" ]; then
  if [ -d "$prefix" ]; then prefix="$(CDPATH='' cd -- "$prefix" && pwd -P)"; fi
  processes="$(running)"
  files | while read -r file; do rm -f "$prefix/$file"; done
  for folder in lib/lukasa share/lukasa/models share/doc/lukasa; do
    if [ -d "$prefix/$folder" ]; then find "$prefix/$folder" -depth -type d -exec rmdir {} \; 2>/dev/null || true; fi
  done
  echo "Lukasa was removed from $prefix. The memories in ~/.local/share/lukasa are still there."
  warn_if_running "$processes" removed "End the server."
  exit 0
fi

for part in bin/lukasa lib/lukasa/postgres share; do
  if [ ! -e "$here/$part" ]; then echo "The archive is not complete: $here has no $part." >&2; exit 1; fi
done
# Before anything is changed: an archive for another processor or a newer C library must not replace a working program.
if ! shown="$("$here/bin/lukasa" --version 2>&1)"; then
  [ -z "$shown" ] || printf '%s\n' "$shown" >&2
  echo "Lukasa does not run here, and nothing was changed. This archive is for $built_for;" >&2
  echo "this system is $(uname -s) on $(uname -m), C library: $(libc)." >&2
  echo "Use the archive of this system, or a container image." >&2
  exit 1
fi

# Root installs for everyone, even from an archive that was unpacked with another umask.
if [ "$(id -u)" -eq 0 ]; then umask 022; fi
mkdir -p -- "$prefix"
prefix="$(CDPATH='' cd -- "$prefix" && pwd -P)"
processes="$(running)"

# A complete copy on the same file system. Without -p: it belongs to the account that installs.
staged="$prefix/.lukasa-install-$$"
postgres=lib/lukasa/postgres
# shellcheck disable=SC2317,SC2329  # called by the trap
clean() {
  if [ -d "$staged/replaced" ] && [ ! -e "$prefix/$postgres" ]; then mv "$staged/replaced" "$prefix/$postgres"; fi
  rm -rf "$staged"
}
trap clean EXIT
trap 'exit 1' HUP INT TERM
mkdir -m 700 "$staged"
cp -R "$here/bin" "$here/lib" "$here/share" "$staged/"
if [ "$(id -u)" -eq 0 ]; then chmod -R u+rwX,go+rX,go-w "$staged/bin" "$staged/lib" "$staged/share"; fi

# From here on everything is a rename. PostgreSQL as a whole, so that no file of an earlier version remains; the program
# last, because it needs the others. A running program cannot be overwritten, but it can be replaced.
mkdir -p "$prefix/lib/lukasa"
if [ -e "$prefix/$postgres" ]; then mv "$prefix/$postgres" "$staged/replaced"; fi
mv "$staged/$postgres" "$prefix/$postgres"
(cd "$staged" && find lib share bin -type f) | while read -r file; do
  mkdir -p "$prefix/$(dirname "$file")"
  mv -f "$staged/$file" "$prefix/$file"
done

echo "$shown"
echo "installed in $prefix"
case ":$PATH:" in
  *":$prefix/bin:"*) echo "next: lukasa demo" ;;
  *) echo "next: add $prefix/bin to your PATH, then: lukasa demo" ;;
esac
warn_if_running "$processes" replaced "Restart it; for the service: lukasa service install"
