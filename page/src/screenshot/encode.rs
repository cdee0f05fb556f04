//! From Chromium's reply to an image within the limits. All of it takes a while and waits for
//! nothing, so it runs apart from what serves the links.

use std::borrow::Cow;
use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType as Filter, PngEncoder};
use image::imageops::{self, FilterType};
use image::{ImageReader, RgbImage};
use serde::Deserialize;
use serde_json::value::RawValue;
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::error::CdpError;

use super::error::ShotError;
use super::geometry::Rect;
use super::limits::{MOST_BYTES, MOST_PIXELS};
use super::metrics::Aim;
use super::request::Format;
use super::shot::Shot;

/// Qualities that are tried for what is too large. The last makes any image small enough: less than
/// ten bits per pixel.
const QUALITIES: [u8; 4] = [85, 70, 50, 25];

#[derive(Deserialize)]
struct Reply<'a> {
    #[serde(borrow)]
    data: Cow<'a, str>,
}

/// Runs `work` where it holds up nobody.
pub(super) async fn apart<T: Send + 'static>(
    budget: &Budget,
    work: impl FnOnce() -> Result<T, ShotError> + Send + 'static,
) -> Result<T, ShotError> {
    let done = budget.run(tokio::task::spawn_blocking(work)).await;
    let done = done.map_err(|spent| CdpError::spent("encoding the image", spent))?;
    done.unwrap_or_else(|_| Err(ShotError::BadImage("reading it failed".into())))
}

/// The image as it came, or made smaller if it is too large.
pub(super) fn plain(
    reply: &RawValue,
    aim: &Aim,
    format: Format,
    within: Option<u32>,
) -> Result<Shot, ShotError> {
    let most = within.map_or(MOST_PIXELS, |within| within.clamp(1, MOST_PIXELS));
    let bytes = bytes(reply)?;
    let (width, height) = reader(&bytes)?.into_dimensions().map_err(|why| bad(&why))?;
    if width.max(height) <= most && bytes.len() <= MOST_BYTES {
        return Ok(Shot { bytes, ..shot(aim, (width, height), (width, height), format) });
    }
    remade(&bytes, aim, format, most, |_, _| ()).map(|(shot, ())| shot)
}

/// The image with what `draw` draws on it.
pub(super) fn drawn<T>(
    reply: &RawValue,
    aim: &Aim,
    format: Format,
    draw: impl FnOnce(&mut RgbImage, &Shot) -> T,
) -> Result<(Shot, T), ShotError> {
    remade(&bytes(reply)?, aim, format, MOST_PIXELS, draw)
}

fn remade<T>(
    bytes: &[u8],
    aim: &Aim,
    format: Format,
    most: u32,
    draw: impl FnOnce(&mut RgbImage, &Shot) -> T,
) -> Result<(Shot, T), ShotError> {
    let mut image = reader(bytes)?.decode().map_err(|why| bad(&why))?.into_rgb8();
    let came = image.dimensions();
    if came.0.max(came.1) > most {
        let (width, height) = smaller(came, most);
        image = imageops::resize(&image, width, height, FilterType::Triangle);
    }
    let mut shot = shot(aim, came, image.dimensions(), format);
    let told = draw(&mut image, &shot);
    shot.bytes = encode(&image, format)?;
    let mut qualities = QUALITIES.into_iter();
    while shot.bytes.len() > MOST_BYTES
        && let Some(quality) = qualities.next()
    {
        shot.format = Format::Jpeg(quality);
        shot.bytes = encode(&image, shot.format)?;
    }
    Ok((shot, told))
}

/// A shot without its bytes, of an image that came in one size and is given in another.
fn shot(aim: &Aim, came: (u32, u32), given: (u32, u32), format: Format) -> Shot {
    let scale = aim.scale_of(came.0);
    let size = (f64::from(came.0) / scale, f64::from(came.1) / scale);
    let resized = f64::from(given.0.max(given.1)) / f64::from(came.0.max(came.1));
    Shot {
        bytes: Vec::new(),
        format,
        width: given.0,
        height: given.1,
        scale: scale * resized,
        clip: Rect::new(aim.corner.0, aim.corner.1, size.0, size.1),
        truncated: aim.truncated,
    }
}

/// The same shape within the limit.
fn smaller((width, height): (u32, u32), most: u32) -> (u32, u32) {
    let longer = u64::from(width.max(height));
    let side = |side: u32| {
        let side = (u64::from(side) * u64::from(most) + longer / 2) / longer;
        u32::try_from(side).unwrap_or(most).max(1)
    };
    (side(width), side(height))
}

fn bytes(reply: &RawValue) -> Result<Vec<u8>, ShotError> {
    // What the reply holds is not told: it is the page.
    let reply: Reply<'_> =
        serde_json::from_str(reply.get()).map_err(|_| ShotError::BadImage("no data".into()))?;
    STANDARD.decode(reply.data.as_bytes()).map_err(|why| ShotError::BadImage(why.to_string()))
}

fn reader(bytes: &[u8]) -> Result<ImageReader<Cursor<&[u8]>>, ShotError> {
    ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|why| ShotError::BadImage(why.to_string()))
}

fn encode(image: &RgbImage, format: Format) -> Result<Vec<u8>, ShotError> {
    let mut bytes = Vec::new();
    let done = match format {
        Format::Png => {
            let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, Filter::Adaptive);
            image.write_with_encoder(encoder)
        }
        Format::Jpeg(quality) => {
            image.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, quality.clamp(1, 100)))
        }
    };
    done.map_err(|why| bad(&why)).map(|()| bytes)
}

fn bad(why: &image::ImageError) -> ShotError {
    ShotError::BadImage(why.to_string())
}

#[cfg(test)]
mod tests {
    use image::Rgb;

    use super::*;

    fn aim(width: f64) -> Aim {
        Aim { part: None, scale: 2.0, corner: (0.0, -10.0), width, truncated: false }
    }

    fn noise(width: u32, height: u32) -> RgbImage {
        let mut state = 1u32;
        RgbImage::from_fn(width, height, |_, _| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [_, r, g, b] = state.to_le_bytes();
            Rgb([r, g, b])
        })
    }

    fn reply(bytes: &[u8]) -> Box<RawValue> {
        RawValue::from_string(format!(r#"{{"data":"{}"}}"#, STANDARD.encode(bytes))).unwrap()
    }

    #[test]
    fn what_fits_is_given_as_it_came() {
        let came = encode(&noise(40, 20), Format::Png).unwrap();
        let shot = plain(&reply(&came), &aim(20.0), Format::Png, None).unwrap();
        assert_eq!((&shot.bytes, shot.width, shot.height, shot.scale), (&came, 40, 20, 2.0));
        assert_eq!(shot.clip, Rect::new(0.0, -10.0, 20.0, 10.0));
        assert_eq!(shot.on_image(Rect::new(1.0, -9.0, 2.0, 2.0)), Rect::new(2.0, 2.0, 4.0, 4.0));
    }

    #[test]
    fn what_is_too_wide_is_made_smaller() {
        let came = encode(&noise(4_000, 10), Format::Png).unwrap();
        let shot = plain(&reply(&came), &aim(2_000.0), Format::Png, None).unwrap();
        assert_eq!((shot.width, shot.height, shot.scale), (2_000, 5, 1.0));
        assert_eq!(shot.clip, Rect::new(0.0, -10.0, 2_000.0, 5.0));
        assert_eq!(reader(&shot.bytes).unwrap().into_dimensions().unwrap(), (2_000, 5));
    }

    #[test]
    fn a_small_one_is_as_small_as_asked_for() {
        let came = encode(&noise(400, 200), Format::Jpeg(80)).unwrap();
        let shot = plain(&reply(&came), &aim(200.0), Format::Jpeg(60), Some(100)).unwrap();
        assert_eq!((shot.width, shot.height, shot.scale, shot.format), (100, 50, 0.5, Format::Jpeg(60)));
        assert_eq!(reader(&shot.bytes).unwrap().into_dimensions().unwrap(), (100, 50));
    }

    #[test]
    fn what_has_too_many_bytes_becomes_jpeg() {
        let came = encode(&noise(2_000, 1_000), Format::Png).unwrap();
        assert!(came.len() > MOST_BYTES);
        let shot = plain(&reply(&came), &aim(1_000.0), Format::Png, None).unwrap();
        assert!(matches!(shot.format, Format::Jpeg(_)) && shot.bytes.len() <= MOST_BYTES);
        assert_eq!((shot.width, shot.height), (2_000, 1_000));
    }

    #[test]
    fn what_is_no_image_is_said() {
        for text in [r#"{"data":"AAAA"}"#, r#"{"data":"?"}"#, "{}"] {
            let reply = RawValue::from_string(text.into()).unwrap();
            assert!(
                matches!(plain(&reply, &aim(1_000.0), Format::Png, None), Err(ShotError::BadImage(_))),
                "{text}"
            );
        }
    }
}
