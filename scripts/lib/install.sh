# Sourced by the scripts from the repository's root: checks Node and npm, installs missing or outdated dependencies, and puts their
# programs, including Node 24, first on the PATH.

if ! command -v node >/dev/null || ! command -v npm >/dev/null || [ "$(node -p 'parseInt(process.versions.node)')" -lt 20 ]; then
  cat >&2 <<MESSAGE
Tidegate needs Node.js 20 or newer and npm to install its dependencies, which include Node 24.
Found: node $(node --version 2>/dev/null || echo '(none)'), npm $(npm --version 2>/dev/null || echo '(none)').
Install both from https://nodejs.org/en/download, or with 'brew install node'.
MESSAGE
  exit 1
fi

# The package-lock.json of the last installation.
stamp=node_modules/.installed-package-lock.json

installed() {
  [ -x node_modules/.bin/node ] || return 1
  cmp -s package-lock.json "$stamp" && return
  # npm's own record: someone ran npm by hand since the lock file changed.
  [ node_modules/.package-lock.json -nt package-lock.json ]
}

if ! installed; then
  echo 'Installing dependencies (npm ci: 1.3 GB, which takes a few minutes the first time) …' >&2
  # Errors are on stderr; stdout has only the banners of scripts.
  npm ci --include=dev --no-audit --no-fund --loglevel=error >/dev/null
fi
cmp -s package-lock.json "$stamp" || cp package-lock.json "$stamp"
if ! node_modules/.bin/node -e '' 2>/dev/null; then
  echo "node_modules/.bin/node does not run. Remove node_modules, and let npm run install scripts ('npm config get ignore-scripts' must print false)." >&2
  exit 1
fi
export PATH="$PWD/node_modules/.bin:$PATH"
