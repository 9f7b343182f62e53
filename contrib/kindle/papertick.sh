#!/bin/sh
# Shows the clock on a jailbroken Kindle: fetches one picture, draws it if it differs from the last one, and leaves the
# Wi-Fi off. To be run by cron, as described in docs/other-screens.md.
set -u

here=$(dirname "$0")

# Address of the clock. A Kindle resolves no .local names.
CLOCK=http://192.0.2.7:8080
# Size of the screen, px: 600x800 for most models with 167 dots per inch, 758x1024 for Paperwhite 1 and 2, 1072x1448 for
# Paperwhite 3 and 4 and Voyage, 1236x1648 for Paperwhite 11. `eips -i` prints it.
WIDTH=600
HEIGHT=800
# Degrees clockwise: 90 or 270 for a Kindle that lies on its side.
ROTATE=0
# More parameters, such as '&screen=0' or '&dark'.
MORE=
# Set to 1 if the Wi-Fi stays on between two pictures.
KEEP_WIFI=0
# Longest time to wait for the Wi-Fi, s.
WIFI_MAX=30

if [ -r "$here/papertick.conf" ]; then
  # An editor on Windows ends lines with a carriage return.
  tr -d '\r' <"$here/papertick.conf" >/tmp/papertick.conf
  # shellcheck source=/dev/null
  . /tmp/papertick.conf
fi
CLOCK=${CLOCK%/}

old=/tmp/papertick.png
new=/tmp/papertick.new.png

wifi() {
  lipc-set-prop com.lab126.wifid enable "$1"
}

is_online() {
  [ "$(lipc-get-prop com.lab126.wifid cmState 2>/dev/null)" = CONNECTED ]
}

wait_online() {
  waited=0
  until is_online; do
    [ "$waited" -ge "$WIFI_MAX" ] && return 1
    sleep 1
    waited=$((waited + 1))
  done
}

fetch() {
  error=$(wget -q -T 20 -O "$new" "$CLOCK/api/frame.png?width=$WIDTH&height=$HEIGHT&rotate=$ROTATE&depth=8$MORE" 2>&1)
}

# The screen saver would cover the clock.
lipc-set-prop com.lab126.powerd preventScreenSaver 1

wifi 1
error='no Wi-Fi'
wait_online && fetch
failed=$?
[ "$KEEP_WIFI" = 1 ] || wifi 0

if [ "$failed" -ne 0 ]; then
  # An old price must not look like a new one. The next picture has to cover this line.
  message="No picture at $(date +%H:%M): ${error:-the clock does not answer or refuses}"
  echo "$message" >&2
  eips 0 0 "$message"
  rm -f "$old" "$new"
  exit 1
fi
if cmp -s "$old" "$new"; then
  rm -f "$new"
else
  mv "$new" "$old"
  # With -f the screen turns black once, which leaves no shadows of the last picture.
  eips -f -g "$old"
fi
