#!/bin/sh
# Drives the page in headless browsers: on a mock clock, and on the real program if it is built, which it must be
# where CI is true.
set -eu
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci
npm run e2e
