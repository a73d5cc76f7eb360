#!/bin/sh
# Installs Lukasa from the unpacked archive, for one user and without root.
#
# usage: ./install.sh [--prefix FOLDER] [--uninstall]
#
# The files go to FOLDER/bin, FOLDER/lib/lukasa and FOLDER/share; FOLDER is ~/.local unless it is named.
# Memories are not touched: they are in ~/.local/share/lukasa/cluster.
set -eu

here="$(cd "$(dirname "$0")" && pwd)"
prefix="${HOME:?}/.local"
remove=
while [ $# -gt 0 ]; do
  case "$1" in
    --prefix) prefix="${2:?--prefix needs a folder}"; shift 2 ;;
    --prefix=*) prefix="${1#--prefix=}"; shift ;;
    --uninstall) remove=1; shift ;;
    *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done

# Everything that is in the archive, and no more, so that other files in these folders stay.
files() { (cd "$here" && find bin lib share -type f); }

if [ -n "$remove" ]; then
  files | while read -r file; do rm -f "$prefix/$file"; done
  for folder in lib/lukasa share/lukasa/models share/doc/lukasa; do
    if [ -d "$prefix/$folder" ]; then find "$prefix/$folder" -depth -type d -exec rmdir {} \; 2>/dev/null || true; fi
  done
  echo "Lukasa was removed from $prefix. The memories in ~/.local/share/lukasa are still there."
  exit 0
fi

mkdir -p "$prefix"
# Files of an earlier version that this one does not have must not remain.
rm -rf "$prefix/lib/lukasa/postgres"
# A running program cannot be overwritten, but it can be replaced.
rm -f "$prefix/bin/lukasa"
(cd "$here" && tar -cf - bin lib share) | (cd "$prefix" && tar -xf -)
"$prefix/bin/lukasa" --version
echo "installed in $prefix"
case ":$PATH:" in
  *":$prefix/bin:"*) echo "next: lukasa demo" ;;
  *) echo "next: add $prefix/bin to your PATH, then: lukasa demo" ;;
esac
