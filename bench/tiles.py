"""Time to draw a board of six screens, in this program and with Pillow: `python3 bench/tiles.py`.

Needs the packages pillow, fonttools and brotli. Both draw the same texts in the same fonts and sizes on 1872x1404 px with
another price each time; both have read their fonts before.
"""

import io
import pathlib
import re
import statistics
import subprocess
import time

from fontTools.ttLib import TTFont
from PIL import Image, ImageDraw, ImageFont

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZE = (1872, 1404)

# Left edge, baseline and size of each text in px, as `benches/tiles.rs` draws them. `{}` is the last digit of the price.
FIGURES = [(94, 610, 520, "$108,68{}"), (1262, 355, 240, "14:32"), (1262, 815, 240, "977,412"), (94, 1180, 240, "920"), (680, 1180, 240, "4.21"), (1262, 1180, 240, "72,588")]
TEXTS = [(94, 140), (1262, 140), (1262, 590), (94, 950), (680, 950), (1262, 950), (94, 760), (94, 830), (1262, 430), (1262, 890)]


def face(path, size):
    font = TTFont(ROOT / "crates/render/fonts" / path)
    font.flavor = None
    file = io.BytesIO()
    font.save(file)
    return ImageFont.truetype(io.BytesIO(file.getvalue()), size)


def pillow():
    """Milliseconds per picture."""
    figures = {size: face("antonio/antonio-latin-400-normal.woff2", size) for size in (520, 240)}
    words = face("inter/inter-latin-600-normal.woff2", 67)
    times = []
    for turn in range(40):
        start = time.perf_counter()
        image = Image.new("L", SIZE, 255)
        draw = ImageDraw.Draw(image)
        for x, y, size, text in FIGURES:
            draw.text((x, y), text.format(turn % 10), 0, figures[size], anchor="ls")
        for x, y in TEXTS:
            draw.text((x, y), "28 November 2026", 0, words, anchor="ls")
        draw.line([(680 + 4 * point, 760 + 37 * point % 60) for point in range(144)], 0, 7)
        image.point(lambda grey: round(grey * 15 / 255)).tobytes()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def program():
    """Milliseconds per picture: drawn with a new painter, and with another price."""
    command = ["cargo", "bench", "--locked", "-p", "render", "--bench", "tiles"]
    table = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    medians = re.findall(r"─ 6 .*?│.*?│ ([\d.]+) (µs|ms)", table)
    return [float(number) / (1000 if unit == "µs" else 1) for number, unit in medians]


cold, warm = program()
other = pillow()
print(f"first picture {cold:.2f} ms, another price {warm:.2f} ms; Pillow {other:.2f} ms; ratio {warm / other:.2f}")
