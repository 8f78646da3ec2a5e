//! Image views per second of one thread, compared with torchvision's in the same run.
//!
//! `PYTHON` names a Python with torchvision (default: `python3`); without one, the comparison is
//! skipped and the output says so. Nothing is asserted, because the speed depends on the machine.

use std::error::Error;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use icl_core::Seed;
use icl_data::{Image, ImageView, ImageViewsConfig, Jitter, JitterStep, ViewParameters};
use rand::RngExt;

/// Duration of a round.
const ROUND: Duration = Duration::from_millis(200);
const N_ROUNDS: usize = 5;

/// Width, height, channels of the images, and side of the views.
const CASES: [[usize; 4]; 4] = [
    [340, 256, 3, 224],
    [340, 256, 3, 64],
    [32, 32, 3, 32],
    [28, 28, 1, 28],
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("views per second of one thread: the best of {N_ROUNDS} rounds");
    for case in CASES {
        let [width, height, channels, size] = case;
        let own = own(case);
        let label = format!("{width} x {height} x {channels} -> {size}");
        match peer(case) {
            Some(peer) => println!(
                "{label}: {own:.0}, torchvision {peer:.0}, ratio {:.2}",
                own / peer
            ),
            None => println!("{label}: {own:.0}, torchvision skipped: no Python that has it"),
        }
        parts(case);
    }
    Ok(())
}

/// Makes an image of slopes, the same as in the script for torchvision.
fn image([width, height, channels, _]: [usize; 4]) -> Arc<Image> {
    let mut rng = Seed::new(0).rng();
    let pixels = (0..width * height * channels).map(|at| {
        let (x, y) = (at / channels % width, at / channels / width);
        let slope = (3 * x + 2 * y + 170 * (at % channels)) % 510;
        ((3 * slope.abs_diff(255) + rng.random_range(0..255_u32) as usize) / 4) as u8
    });
    Arc::new(Image::new(width, height, channels, pixels.collect()))
}

/// Returns the largest number of calls per second of all rounds.
fn rate(mut call: impl FnMut(u64)) -> f64 {
    let mut best = 0.0_f64;
    for _ in 0..N_ROUNDS {
        let (begin, mut n_calls) = (Instant::now(), 0);
        while begin.elapsed() < ROUND {
            for _ in 0..10 {
                call(n_calls);
                n_calls += 1;
            }
        }
        best = best.max(n_calls as f64 / begin.elapsed().as_secs_f64());
    }
    best
}

fn own(case: [usize; 4]) -> f64 {
    let image = image(case);
    let views = ImageViewsConfig::new(case[3]).init();
    let mut slot = ImageView::default();
    rate(|at| views.view_into(&image, &mut Seed::new(1).at(at).rng(), &mut slot))
}

/// Prints the time of each part of a view: the view with this part only, minus the bare view.
fn parts(case: [usize; 4]) {
    type Change = fn(&mut ViewParameters, &mut Jitter);
    let image = image(case);
    let views = ImageViewsConfig::new(case[3]).init();
    let mut slot = ImageView::default();
    let mut microseconds = |change: Change| {
        let rate = rate(|at| {
            let mut parameters = views.draw(&image, &mut Seed::new(1).at(at).rng());
            parameters.grey = false;
            let mut jitter = Jitter {
                order: JitterStep::ALL,
                brightness: 1.0,
                contrast: 1.0,
                saturation: 1.0,
                hue: 0.0,
            };
            change(&mut parameters, &mut jitter);
            parameters.jitter = Some(jitter);
            views.apply(&image, &parameters, &mut slot);
        });
        1e6 / rate
    };
    let bare = microseconds(|_, _| {});
    print!("  microseconds: resizing, flip and normalisation {bare:.1}");
    let parts: [(&str, Change); 6] = [
        ("brightness", |_, jitter| jitter.brightness = 1.3),
        ("contrast", |_, jitter| jitter.contrast = 1.3),
        ("saturation", |_, jitter| jitter.saturation = 1.3),
        ("hue", |_, jitter| jitter.hue = 0.3),
        ("grey", |parameters, _| parameters.grey = true),
        ("blur", |parameters, _| parameters.blur_sigma = Some(1.0)),
    ];
    for (name, change) in parts {
        print!(", {name} {:.1}", microseconds(change) - bare);
    }
    println!();
}

/// Returns the number that `scripts/peer/image_views.py` prints for this case, if it runs.
fn peer(case: [usize; 4]) -> Option<f64> {
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scripts/peer/image_views.py"
    );
    let output = Command::new(python)
        .arg(script)
        .args(case.map(|number| number.to_string()))
        .output()
        .ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
