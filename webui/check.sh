#!/bin/sh
# Builds the page from a clean install and fails if the result differs from the committed bundle.
set -eu
cd "$(dirname "$0")"
npm ci
npx prettier --check .
npm run types
npm test
npm run build
git add --intent-to-add dist
git diff --exit-code -- dist
