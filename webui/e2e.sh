#!/bin/sh
# Tests the page in headless browsers with a mock clock, and with the real program if it is built; with CI=true it must
# be built.
set -eu
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci
npm run e2e
