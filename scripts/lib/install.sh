# Sourced by scripts/dev and scripts/test, from the repository's root: sees that Node and npm are there, installs the
# dependencies when they are missing or out of date, and puts their programs, with Node 24 among them, first on the PATH.

if ! command -v node >/dev/null || ! command -v npm >/dev/null || [ "$(node -p 'parseInt(process.versions.node)')" -lt 20 ]; then
  cat >&2 <<MESSAGE
Tidegate is installed with Node.js 20 or newer and npm (it then brings the Node 24 that it runs on).
Here: node $(node --version 2>/dev/null || echo 'is missing'), npm $(npm --version 2>/dev/null || echo 'is missing').
Get both from https://nodejs.org/en/download, or with 'brew install node'.
MESSAGE
  exit 1
fi

# What package-lock.json was when node_modules was last made from it.
stamp=node_modules/.installed-package-lock.json

installed() {
  [ -x node_modules/.bin/node ] || return 1
  cmp -s package-lock.json "$stamp" && return
  # npm's own record: somebody has run npm by hand since the lock last changed.
  [ node_modules/.package-lock.json -nt package-lock.json ]
}

if ! installed; then
  echo 'Installing dependencies (npm ci) …' >&2
  npm ci --include=dev --no-audit --no-fund --loglevel=error >&2
fi
cmp -s package-lock.json "$stamp" || cp package-lock.json "$stamp"
if ! node_modules/.bin/node -e '' 2>/dev/null; then
  echo "node_modules/.bin/node does not run: remove node_modules, and see that npm runs install scripts ('npm config get ignore-scripts')." >&2
  exit 1
fi
export PATH="$PWD/node_modules/.bin:$PATH"
