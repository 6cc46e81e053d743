# What the scripts share: messages, set-up, configuring. To be sourced; it goes to the root folder.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

# Two clones share what ccache has compiled.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

say() { printf '%s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# What a build needs: how to see that it is there (a command or header), Debian's package, what for.
needs="
g++                 g++                  the C++ compiler
cmake               cmake                the build system
ninja               ninja-build          runs the build
ccache              ccache               makes repeated builds fast
Eigen/Core          libeigen3-dev        what the tests compare matrix products with
nlohmann/json.hpp   nlohmann-json3-dev   reads and writes JSON
zlib.h              zlib1g-dev           reads compressed files
CLI/CLI.hpp         libcli11-dev         the example programs' options
catch2              catch2               runs the tests
benchmark/benchmark.h libbenchmark-dev   runs the benchmarks
"

# have <command or header>
have() {
  case $1 in
    */* | *.h | catch2)
      local dir
      for dir in /usr/include /usr/local/include /usr/include/eigen3 /usr/local/include/eigen3; do
        [[ -e $dir/$1 ]] && return 0
      done
      # Debian 12's CMake files find CLI11 and others below the architecture's folder too.
      compgen -G "/usr/include/*-linux-gnu/$1" >/dev/null
      ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

# Prints how to become root: nothing as root, `sudo` where it would work; fails otherwise.
as_root() {
  [[ $(id -u) == 0 ]] && return 0
  command -v sudo >/dev/null || return 1
  if [[ -t 0 ]] || sudo -n true 2>/dev/null; then echo sudo; else return 1; fi
}

# apt_install <package>...
apt_install() {
  local sudo log=build/setup.log
  sudo=$(as_root) || return 1
  mkdir -p build
  if ! {
    # A failed update may still leave lists that serve; the installation decides.
    $sudo apt-get update -q || true
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
      -o DPkg::Lock::Timeout=300 "$@"
  } >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    return 1
  fi
}

on_debian() { command -v apt-get >/dev/null && command -v dpkg >/dev/null; }

# Installs what is missing, or names it and stops. `extra` lines have the form of `needs`.
setup() {
  local extra=${1:-} probe package why packages=() names=()
  while read -r probe package why; do
    [[ -n $probe ]] || continue
    have "$probe" && continue
    packages+=("$package")
    names+=("$package ($why)")
  done <<<"$needs$extra"
  if ((${#packages[@]})); then
    local list
    list=$(join ', ' "${names[@]}")
    on_debian || die "please install what is missing (these are Debian's names): $list"
    as_root >/dev/null ||
      die "missing: $list; as root or with sudo: apt-get install ${packages[*]}"
    for why in "${names[@]}"; do say "Installing $why"; done
    apt_install "${packages[@]}" ||
      die "apt-get could not install ${packages[*]}; see build/setup.log"
  fi
  local version
  version=$(cmake --version | sed -n '1s/[^0-9]*//p')
  [[ $(printf '3.25\n%s\n' "$version" | sort -V | head -n 1) == 3.25 ]] ||
    die "CMake 3.25 or newer is needed; this is $version"
}

# python_packages <folder> <package==version>...: from PyPI, into a folder of build/tools.
python_packages() {
  local folder=$1
  shift
  if ! have python3; then apt_install python3 || return 1; fi
  # venv comes apart from python3 on Debian; --help works without its other half, ensurepip.
  if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    say "Installing python3-venv"
    apt_install python3-venv || return 1
  fi
  mkdir -p build/tools
  if ! {
    python3 -m venv "$folder" &&
      "$folder/bin/pip" install --quiet --disable-pip-version-check --retries 2 "$@"
  } >build/setup.log 2>&1; then
    rm -rf "$folder"
    tail -n 1 build/setup.log >&2
    return 1
  fi
}

# ---- CUDA's compiler and disassembler -----------------------------------------------------------

cuda_version=13.0.88
cuda_packages=(
  nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88
  nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85
)
disassembler_version=13.2.86 # the first on PyPI are of 13.2; they read what 13.0 makes

# Prints the folder of a toolkit that can compile kernels/cuda: 12.8 was the first to know sm_100.
# cmake/TaperPlugin.cmake looks in the same places.
cuda_folder() {
  local dir version path
  path=$(command -v nvcc) && path=$(readlink -f "$path")
  for dir in "${CUDA_HOME:-}" "${CUDA_PATH:-}" "${path%/bin/nvcc}" /usr/local/cuda /opt/cuda \
    build/tools/cuda; do
    [[ -n $dir && -x $dir/bin/nvcc && -e $dir/include/cuda_runtime.h ]] || continue
    version=$("$dir/bin/nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
    [[ $(printf '12.8\n%s\n' "$version" | sort -V | head -n 1) == 12.8 ]] || continue
    printf '%s\n' "$dir"
    return 0
  done
  return 1
}

# setup_cuda <what needs it>: finds a toolkit or fetches its compiler and headers. Without them it
# says what is left out and fails; that is remembered, so that the next start is quick.
setup_cuda() {
  local mark=build/.no-cuda folder=build/tools/cuda-$cuda_version
  cuda_folder >/dev/null && return 0
  if [[ ! -e $mark ]]; then
    say "Installing NVIDIA's compiler $cuda_version and its headers from PyPI into build/tools"
    if python_packages "$folder" "${cuda_packages[@]}"; then
      (cd build/tools && ln -sfn "cuda-$cuda_version"/lib/python3*/site-packages/nvidia/cu13 cuda)
      rm -f build/*/.configured # CMake has to look again
      return 0
    fi
    mkdir -p build && touch "$mark"
  fi
  warn "no CUDA toolkit, and PyPI did not give one: left out: $1 (rm $mark to try again)"
  return 1
}

# Prints the folder of cuobjdump and nvdisasm, which it fetches where no toolkit has them.
setup_disassembler() {
  local folder=build/tools/cuda-disassembler-$disassembler_version dir
  local packages=("nvidia-cuda-cuobjdump==$disassembler_version"
    "nvidia-cuda-nvdisasm==$disassembler_version")
  for dir in "$(cuda_folder)/bin" "$(dirname "$(command -v cuobjdump)")" \
    "$folder"/lib/python3*/site-packages/nvidia/cu13/bin; do
    [[ -x $dir/cuobjdump && -x $dir/nvdisasm ]] && printf '%s\n' "$dir" && return 0
  done
  say "Installing NVIDIA's disassembler $disassembler_version from PyPI into build/tools" >&2
  python_packages "$folder" "${packages[@]}" >&2 || return 1
  printf '%s\n' "$folder"/lib/python3*/site-packages/nvidia/cu13/bin
}

join() {
  local separator=$1 out=${2:-}
  shift 2
  local item
  for item in "$@"; do out+=$separator$item; done
  printf '%s' "$out"
}

# configure <preset>: only when there is something to do; ninja itself notices changed CMake files.
configure() {
  local stamp=build/$1/.configured
  [[ -f build/$1/build.ninja && $stamp -nt CMakePresets.json ]] && return 0
  mkdir -p "build/$1"
  say "Configuring $1"
  cmake --preset "$1" >"build/$1/configure.log" 2>&1 || {
    cat "build/$1/configure.log" >&2
    die "could not configure the preset $1"
  }
  touch "$stamp"
}

# has_target <preset> <target>: once it is configured.
has_target() { ninja -C "build/$1" -t query "$2" >/dev/null 2>&1; }

# build <preset> [<target>...]
build() {
  local preset=$1 targets=()
  shift
  configure "$preset"
  (($#)) && targets=(--target "$@")
  cmake --build --preset "$preset" "${targets[@]}"
}

# help: prints the calling script's leading comment.
help() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; }
