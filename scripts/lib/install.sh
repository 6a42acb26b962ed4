# Sourced by the scripts from the repository's root: checks Node and npm, installs missing or outdated dependencies, and puts their
# programs, including Node 24, first on the PATH.
#   source scripts/lib/install.sh service   what runs the service, its dashboard, the command line and the examples
#   source scripts/lib/install.sh all       and what only checks need: test/package.json

if ! command -v node >/dev/null || ! command -v npm >/dev/null || [ "$(node -p 'parseInt(process.versions.node)')" -lt 20 ]; then
  cat >&2 <<MESSAGE
Tidegate needs Node.js 20 or newer and npm to install its dependencies, which include Node 24.
Found: node $(node --version 2>/dev/null || echo '(none)'), npm $(npm --version 2>/dev/null || echo '(none)').
Install both from https://nodejs.org/en/download, or with 'brew install node'.
MESSAGE
  exit 1
fi

wanted=$1
# The package-lock.json of the last installation, and npm's own record of it.
stamp=node_modules/.installed-package-lock.json
record=node_modules/.package-lock.json
# npm links each workspace that it installs.
has_tests() { [ -L node_modules/tidegate-tests ]; }

installed() {
  [ -x node_modules/.bin/node ] || return 1
  [ "$wanted" = service ] || has_tests || return 1
  cmp -s package-lock.json "$stamp" && return
  # Someone ran npm by hand since the lock file changed.
  [ "$record" -nt package-lock.json ]
}

install_packages() {
  # npm install adds and replaces what differs from the lock file, and npm ci begins with nothing.
  local command='ci' workspaces='' size='1.1 GB, which takes a few minutes'
  [ ! -f "$stamp" ] || command='install --no-save'
  # An interrupted installation has neither, and is completed next time.
  rm -f "$stamp" "$record"
  # Whoever has the packages of the tests keeps them.
  if [ "$wanted" = service ] && ! has_tests; then
    workspaces='--include-workspace-root -w dashboard -w cli -w clients/typescript -w examples/typescript'
    size='350 MB'
  fi
  echo "Installing dependencies (npm $command: $size the first time) …" >&2
  # Errors are on stderr; stdout has only the banners of scripts.
  # shellcheck disable=SC2086 # words
  npm $command $workspaces --include=dev --no-audit --no-fund --loglevel=error >/dev/null
  # The package of Node has its program twice, as links of one file, and 70 MB of headers; source maps of packages are as large.
  rm -rf node_modules/node/node_modules
  [ -z "$workspaces" ] || find node_modules -name '*.map' -type f -delete
}

if ! installed; then install_packages; fi
cmp -s package-lock.json "$stamp" || cp package-lock.json "$stamp"
if ! node_modules/.bin/node -e '' 2>/dev/null; then
  echo "node_modules/.bin/node does not run. Remove node_modules, and let npm run install scripts ('npm config get ignore-scripts' must print false)." >&2
  exit 1
fi
export PATH="$PWD/node_modules/.bin:$PATH"
