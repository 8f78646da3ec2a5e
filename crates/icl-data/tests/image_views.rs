//! Image views against torchvision, by the record of `scripts/reference/image_views.py`.

use crate::image_record::{Distribution, Picture, Samples, record};
use icl_core::Seed;
use icl_data::{
    CropBox, Image, ImageView, ImageViews, ImageViewsConfig, Jitter, JitterStep, ViewParameters,
};

/// Views whose values are the bytes / 255.
fn views(size: usize) -> ImageViews {
    ImageViewsConfig::new(size)
        .with_mean([0.0; 3])
        .with_std([1.0; 3])
        .init()
}

/// The whole image without changes.
fn unchanged(image: &Image) -> ViewParameters {
    ViewParameters {
        crop: CropBox {
            left: 0,
            top: 0,
            width: image.width(),
            height: image.height(),
        },
        grey: false,
        jitter: None,
        blur_sigma: None,
        flip: false,
    }
}

fn jitter(order: [usize; 4], factors: [f64; 4]) -> Jitter {
    let [brightness, contrast, saturation, hue] = factors;
    Jitter {
        order: order.map(|step| JitterStep::ALL[step]),
        brightness,
        contrast,
        saturation,
        hue,
    }
}

fn bytes(view: &ImageView) -> Vec<u8> {
    let values = view.values().iter();
    values.map(|value| (value * 255.0).round() as u8).collect()
}

/// The bytes `[channels, size, size]` of the view with these parameters.
fn made(image: &Image, size: usize, parameters: &ViewParameters) -> Vec<u8> {
    let mut view = ImageView::default();
    views(size).apply(image, parameters, &mut view);
    bytes(&view)
}

/// Differences from torchvision's bytes, in levels.
#[derive(Debug)]
struct Distance {
    greatest: u8,
    mean: f64,
    /// The difference of the means over all pixels, recorded or not.
    of_means: f64,
}

fn distance(found: &[u8], channels: usize, expected: &Samples) -> Distance {
    let area = found.len() / channels;
    let size = area.isqrt();
    let plane = |plane: &[u8]| -> Vec<u8> {
        let rows = plane.chunks(size).step_by(expected.stride);
        rows.flat_map(|row| row.iter().step_by(expected.stride))
            .copied()
            .collect()
    };
    let sampled: Vec<u8> = found.chunks(area).flat_map(plane).collect();
    let recorded = expected.bytes();
    assert_eq!(sampled.len(), recorded.len());
    let distances = || sampled.iter().zip(&recorded).map(|(a, b)| a.abs_diff(*b));
    let total: f64 = distances().map(f64::from).sum();
    let mean = found.iter().copied().map(f64::from).sum::<f64>() / found.len() as f64;
    Distance {
        greatest: distances().max().unwrap(),
        mean: total / sampled.len() as f64,
        of_means: (mean - expected.mean).abs(),
    }
}

#[test]
fn pictures_are_those_of_the_script() {
    for case in record().pictures {
        let image = case.picture.draw();
        let views = made_planes(&image);
        assert_eq!(crc32fast::hash(&views), case.crc32);
    }
}

/// The planes `[channels, height, width]` of an image.
fn made_planes(image: &Image) -> Vec<u8> {
    let channels = image.channels();
    (0..channels)
        .flat_map(|channel| image.pixels().iter().skip(channel).step_by(channels))
        .copied()
        .collect()
}

#[test]
fn each_step_of_the_jitter_equals_torchvision_bit_by_bit() {
    for case in record().single_steps {
        let image = case.picture.draw();
        let mut factors = [1.0, 1.0, 1.0, 0.0];
        factors[case.step] = case.factor;
        let parameters = ViewParameters {
            jitter: Some(jitter([0, 1, 2, 3], factors)),
            ..unchanged(&image)
        };
        let found = made(&image, image.width(), &parameters);
        assert_eq!(crc32fast::hash(&found), case.crc32, "{case:?}");
    }
}

#[test]
fn all_orders_with_grey_and_flip_equal_torchvision_bit_by_bit() {
    for case in record().orders {
        let image = case.picture.draw();
        let parameters = ViewParameters {
            grey: case.grey,
            jitter: Some(jitter(case.order, case.factors)),
            flip: case.flip,
            ..unchanged(&image)
        };
        let found = made(&image, image.width(), &parameters);
        assert_eq!(crc32fast::hash(&found), case.crc32, "{case:?}");
    }
}

#[test]
fn every_colour_there_is_changes_as_in_torchvision() {
    for case in record().all_colours {
        let mut hash = crc32fast::Hasher::new();
        for square in 0..64_u32 {
            let codes = square << 18..(square + 1) << 18;
            let pixels = codes.flat_map(|code| [(code >> 16) as u8, (code >> 8) as u8, code as u8]);
            let image = Image::new(512, 512, 3, pixels.collect());
            let (saturation, hue) = match case.name.as_str() {
                "saturation" => (case.factor, 0.0),
                "hue" => (1.0, case.factor),
                _ => (1.0, 0.0),
            };
            let parameters = ViewParameters {
                grey: case.name == "grey",
                jitter: Some(jitter([0, 1, 2, 3], [1.0, 1.0, saturation, hue])),
                ..unchanged(&image)
            };
            hash.update(&made(&image, 512, &parameters));
        }
        assert_eq!(hash.finalize(), case.crc32, "{case:?}");
    }
}

#[test]
fn resized_crops_equal_torchvision_to_one_level() {
    for case in record().crops {
        let image = case.picture.draw();
        let [left, top, width, height] = case.crop;
        let parameters = ViewParameters {
            crop: CropBox {
                left,
                top,
                width,
                height,
            },
            ..unchanged(&image)
        };
        let found = made(&image, case.size, &parameters);
        let distance = distance(&found, image.channels(), &case.samples);
        println!("{:?} {:?}: {distance:?}", case.picture, case.crop);
        assert!(distance.greatest <= 1 && distance.mean < 0.3 && distance.of_means < 0.05);
    }
}

#[test]
fn plain_views_equal_torchvision_to_one_level() {
    use icl_core::Views;
    for case in record().plains {
        let image = std::sync::Arc::new(case.picture.draw());
        let found = bytes(&views(case.size).plain(&image));
        let distance = distance(&found, image.channels(), &case.samples);
        println!("{:?} {}: {distance:?}", case.picture, case.size);
        assert!(distance.greatest <= 1 && distance.mean < 0.3 && distance.of_means < 0.05);
    }
}

#[test]
fn blurred_views_equal_torchvision_to_one_level() {
    for case in record().blurs {
        let image = case.picture.draw();
        let parameters = ViewParameters {
            blur_sigma: Some(case.sigma),
            ..unchanged(&image)
        };
        let found = made(&image, image.width(), &parameters);
        let distance = distance(&found, image.channels(), &case.samples);
        println!("{:?} {}: {distance:?}", case.picture, case.sigma);
        assert!(distance.greatest <= 1 && distance.mean < 1e-3 && distance.of_means < 1e-3);
    }
}

#[test]
fn whole_chains_are_close_to_torchvision() {
    for case in record().chains {
        let image = case.picture.draw();
        let [left, top, width, height] = case.crop;
        let parameters = ViewParameters {
            crop: CropBox {
                left,
                top,
                width,
                height,
            },
            grey: case.grey,
            jitter: Some(jitter(case.order, case.factors)),
            blur_sigma: case.sigma,
            flip: case.flip,
        };
        let found = made(&image, case.size, &parameters);
        let distance = distance(&found, image.channels(), &case.samples);
        println!("{:?} {}: {distance:?}", case.picture, case.size);
        // A level more or less in the resized view can turn the hue of a dull pixel far.
        assert!(distance.mean < 0.3 && distance.of_means < 0.1);
    }
}

/// The greatest difference between two empirical distribution functions, by their thresholds.
fn kolmogorov_smirnov(values: &[f64], expected: &Distribution) -> f64 {
    let n = values.len() as f64;
    let thresholds = expected.thresholds();
    let differences = thresholds.zip(&expected.counts).map(|(threshold, &count)| {
        let found = values.iter().filter(|&&value| value <= threshold).count();
        (found as f64 - count as f64).abs() / n
    });
    differences.fold(0.0, f64::max)
}

/// Distance that two samples of 20,000 from one distribution exceed in 1 of 1000 cases (Smirnov, 1948).
const SMIRNOV_LIMIT: f64 = 0.0195;

#[test]
fn crops_are_distributed_as_in_torchvision() {
    let record = record();
    for (stream, case) in (0..).zip(&record.drawn_crops) {
        let Picture { width, height, .. } = case.picture;
        let image = Image::new(width, height, 1, vec![0; width * height]);
        let views = ImageViewsConfig::new(8)
            .with_scale(case.scale)
            .with_ratio(case.ratio)
            .init();
        let mut rng = Seed::new(1).child("crops").at(stream).rng();
        let crops: Vec<CropBox> = (0..record.n_draws)
            .map(|_| views.draw(&image, &mut rng).crop)
            .collect();
        let share =
            |first: usize, length: usize, side: usize| first as f64 / (side - length).max(1) as f64;
        let all = |value: &dyn Fn(&CropBox) -> f64| crops.iter().map(value).collect::<Vec<_>>();
        let area = (width * height) as f64;
        for (name, values, expected) in [
            (
                "area",
                all(&|c| (c.width * c.height) as f64 / area),
                &case.area,
            ),
            (
                "log ratio",
                all(&|c| (c.width as f64 / c.height as f64).ln()),
                &case.log_ratio,
            ),
            ("left", all(&|c| share(c.left, c.width, width)), &case.left),
            ("top", all(&|c| share(c.top, c.height, height)), &case.top),
        ] {
            let found = kolmogorov_smirnov(&values, expected);
            println!("{width} x {height}, {name}: {found}");
            assert!(found < SMIRNOV_LIMIT, "{width} x {height}, {name}: {found}");
        }
        let centre = &case.centre;
        let in_centre = |c: &&CropBox| [c.left, c.top, c.width, c.height] == centre.crop;
        let found = crops.iter().filter(in_centre).count();
        println!(
            "{width} x {height}, centre: {found}, {} there",
            centre.count
        );
        // The difference of two binomial counts has at most twice the variance of one.
        let deviation = (2.0 * centre.count as f64).sqrt();
        assert!(found.abs_diff(centre.count) as f64 <= 3.3 * deviation);
    }
}

#[test]
fn jitters_are_distributed_as_in_torchvision() {
    let record = record();
    let expected = &record.drawn_jitters;
    let [brightness, contrast, saturation, hue] = expected.strengths;
    let views = ImageViewsConfig::new(8)
        .with_brightness(brightness)
        .with_contrast(contrast)
        .with_saturation(saturation)
        .with_hue(hue)
        .init();
    let image = Image::new(8, 8, 1, vec![0; 64]);
    let mut rng = Seed::new(1).child("jitters").rng();
    let jitters: Vec<Jitter> = (0..record.n_draws)
        .map(|_| views.draw(&image, &mut rng).jitter.unwrap())
        .collect();
    let columns: [fn(&Jitter) -> f64; 4] = [
        |jitter| jitter.brightness,
        |jitter| jitter.contrast,
        |jitter| jitter.saturation,
        |jitter| jitter.hue,
    ];
    for (column, expected) in columns.into_iter().zip(&expected.factors) {
        let values: Vec<f64> = jitters.iter().map(column).collect();
        let found = kolmogorov_smirnov(&values, expected);
        println!("factor: {found}");
        assert!(found < SMIRNOV_LIMIT, "{found}");
    }
    let mut counts = std::collections::HashMap::new();
    for jitter in &jitters {
        *counts.entry(jitter.order).or_insert(0) += 1;
    }
    let counts: Vec<usize> = counts.into_values().collect();
    assert_eq!(counts.len(), 24);
    for counts in [&counts, &expected.order_counts] {
        let mean = record.n_draws as f64 / 24.0;
        let chi_squared: f64 = counts
            .iter()
            .map(|&count| (count as f64 - mean).powi(2) / mean)
            .sum();
        println!("chi squared: {chi_squared}");
        // The 0.999 quantile of 23 degrees of freedom.
        assert!(chi_squared < 49.73, "{chi_squared}");
    }
}
