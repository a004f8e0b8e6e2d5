#!/usr/bin/env bash
# setup_monado.sh [DIR]: a real OpenXR runtime for tests (Monado with a software GPU), without headset or root rights.
#
# Writes DIR/xr-exec, which starts a program with that runtime: "DIR/xr-exec monado-service", "DIR/xr-exec python ...".
# Where Monado is installed (Debian 13 and later: apt-get install monado-service libopenxr1-monado), xr-exec uses it.
# Debian 12 has no Monado: there Debian 13's packages are unpacked into DIR/tree, and xr-exec starts programs on that
# tree's C library. Nothing is installed on the machine and no package script runs. Takes 20 s once, nothing later.
set -euo pipefail

dir=${1:-${TAOXR_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/taoxr}/cache/monado}
packages=(monado-service libopenxr1-monado mesa-vulkan-drivers libgl1-mesa-dri libegl1 libegl-mesa0 libgl1 libglx-mesa0 libopengl0)
release=trixie
stamp=$dir/.complete-1

die() { printf 'setup_monado: error: %s\n' "$*" >&2; exit 1; }

[ ! -e "$stamp" ] || exit 0
mkdir -p "$dir"

write_native() {
  cat >"$dir/xr-exec" <<'SH'
#!/bin/sh
# xr-exec PROGRAM ARGS...: with Monado as the runtime and Mesa's software Vulkan.
export XR_RUNTIME_JSON="${XR_RUNTIME_JSON:-/usr/share/openxr/1/openxr_monado.json}"
for file in /usr/share/vulkan/icd.d/lvp_icd*.json; do export VK_DRIVER_FILES="$file"; done
exec "$@"
SH
}

# The machine's own Debian sources with the release's name changed: whatever mirror it uses, this uses too.
newer_sources() { # DIRECTORY
  local file
  # shellcheck source=/dev/null
  . /etc/os-release
  [ "${ID:-}" = debian ] && [ -n "${VERSION_CODENAME:-}" ] ||
    die "no Monado here: install the packages monado-service and libopenxr1-monado, or use Debian 12 or 13"
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] || continue
    awk -v RS= -v ORS='\n\n' -v name="$VERSION_CODENAME" '$0 ~ ("Suites:[^\n]*" name)' "$file"
  done | sed "s/$VERSION_CODENAME/$release/g" >"$1/newer.sources"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -e "$file" ] || continue
    grep -E "^deb .*[[:space:]]$VERSION_CODENAME(-security|-updates|/updates)?[[:space:]]" "$file" || true
  done | sed "s/$VERSION_CODENAME/$release/g" >"$1/newer.list"
}

unpack_tree() { # DIRECTORY
  local work=$1 deb options
  mkdir -p "$work"/{lists/partial,cache/archives/partial,sources,preferences}
  : >"$work/status"
  newer_sources "$work/sources"
  options=(
    -o Dir::State::Lists="$work/lists" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache"
    -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/sources"
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts="$work/preferences"
    -o APT::Install-Recommends=false -o APT::Sandbox::User="$(id -un)" -o Acquire::Retries=3 -o Debug::NoLocking=true
  )
  apt-get "${options[@]}" -qq update
  apt-get "${options[@]}" -qq -y --download-only install base-files libc-bin "${packages[@]}" >/dev/null
  rm -rf "$dir/tree"
  mkdir "$dir/tree"
  for deb in "$work"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dir/tree" --no-same-owner \
      --exclude=./usr/share/{doc,man,locale,info,lintian}
  done
}

write_tree() {
  printf '#!/usr/bin/env bash\ntree=%q\n' "$dir/tree" >"$dir/xr-exec"
  cat >>"$dir/xr-exec" <<'SH'
# xr-exec PROGRAM ARGS...: with Monado as the runtime, on the tree's loader and libraries. A name without a slash is
# looked up in the tree, then in PATH. Children do not inherit the loader: start them through xr-exec too.
libraries=$(echo "$tree"/usr/lib/*-linux-gnu)
program=$1
shift
case $program in
  */*) ;;
  *) if [ -x "$tree/usr/bin/$program" ]; then program=$tree/usr/bin/$program; else program=$(command -v "$program"); fi ;;
esac
if [ "$(head -c 2 "$program")" = '#!' ]; then # the loader starts programs, not scripts
  case $program in
    */python*) program=$("$program" -c 'import sys; print(sys.executable)') ;; # pyenv's shim
    *) echo "xr-exec: $program is a script: name its interpreter (python -m NAME, bash FILE)" >&2; exit 126 ;;
  esac
fi
export XR_RUNTIME_JSON="${XR_RUNTIME_JSON:-$tree/usr/share/openxr/1/openxr_monado.json}"
for file in "$tree"/usr/share/vulkan/icd.d/lvp_icd*.json; do export VK_DRIVER_FILES=$file; done
export __EGL_VENDOR_LIBRARY_FILENAMES=$tree/usr/share/glvnd/egl_vendor.d/50_mesa.json
export LIBGL_DRIVERS_PATH=$libraries/dri GBM_BACKENDS_PATH=$libraries/gbm
for loader in "$tree"/usr/lib64/ld-linux-*.so.* "$tree"/usr/lib/ld-linux-*.so.* "$libraries"/ld-linux-*.so.*; do
  [ ! -e "$loader" ] || break
done
path=$libraries:$libraries/blas:$libraries/lapack:$tree/usr/lib:$libraries/pulseaudio
exec "$loader" --library-path "$path" --argv0 "$program" "$program" "$@"
SH
}

if command -v monado-service >/dev/null; then
  write_native
else
  printf 'setup_monado: unpacking Monado into %s (about 20 s, 600 MB)\n' "$dir" >&2
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  unpack_tree "$work"
  write_tree
fi
chmod +x "$dir/xr-exec"
touch "$stamp"
