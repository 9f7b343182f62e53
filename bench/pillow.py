#!/usr/bin/env python3
"""Compares the drawing speed of papertick with that of Pillow, which uses FreeType, for every screen.

    python3 bench/pillow.py

Installs Pillow into a temporary folder unless it is installed already; builds and runs
`cargo bench -p render --bench screens`, which paints the pictures and exports their content; then draws them with Pillow.

Pillow has an advantage: sizes and positions of all texts are calculated before the measurement, icons, logos and
codes are pasted as pixels, and its fonts stay open except in the cold case.

again   the picture was painted before, as in a rotation
later   all other pictures, more than papertick caches, were painted since
cold    no picture was painted before: the font is decompressed too
off     share of the ink that differs between the two; outlines differ by single pixels
"""

import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import PIL
    from PIL import Image, ImageChops, ImageDraw, ImageFont, features
except ImportError:
    # Runs this script again with Pillow in a virtual environment.
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = f"{folder}/bin/python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "pillow"], check=True)
        sys.exit(subprocess.run([python, __file__, *sys.argv[1:]]).returncode)

ROOT = pathlib.Path(__file__).resolve().parent.parent
FONTS = ROOT / "crates/render/fonts"
ROUNDS = 15

# Largest and smallest text height of each kind, px.
LABEL = (54, 16)
SPLIT = (54, 14)
TITLE = (48, 14)
BY_LENGTH = [(120, 20), (90, 18), (64, 14)]
TAIL = 160


def files():
    """Font files by font id."""
    table = (ROOT / "crates/render/src/faces.rs").read_text()
    rows = re.findall(r'face!\("(\w+)", "([\w-]+)", (\d+)(?:, (\w+))?\)', table)
    found = {}
    for name, family, weight, extra in rows:
        subsets = ["latin"] + (["latin-ext"] if extra == "ext" else [])
        found[name] = [FONTS / family / f"{family}-{subset}-{weight}-normal.woff2" for subset in subsets]
    return found


class Fonts:
    """Open fonts; sizes are line heights, as in papertick."""

    def __init__(self):
        self.files = files()
        self.open = {}
        self.lines = {}

    def load(self, key):
        name, subset, px = key
        path = str(self.files[name][subset])
        return ImageFont.truetype(path, px * self.em(name), layout_engine=ImageFont.Layout.BASIC)

    def em(self, name):
        if name not in self.lines:
            above, below = ImageFont.truetype(str(self.files[name][0]), 2000).getmetrics()
            self.lines[name] = 2000 / (above + below)
        return self.lines[name]

    def get(self, key):
        if key not in self.open:
            self.open[key] = self.load(key)
        return self.open[key]


class Panel:
    """Content of a panel: texts with positions, a bar, or pixels."""

    def __init__(self, size, turned=False, inverted=False):
        self.size = size
        self.turned = turned
        self.inverted = inverted
        self.texts = []
        self.bar = None
        self.pixels = None

    def draw(self, fonts):
        image = Image.new("1", self.size, 255)
        if self.pixels is not None:
            image.paste(self.pixels)
        if self.texts or self.bar:
            draw = ImageDraw.Draw(image)
            for key, text, place in self.texts:
                draw.text(place, text, font=fonts(key), fill=0, anchor="ls")
            if self.bar:
                draw.rounded_rectangle(self.bar, 3, fill=0)
        if self.turned:
            image = image.transpose(Image.Transpose.ROTATE_90)
        return (ImageChops.invert(image) if self.inverted else image).tobytes()


class Layout:
    """Calculates the positions of all texts, as `crates/render/src/draw` does."""

    def __init__(self, fonts, picture, size, frames):
        self.fonts = fonts
        self.picture = picture
        self.width, self.height = size
        self.frames = frames

    def box(self, name, px, text, subset=0):
        """Bounding box of the ink of a text, relative to its position on the baseline."""
        mask, (x, y) = self.fonts.get((name, subset, px)).getmask2(text, mode="1", anchor="ls")
        left, top, right, bottom = mask.getbbox() or (0, 0, 0, 0)
        return left + x, top + y, right + x, bottom + y

    def fit(self, name, most, least, room, text):
        px = most
        while px > least:
            left, top, right, bottom = self.box(name, px, text)
            if right - left <= room[0] and bottom - top <= room[1]:
                break
            px -= 0.5
        return px

    def put(self, panel, name, px, text, baseline, subset=0):
        left, _, right, _ = self.box(name, px, text, subset)
        x = (panel.size[0] - (right - left)) // 2 - left
        panel.texts.append(((name, subset, px), text, (x, baseline)))

    def panels(self):
        stride = (self.width + 7) // 8
        length = stride * self.height
        for index, cell in enumerate(self.picture["cells"]):
            frame = self.frames[index * length : (index + 1) * length]
            yield self.panel(cell, frame), frame

    def panel(self, cell, frame):
        kind, lines = cell["kind"], cell.get("lines", [])
        name, size = self.picture["font"], (self.width, self.height)
        turned = kind in ("label", "word") and self.picture["vertical_labels"]
        inverted = self.picture["inverted"] and kind != "pixels"
        panel = Panel(size[::-1] if turned else size, turned, inverted)
        room = (panel.size[0] - 12, panel.size[1] - 8)
        if kind == "pixels":
            panel.pixels = Image.frombytes("1", size, frame)
        elif kind in ("digit", "tail"):
            self.digit(panel, name, TAIL if kind == "tail" else self.picture["digit_px"], lines[0], room)
        elif kind in ("code", "word"):
            self.line(panel, name, LABEL, lines[0], room)
        elif kind == "title":
            self.line(panel, "atkinsonBold", TITLE, lines[0], room)
        elif kind == "text":
            self.line(panel, name, BY_LENGTH[min(len(lines[0]), 3) - 1], lines[0], room)
        elif kind in ("label", "unit"):
            percent = self.picture["label_fit_pct"]
            self.split(panel, name, LABEL, (self.width - 8) * percent // 100, lines)
        elif kind == "split":
            self.split(panel, "oswaldBold", SPLIT, self.width - 12, lines)
        elif kind == "letter":
            self.letter(panel, name, lines[0])
        elif kind == "block":
            self.block(panel, cell["px"], lines)
        return panel

    def digit(self, panel, name, px, text, room):
        for digit in "0123456789":
            px = self.fit(name, px, 8, room, digit)
        _, top, _, bottom = self.box(name, px, "0")
        baseline = (self.height - (bottom - top)) // 2 - top
        subset = 1 if text == "₿" and len(self.fonts.files[name]) > 1 else 0
        if text == ":":
            _, top, _, bottom = self.box(name, px, text)
            baseline = (self.height - (bottom - top)) // 2 - top
        self.put(panel, name, self.fit(name, px, 8, room, text), text, baseline, subset)

    def line(self, panel, name, sizes, text, room):
        px = self.fit(name, *sizes, room, text)
        _, top, _, bottom = self.box(name, px, "H0")
        self.put(panel, name, px, text, (panel.size[1] - (bottom - top)) // 2 - top)

    def split(self, panel, name, sizes, target, lines):
        px = sizes[0]
        for text in lines:
            px = self.fit(name, px, sizes[1], (target, panel.size[1] // 2 - 16), text)
        middle = panel.size[1] // 2
        over, under = (self.box(name, px, text) for text in lines)
        self.put(panel, name, px, lines[0], middle - 12 - over[3])
        self.put(panel, name, px, lines[1], middle + 12 - under[1])
        width = min(over[2] - over[0], under[2] - under[0])
        left = (panel.size[0] - width) // 2
        panel.bar = (left, middle - 3, left + width - 1, middle + 2)

    def letter(self, panel, name, text):
        letters = [cell["lines"][0] for cell in self.picture["cells"] if cell["kind"] == "letter"]
        px = 220
        for letter in letters:
            px = self.fit(name, px, 8, (self.width - 32, self.height - 8), letter)
        boxes = [self.box(name, px, letter) for letter in letters]
        top, bottom = min(box[1] for box in boxes), max(box[3] for box in boxes)
        self.put(panel, name, px, text, (self.height - (bottom - top)) // 2 - top)

    def block(self, panel, px, lines):
        faces = {False: "atkinson", True: "atkinsonBold"}
        for text, bold in lines:
            px = self.fit(faces[bold], px, 15, (self.width - 8, self.height), text)
        _, top, _, _ = self.box("atkinson", px, "H")
        first = (self.height - px * 1.15 * (len(lines) - 1) + top) / 2 - top
        for index, (text, bold) in enumerate(lines):
            self.put(panel, faces[bold], px, text, round(first + px * 1.15 * index))


def microseconds(action, rounds=ROUNDS):
    times = []
    for _ in range(rounds):
        start = time.perf_counter_ns()
        action()
        times.append((time.perf_counter_ns() - start) / 1000)
    return statistics.median(times)


def differing(ours, theirs, size):
    """Share of the ink that differs between two pictures."""
    stride = (size[0] + 7) // 8
    used = (0xFF00 >> (size[0] - 8 * (stride - 1))) & 0xFF
    off = ink = 0
    for index, (one, other) in enumerate(zip(ours, theirs)):
        mask = used if index % stride == stride - 1 else 0xFF
        off += ((one ^ other) & mask).bit_count()
        ink += ((one ^ 0xFF) & mask).bit_count()
    return off / max(ink, 1)


def draw_all(data, folder):
    """Draws every picture; yields the picture, the warm and cold times of Pillow, and the difference."""
    fonts = Fonts()
    size = (data["width"], data["height"])
    for picture in data["pictures"]:
        frames = (folder / f"{picture['name']}.frames").read_bytes()
        laid_out = list(Layout(fonts, picture, size, frames).panels())
        panels = [panel for panel, _ in laid_out]
        off = differing(frames, b"".join(panel.draw(fonts.get) for panel in panels), size)
        warm = microseconds(lambda: [panel.draw(fonts.get) for panel in panels])

        def cold():
            opened = {}
            for panel in panels:
                for key, _, _ in panel.texts:
                    if key not in opened:
                        opened[key] = fonts.load(key)
            for panel in panels:
                panel.draw(opened.__getitem__)

        yield picture, warm, microseconds(cold, 5), off


def main():
    with tempfile.TemporaryDirectory() as folder:
        command = ["cargo", "bench", "--quiet", "-p", "render", "--bench", "screens", "--", "--export", folder]
        subprocess.run(command, cwd=ROOT, check=True)
        folder = pathlib.Path(folder)
        data = json.loads((folder / "pictures.json").read_text())
        rows = list(draw_all(data, folder))

    header = ("µs per picture", "again", "later", "cold", "warm", "cold", "again", "later", "cold", "off")
    print(f"{'':34}{'papertick':^27}{'Pillow':^20}{'times as fast':^24}")
    print("{:34}{:>9}{:>9}{:>9}{:>10}{:>10}{:>9}{:>8}{:>7}{:>7}".format(*header))
    ratios = {"again": [], "later": [], "cold": []}
    for picture, warm, cold, off in rows:
        ours = (picture["again_us"], picture["later_us"], picture["cold_us"])
        ratio = (warm / ours[0], warm / ours[1], cold / ours[2])
        for kind, value in zip(ratios, ratio):
            ratios[kind].append(value)
        print(
            f"{picture['name']:34}{ours[0]:9.2f}{ours[1]:9.1f}{ours[2]:9.0f}{warm:10.0f}{cold:10.0f}"
            f"{ratio[0]:9.0f}{ratio[1]:8.1f}{ratio[2]:7.1f}{off:7.0%}"
        )
    print()
    print(f"Pillow {PIL.__version__}, FreeType {features.version('freetype2')}, {len(rows)} pictures of seven panels")
    for kind, values in ratios.items():
        print(f"times as fast, {kind:6} least {min(values):8.1f}   median {statistics.median(values):8.1f}")
    again = statistics.median(picture["again_us"] for picture, _, _, _ in rows)
    print(f"painting again takes {again / data['copy_us']:.2f} times as long as copying the bytes of the panels")


if __name__ == "__main__":
    main()
