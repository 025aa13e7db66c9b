# Sourced by the scripts of this folder: install_packages [test|compare] installs what tools/debian-packages.txt lists.
# Nothing happens, and no privilege is asked for, when all of it is there already.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

listed_packages() {  # $1: the name of a part that is wanted besides the first
  awk -v part="${1:-}" '
    BEGIN { wanted = 1 }
    { sub(/#.*/, ""); gsub(/[ \t]/, "") }
    /^\[/ { wanted = $0 == "[" part "]"; next }
    wanted && $0 != "" { print }' "$root/tools/debian-packages.txt"
}

install_packages() {
  local missing=() package
  for package in $(listed_packages "${1:-}"); do
    [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == "install ok installed" ]] ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || {
      echo "missing packages, and neither root nor sudo to install them: ${missing[*]}" >&2
      return 1
    }
    as_root=(sudo)
  fi
  echo "installing: ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq || return 1
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}"
}
