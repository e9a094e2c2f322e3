//! Numbered boxes over a picture. They are drawn on the picture and not in the page, which could notice, and in which
//! something would be left behind whenever a call fails in the middle.

use std::io::Cursor;

use png::{BitDepth, ColorType, Compression, Decoder, Encoder, Limits, Transformations};

use crate::page::Rect;

/// What a picture may take in memory: the largest that Chromium draws, whole pages included.
const MOST_BYTES: usize = 1 << 30;
/// How thick a box is drawn, in pixels.
const LINE: i64 = 2;
/// Colours on which white can be read; neighbours differ.
const COLOURS: [[u8; 3]; 6] = [[200, 0, 60], [0, 90, 200], [0, 120, 50], [150, 0, 170], [170, 80, 0], [0, 115, 125]];
const WHITE: [u8; 3] = [255; 3];
/// A picture with a longer side below this has its numbers written half as large.
const SMALL: i64 = 500;

/// A box to draw.
#[derive(Debug)]
pub(super) struct Labelled {
    /// What is written at it: letters and digits of [`glyph`].
    pub(super) label: String,
    /// Where it is, in pixels of the picture.
    pub(super) at: Rect,
}

/// Returns the picture with the boxes on it; `None` if it is not one that Chromium makes.
pub(super) fn draw(png: &[u8], boxes: &[Labelled]) -> Option<Vec<u8>> {
    let mut picture = Picture::read(png)?;
    for (number, labelled) in boxes.iter().enumerate() {
        picture.frame(Area::of(labelled.at), COLOURS[number % COLOURS.len()]);
    }
    // Numbers come last, since they are to be read.
    let size = if picture.width.max(picture.height) < SMALL { 1 } else { 2 };
    let mut taken = Vec::with_capacity(boxes.len());
    for (number, labelled) in boxes.iter().enumerate() {
        let at = picture.place_for(Area::of(labelled.at), Area::of_label(&labelled.label, size), &taken);
        picture.write(at, &labelled.label, size, COLOURS[number % COLOURS.len()]);
        taken.push(at);
    }
    picture.to_png()
}

/// A rectangle of whole pixels; `right` and `bottom` are beyond it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Area {
    left: i64,
    top: i64,
    right: i64,
    bottom: i64,
}

impl Area {
    #[expect(clippy::cast_possible_truncation, reason = "a cast from a float stays within the bounds of the integer")]
    fn of(Rect { x, y, width, height }: Rect) -> Self {
        let whole = |number: f64| number.round().clamp(-1e6, 1e6) as i64;
        Self { left: whole(x), top: whole(y), right: whole(x + width), bottom: whole(y + height) }
    }

    /// Returns the room that a label needs, at the origin.
    fn of_label(label: &str, size: i64) -> Self {
        let letters = i64::try_from(label.len()).unwrap_or(i64::MAX / 100);
        Self { left: 0, top: 0, right: (letters * (GLYPH_WIDTH + 1) + 1) * size, bottom: (GLYPH_HEIGHT + 2) * size }
    }

    fn moved_to(self, left: i64, top: i64) -> Self {
        Self { left, top, right: left + self.right - self.left, bottom: top + self.bottom - self.top }
    }

    fn meets(self, other: Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}

/// A picture in memory.
struct Picture {
    width: i64,
    height: i64,
    colour: ColorType,
    /// Bytes of one pixel: red, green and blue come first.
    depth: usize,
    pixels: Vec<u8>,
}

impl Picture {
    fn read(png: &[u8]) -> Option<Self> {
        let mut decoder = Decoder::new_with_limits(Cursor::new(png), Limits { bytes: MOST_BYTES });
        decoder.set_transformations(Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().ok()?;
        let mut pixels = vec![0; reader.output_buffer_size().filter(|size| *size <= MOST_BYTES)?];
        let info = reader.next_frame(&mut pixels).ok()?;
        let depth = match info.color_type {
            ColorType::Rgb => 3,
            ColorType::Rgba => 4,
            _ => return None,
        };
        Some(Self { width: info.width.into(), height: info.height.into(), colour: info.color_type, depth, pixels })
    }

    fn to_png(&self) -> Option<Vec<u8>> {
        let mut png = Vec::new();
        let side = |length: i64| u32::try_from(length).ok();
        let mut encoder = Encoder::new(&mut png, side(self.width)?, side(self.height)?);
        encoder.set_color(self.colour);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(Compression::Fast);
        let mut writer = encoder.write_header().ok()?;
        writer.write_image_data(&self.pixels).ok()?;
        writer.finish().ok()?;
        Some(png)
    }

    /// Draws the outline of a box, inside of it: what is beside it belongs to its neighbours.
    fn frame(&mut self, at: Area, colour: [u8; 3]) {
        let Area { left, top, right, bottom } = at;
        self.fill(Area { bottom: bottom.min(top + LINE), ..at }, colour);
        self.fill(Area { top: top.max(bottom - LINE), ..at }, colour);
        self.fill(Area { right: right.min(left + LINE), ..at }, colour);
        self.fill(Area { left: left.max(right - LINE), ..at }, colour);
    }

    /// Returns where a label stands: where it covers no other one if there is such a place, best outside of its box.
    fn place_for(&self, of: Area, label: Area, taken: &[Area]) -> Area {
        let Area { left, top, right, bottom } = of;
        let Area { right: wide, bottom: high, .. } = label;
        let corners =
            [(left, top - high), (right - wide, top - high), (left, bottom), (left, top), (right - wide, top)];
        let inside = |(x, y): (i64, i64)| {
            let (most_x, most_y) = ((self.width - wide).max(0), (self.height - high).max(0));
            label.moved_to(x.clamp(0, most_x), y.clamp(0, most_y))
        };
        let free = corners.map(inside).into_iter().find(|place| !taken.iter().any(|other| place.meets(*other)));
        free.unwrap_or_else(|| inside((left, top)))
    }

    fn write(&mut self, at: Area, label: &str, size: i64, colour: [u8; 3]) {
        self.fill(at, colour);
        let mut left = at.left + size;
        for letter in label.chars() {
            for (row, bits) in (0..).zip(glyph(letter)) {
                for column in (0..GLYPH_WIDTH).filter(|column| bits >> (GLYPH_WIDTH - 1 - column) & 1 == 1) {
                    let (x, y) = (left + column * size, at.top + (row + 1) * size);
                    self.fill(Area { left: x, top: y, right: x + size, bottom: y + size }, WHITE);
                }
            }
            left += (GLYPH_WIDTH + 1) * size;
        }
    }

    /// Paints what of an area is in the picture.
    fn fill(&mut self, area: Area, [red, green, blue]: [u8; 3]) {
        let index = |number: i64| usize::try_from(number).unwrap_or(0);
        let (left, right) = (index(area.left), index(area.right.min(self.width)));
        let (width, depth) = (index(self.width), self.depth);
        for y in index(area.top)..index(area.bottom.min(self.height)) {
            let row = &mut self.pixels[y * width * depth..][..width * depth];
            for pixel in row.chunks_exact_mut(depth).take(right).skip(left) {
                pixel[..3].copy_from_slice(&[red, green, blue]);
                pixel[3..].fill(255);
            }
        }
    }
}

const GLYPH_WIDTH: i64 = 5;
const GLYPH_HEIGHT: i64 = 7;

/// Returns the rows of a letter of a ref, a bit for each pixel.
fn glyph(letter: char) -> [u8; 7] {
    match letter {
        '0' => [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
        '1' => [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
        '2' => [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
        '3' => [0b11110, 0b00001, 0b00001, 0b01110, 0b00001, 0b00001, 0b11110],
        '4' => [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
        '5' => [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
        '6' => [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
        '7' => [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
        '8' => [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
        '9' => [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
        'e' => [0b00000, 0b00000, 0b01110, 0b10001, 0b11111, 0b10000, 0b01110],
        _ => [0b11111; 7],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blank(width: u32, height: u32) -> Vec<u8> {
        let mut png = Vec::new();
        let mut encoder = Encoder::new(&mut png, width, height);
        encoder.set_color(ColorType::Rgb);
        let mut writer = encoder.write_header().expect("a header");
        writer.write_image_data(&vec![255; (width * height * 3) as usize]).expect("pixels");
        writer.finish().expect("an end");
        png
    }

    fn labelled(label: &str, x: f64, y: f64, width: f64, height: f64) -> Labelled {
        Labelled { label: label.to_owned(), at: Rect { x, y, width, height } }
    }

    fn pixel(picture: &Picture, x: i64, y: i64) -> &[u8] {
        let at = usize::try_from(y * picture.width + x).expect("inside") * picture.depth;
        &picture.pixels[at..at + 3]
    }

    #[test]
    fn a_box_is_drawn_just_inside_of_its_edges_and_its_number_above_it() {
        let drawn = draw(&blank(300, 200), &[labelled("e1", 50.0, 60.0, 100.0, 40.0)]).expect("a picture");
        let picture = Picture::read(&drawn).expect("a picture");
        for (x, y) in [(50, 60), (149, 60), (50, 99), (149, 99), (51, 80), (148, 80)] {
            assert_eq!(pixel(&picture, x, y), COLOURS[0], "{x} {y}");
        }
        for (x, y) in [(49, 80), (150, 80), (100, 100), (52, 80), (100, 62), (100, 59)] {
            assert_eq!(pixel(&picture, x, y), WHITE, "{x} {y}");
        }
        assert_eq!(pixel(&picture, 50, 59), COLOURS[0], "the label's ground");
    }

    #[test]
    fn numbers_stay_in_the_picture_and_apart_from_one_another() {
        let boxes = [labelled("e1", 0.0, 0.0, 30.0, 20.0), labelled("e2", 0.0, 0.0, 30.0, 20.0)];
        let picture = Picture::read(&draw(&blank(300, 200), &boxes).expect("a picture")).expect("a picture");
        let label = Area::of_label("e1", 1);
        let first = picture.place_for(Area::of(boxes[0].at), label, &[]);
        let second = picture.place_for(Area::of(boxes[1].at), label, &[first]);
        for place in [first, second] {
            assert!(place.left >= 0 && place.top >= 0, "{place:?}");
        }
        assert!(!first.meets(second), "{first:?} {second:?}");
    }

    #[test]
    fn what_is_outside_of_the_picture_harms_nothing() {
        let boxes = [
            labelled("e1", -50.0, -50.0, 20.0, 20.0),
            labelled("e2", 290.0, 190.0, 500.0, 500.0),
            labelled("e3", f64::NAN, f64::INFINITY, 1e300, -1e300),
        ];
        assert!(draw(&blank(300, 200), &boxes).is_some());
        assert!(draw(&blank(3, 3), &boxes).is_some());
        assert!(draw(b"GIF89a", &boxes).is_none());
    }
}
