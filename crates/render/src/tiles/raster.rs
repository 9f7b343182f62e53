//! Ink in the order of drawing, and the pixels that it makes. A picture with other ink is drawn again only where it differs.

use std::{iter::zip, sync::Arc};

use device::canvas::{Depth, Turn};

use crate::{
    font::SoftGlyph,
    mask::{Area, HALF},
};

/// Columns are packed in groups of this many, px: whole bytes of every depth.
const STEP: i32 = 8;

/// Ink in an area.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ink {
    pub(super) area: Area,
    pub(super) grey: u8,
    /// `None` fills the area.
    pub(super) glyph: Option<Arc<SoftGlyph>>,
}

/// What pixels depend on besides the ink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RasterFormat {
    /// Width and height before the turn, px.
    pub(super) upright: (i32, i32),
    pub(super) turn: Turn,
    pub(super) depth: Depth,
    /// Grey without ink: black or white.
    pub(super) paper: u8,
}

/// The pixels of a picture.
pub(super) struct Raster {
    pub(super) format: RasterFormat,
    inks: Vec<Ink>,
    /// Upright rows, a byte per pixel.
    grey: Vec<u8>,
    /// Turned rows of whole bytes, most significant bits leftmost.
    pub(super) rows: Vec<u8>,
}

impl Raster {
    /// A picture without ink.
    pub(super) fn new(format: RasterFormat) -> Raster {
        let (width, height) = format.upright;
        let (columns, lines) = format.turned();
        let stride = (columns as usize * format.depth.bits() as usize).div_ceil(8);
        Raster {
            format,
            inks: Vec::new(),
            grey: vec![format.paper; (width * height) as usize],
            rows: vec![format.paper; stride * lines as usize],
        }
    }

    /// Number of pixels.
    pub(super) fn pixels(&self) -> usize {
        self.grey.len()
    }

    /// Replaces the ink.
    pub(super) fn draw(&mut self, inks: Vec<Ink>) {
        let (width, height) = self.format.upright;
        let whole = Area {
            x: 0,
            y: 0,
            width,
            height,
        };
        let areas = changed(&self.inks, &inks).into_iter();
        let mut areas: Vec<Area> = areas.filter_map(|area| common(area, whole)).collect();
        areas.dedup();
        let sum: i32 = areas.iter().map(|area| area.width * area.height).sum();
        if sum > width * height {
            areas = vec![whole];
        }
        self.inks = inks;
        for area in areas {
            self.redraw(area);
        }
    }

    fn redraw(&mut self, area: Area) {
        let paper = Ink {
            area,
            grey: self.format.paper,
            glyph: None,
        };
        for ink in [&paper].into_iter().chain(&self.inks) {
            if let Some(part) = common(ink.area, area) {
                blend(&mut self.grey, self.format, ink, part);
            }
        }
        match self.format.depth {
            Depth::One => self.pack::<1, 8>(area),
            Depth::Two => self.pack::<2, 4>(area),
            Depth::Four => self.pack::<4, 2>(area),
            Depth::Eight => self.pack::<8, 1>(area),
        }
    }

    /// Packs the pixels of an area for a number of bits and of pixels in a byte.
    fn pack<const BITS: u16, const PIXELS: usize>(&mut self, area: Area) {
        let most = (1 << BITS) - 1;
        let (width, height) = self.format.upright;
        let turn = self.format.turn;
        let (right, bottom) = (width - area.x - area.width, height - area.y - area.height);
        let ((x, y), (columns, lines)) = match turn {
            Turn::None => ((area.x, area.y), (area.width, area.height)),
            Turn::Half => ((right, bottom), (area.width, area.height)),
            Turn::Quarter => ((bottom, area.x), (area.height, area.width)),
            Turn::ThreeQuarters => ((area.y, right), (area.height, area.width)),
        };
        let (row_pixels, row_count) = self.format.turned();
        let stride = self.rows.len() / row_count as usize;
        let from = x / STEP * STEP;
        let to = ((x + columns + STEP - 1) / STEP * STEP).min(row_pixels);
        let mut line = Vec::new();
        for y in y..y + lines {
            let place = |x: i32| match turn {
                Turn::None => y * width + x,
                Turn::Half => (height - 1 - y) * width + width - 1 - x,
                Turn::Quarter => (height - 1 - x) * width + y,
                Turn::ThreeQuarters => x * width + width - 1 - y,
            };
            line.clear();
            if turn == Turn::None {
                line.extend_from_slice(&self.grey[place(from) as usize..place(to) as usize]);
            } else {
                line.extend((from..to).map(|x| self.grey[place(x) as usize]));
            }
            line.resize(line.len().next_multiple_of(PIXELS), self.format.paper);
            for level in &mut line {
                *level = ((u16::from(*level) * most + 127) / 255) as u8;
            }
            let row = &mut self.rows[y as usize * stride..][..stride];
            let (bytes, _) = line.as_chunks::<PIXELS>();
            for (byte, pixels) in row[from as usize / PIXELS..].iter_mut().zip(bytes) {
                let fold = |byte: u16, level: &u8| byte << BITS | u16::from(*level);
                *byte = pixels.iter().fold(0, fold) as u8;
            }
        }
    }
}

impl RasterFormat {
    /// Width and height after the turn, px.
    fn turned(&self) -> (i32, i32) {
        let (width, height) = self.upright;
        match self.turn {
            Turn::None | Turn::Half => (width, height),
            Turn::Quarter | Turn::ThreeQuarters => (height, width),
        }
    }
}

/// The areas in which two pictures may differ.
fn changed(old: &[Ink], new: &[Ink]) -> Vec<Area> {
    let start = zip(old, new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = zip(old.iter().rev(), new.iter().rev())
        .take_while(|(old, new)| old == new)
        .count();
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    let is_paired = old.len() == new.len();
    let is_kept = |index: usize| is_paired && old[index] == new[index];
    let both = old.iter().enumerate().chain(new.iter().enumerate());
    both.filter(|(index, _)| !is_kept(*index))
        .map(|(_, ink)| ink.area)
        .collect()
}

/// The area that two have in common; `None` without one.
fn common(one: Area, other: Area) -> Option<Area> {
    let (x, y) = (one.x.max(other.x), one.y.max(other.y));
    let width = (one.x + one.width).min(other.x + other.width) - x;
    let height = (one.y + one.height).min(other.y + other.height) - y;
    (width > 0 && height > 0).then_some(Area {
        x,
        y,
        width,
        height,
    })
}

/// Draws the part of an ink that is in an area of it.
fn blend(grey: &mut [u8], format: RasterFormat, ink: &Ink, part: Area) {
    let target = i32::from(ink.grey);
    for y in part.y..part.y + part.height {
        let start = (y * format.upright.0 + part.x) as usize;
        let row = &mut grey[start..start + part.width as usize];
        let Some(glyph) = &ink.glyph else {
            row.fill(ink.grey);
            continue;
        };
        let from = (y - ink.area.y) as usize * glyph.width + (part.x - ink.area.x) as usize;
        for (to, cover) in row.iter_mut().zip(&glyph.coverage[from..]) {
            match *cover {
                0 => {}
                cover if format.depth == Depth::One => {
                    if cover >= HALF {
                        *to = ink.grey;
                    }
                }
                255 => *to = ink.grey,
                cover => {
                    let under = i32::from(*to);
                    *to = (under + (target - under) * i32::from(cover) / 255) as u8;
                }
            }
        }
    }
}
