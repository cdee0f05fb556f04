//! Devices that a page can be shown on. Pure.

use serde_json::{Value, json};

use super::value::BadSetting;

/// A device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// What it is called; case does not matter.
    pub name: &'static str,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) scale: f64,
    pub(super) mobile: bool,
    pub(super) touch: bool,
    pub(super) user_agent: &'static str,
}

const IPHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                      Version/17.5 Mobile/15E148 Safari/604.1";
const IPAD: &str = "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                    Version/17.5 Mobile/15E148 Safari/604.1";
/// Chrome tells no more than this of a phone since it reduced its user agent.
const ANDROID: &str = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 \
                       Mobile Safari/537.36";

const fn phone(name: &'static str, width: u32, height: u32, scale: f64, user_agent: &'static str) -> Device {
    Device { name, width, height, scale, mobile: true, touch: true, user_agent }
}

/// A desktop keeps the user agent of the browser that it is.
const fn desktop(name: &'static str, width: u32, height: u32, scale: f64) -> Device {
    Device { name, width, height, scale, mobile: false, touch: false, user_agent: "" }
}

/// Viewports in CSS pixels, upright.
const DEVICES: &[Device] = &[
    phone("iPhone SE", 375, 667, 2.0, IPHONE),
    phone("iPhone 13", 390, 844, 3.0, IPHONE),
    phone("iPhone 14", 390, 844, 3.0, IPHONE),
    phone("iPhone 14 Pro Max", 430, 932, 3.0, IPHONE),
    phone("iPhone 15", 393, 852, 3.0, IPHONE),
    phone("iPhone 15 Pro", 393, 852, 3.0, IPHONE),
    phone("iPad Mini", 768, 1024, 2.0, IPAD),
    phone("iPad Pro 11", 834, 1194, 2.0, IPAD),
    phone("Pixel 5", 393, 851, 2.75, ANDROID),
    phone("Pixel 7", 412, 915, 2.625, ANDROID),
    phone("Galaxy S9+", 320, 658, 4.5, ANDROID),
    phone("Galaxy S24", 360, 780, 3.0, ANDROID),
    desktop("Desktop Chrome", 1280, 720, 1.0),
    desktop("Desktop Chrome HiDPI", 1280, 720, 2.0),
];

impl Device {
    /// The device with this name.
    ///
    /// # Errors
    /// There is none; the ones there are are named.
    pub fn named(name: &str) -> Result<&'static Self, BadSetting> {
        let wanted = name.trim();
        DEVICES.iter().find(|device| device.name.eq_ignore_ascii_case(wanted)).ok_or_else(|| {
            let names: Vec<_> = DEVICES.iter().map(|device| device.name).collect();
            BadSetting { field: "name", why: format!("is no device that is known: {}", names.join(", ")) }
        })
    }

    pub(super) fn metrics(&self) -> Value {
        json!({
            "width": self.width, "height": self.height, "deviceScaleFactor": self.scale, "mobile": self.mobile,
            "screenWidth": self.width, "screenHeight": self.height,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_found_by_its_name_or_the_names_are_told() {
        assert_eq!(Device::named(" iphone 14 ").unwrap().width, 390);
        let why = Device::named("Nokia 3310").unwrap_err();
        assert!(why.field == "name" && why.why.contains("Pixel 7"), "{why}");
    }
}
