#!/bin/sh
# Stands in for a device process: runs the script beside the link by which it was called, without the socket.
exec </dev/null
. "$(dirname "$0")/script"
