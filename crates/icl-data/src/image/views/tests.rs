use std::sync::Arc;

use icl_core::{Rng, Seed, Views};
use rand::RngExt;

use super::config::ImageViewsConfig;
use super::crop::CropBox;
use super::image_views::{ImageView, ImageViews};
use super::parameters::ViewParameters;
use crate::image::raster::Image;

fn rng(stream: u64) -> Rng {
    Seed::new(7).child("views").at(stream).rng()
}

fn noise(width: usize, height: usize, channels: usize) -> Arc<Image> {
    let mut rng = Seed::new(3).child("images").rng();
    let pixels = (0..width * height * channels).map(|_| rng.random());
    Arc::new(Image::new(width, height, channels, pixels.collect()))
}

/// Tiny, narrow, wide, small and large images, grey and RGB.
fn zoo() -> Vec<Arc<Image>> {
    let sides = [
        (1, 1),
        (1, 2),
        (2, 1),
        (1, 3000),
        (3000, 1),
        (3000, 2),
        (7, 9),
        (28, 28),
        (40, 30),
        (32, 100),
    ];
    sides
        .into_iter()
        .flat_map(|(width, height)| [noise(width, height, 1), noise(width, height, 3)])
        .collect()
}

/// All of it happens, most of it by chance.
fn busy(size: usize) -> ImageViews {
    ImageViewsConfig::new(size)
        .with_jitter(0.8)
        .with_grey(0.3)
        .with_blur(0.5)
        .init()
}

#[test]
fn views_of_any_image_have_the_shape_and_the_range() {
    let normalised = |value: f64, mean: f64, std: f64| (value - mean) / std;
    for size in [1, 2, 3, 28, 45] {
        let views = busy(size);
        for image in zoo() {
            for stream in 0..10 {
                let view = views.view(&image, &mut rng(stream));
                assert_eq!((view.channels(), view.size()), (image.channels(), size));
                assert_eq!(view.values().len(), image.channels() * size * size);
                let config = views.config();
                for (channel, plane) in view.values().chunks(size * size).enumerate() {
                    let (mean, std) = match image.channels() {
                        1 => (0.449, 0.226),
                        _ => (config.mean[channel].into(), config.std[channel].into()),
                    };
                    let range =
                        normalised(0.0, mean, std) - 1e-5..=normalised(1.0, mean, std) + 1e-5;
                    assert!(plane.iter().all(|&value| range.contains(&value.into())));
                }
            }
        }
    }
}

#[test]
fn the_generator_decides_and_the_slot_does_not() {
    let views = busy(16);
    let mut slot = ImageView::default();
    let mut distinct = 0;
    let zoo = zoo();
    for (stream, image) in (0..).zip(zoo.iter().cycle().take(200)) {
        let view = views.view(image, &mut rng(stream));
        views.view_into(image, &mut rng(stream), &mut slot);
        assert_eq!(view, slot);
        let parameters = views.draw(image, &mut rng(stream));
        views.apply(image, &parameters, &mut slot);
        assert_eq!(view, slot);
        distinct += usize::from(view != views.view(image, &mut rng(stream + 1000)));
    }
    assert!(distinct > 180, "only {distinct} of 200 views differ");
}

#[test]
fn every_thread_makes_the_same_views() {
    let views = busy(16);
    let zoo = zoo();
    let all = || -> Vec<ImageView> {
        let images = (0..).zip(&zoo);
        images
            .map(|(stream, image)| views.view(image, &mut rng(stream)))
            .collect()
    };
    let expected = all();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(all)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), expected);
        }
    });
}

#[test]
fn a_slot_keeps_its_buffer() {
    let views = busy(32);
    let image = noise(40, 30, 3);
    let mut slot = views.plain(&image);
    let buffer = slot.values().as_ptr();
    for stream in 0..10 {
        views.view_into(&image, &mut rng(stream), &mut slot);
        assert_eq!(slot.values().as_ptr(), buffer);
    }
}

#[test]
fn the_plain_view_of_an_image_of_its_size_is_the_image() {
    for channels in [1, 3] {
        for size in [1, 2, 28] {
            let image = noise(size, size, channels);
            let views = ImageViewsConfig::new(size)
                .with_mean([0.0; 3])
                .with_std([1.0; 3])
                .init();
            let view = views.plain(&image);
            for (at, &value) in view.values().iter().enumerate() {
                let (channel, pixel) = (at / (size * size), at % (size * size));
                let byte = image.pixels()[pixel * channels + channel];
                assert_eq!((value * 255.0).round(), f32::from(byte));
                assert!((value - f32::from(byte) / 255.0).abs() < 1e-7);
            }
        }
    }
}

#[test]
fn plain_views_of_any_image_have_the_shape() {
    for image in zoo() {
        for size in [1, 5, 224] {
            let view = ImageViewsConfig::new(size).init().plain(&image);
            assert_eq!((view.channels(), view.size()), (image.channels(), size));
        }
    }
}

#[test]
fn an_even_image_stays_even() {
    let image = Arc::new(Image::new(50, 37, 3, [200, 90, 30].repeat(50 * 37)));
    for stream in 0..50 {
        let view = busy(24).view(&image, &mut rng(stream));
        for plane in view.values().chunks(24 * 24) {
            assert!(plane.iter().all(|&value| value == plane[0]));
        }
    }
}

#[test]
fn two_flips_are_none() {
    let image = noise(9, 9, 3);
    let views = ImageViewsConfig::new(9).init();
    let parameters = ViewParameters {
        crop: CropBox::whole(&image),
        grey: false,
        jitter: None,
        blur_sigma: None,
        flip: true,
    };
    let mut flipped = ImageView::default();
    views.apply(&image, &parameters, &mut flipped);
    let plain = views.plain(&image);
    let rows = plain.values().chunks(9).zip(flipped.values().chunks(9));
    for (row, flipped) in rows {
        assert!(row.iter().eq(flipped.iter().rev()));
    }
}

#[test]
fn each_event_has_its_probability() {
    let views = ImageViewsConfig::new(8)
        .with_flip(0.3)
        .with_grey(0.2)
        .with_jitter(0.8)
        .with_blur(0.5)
        .init();
    let image = noise(8, 8, 1);
    let mut counts = [0_usize; 4];
    let mut rng = rng(0);
    for _ in 0..10_000 {
        let drawn = views.draw(&image, &mut rng);
        let events = [
            drawn.flip,
            drawn.grey,
            drawn.jitter.is_some(),
            drawn.blur_sigma.is_some(),
        ];
        for (count, event) in counts.iter_mut().zip(events) {
            *count += usize::from(event);
        }
        assert!(
            drawn
                .blur_sigma
                .is_none_or(|sigma| (0.1..=2.0).contains(&sigma))
        );
    }
    // Each count is binomial with a standard deviation of at most 50.
    for (count, expected) in counts.into_iter().zip([3000, 2000, 8000, 5000]) {
        assert!(count.abs_diff(expected) < 165, "{counts:?}");
    }
}

#[test]
fn settings_that_differ_in_a_probability_see_the_same_crops() {
    let image = noise(40, 30, 3);
    let plain = ImageViewsConfig::new(8)
        .with_jitter(0.0)
        .with_grey(0.0)
        .init();
    for stream in 0..50 {
        let one = plain.draw(&image, &mut rng(stream));
        let other = busy(8).draw(&image, &mut rng(stream));
        assert_eq!((one.crop, one.flip), (other.crop, other.flip));
    }
}

fn apply(change: impl FnOnce(&mut ViewParameters)) {
    let image = noise(8, 6, 3);
    let views = ImageViewsConfig::new(4).init();
    let mut parameters = views.draw(&image, &mut rng(0));
    change(&mut parameters);
    views.apply(&image, &parameters, &mut ImageView::default());
}

#[test]
#[should_panic = "lie within its image of 8 x 6, found 8 x 1 at column 1, row 0"]
fn a_crop_outside_the_image_panics() {
    apply(|parameters| {
        parameters.crop = CropBox {
            left: 1,
            top: 0,
            width: 8,
            height: 1,
        };
    });
}

#[test]
#[should_panic = "the factor of the contrast must be a number of at least 0 that fits in 32 bits"]
fn a_factor_that_is_no_number_panics() {
    apply(|parameters| parameters.jitter.as_mut().unwrap().contrast = f64::NAN);
}

#[test]
#[should_panic = "the rotation of the hue must be a number from -0.5 to 0.5, found 0.6"]
fn a_turn_of_more_than_half_a_circle_panics() {
    apply(|parameters| parameters.jitter.as_mut().unwrap().hue = 0.6);
}

#[test]
#[should_panic = "the standard deviation of a blur must be above 0 and finite, found 0"]
fn a_blur_without_deviation_panics() {
    apply(|parameters| parameters.blur_sigma = Some(0.0));
}
