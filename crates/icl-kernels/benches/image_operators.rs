//! How long the image kernels take, next to Burn's own operators and PyTorch's, on the layers of
//! ResNet-18 and on whole training steps. Run by `cargo bench -p icl-kernels --bench
//! image_operators`, with the names of the parts to run (`convolution`, `batch_norm`, `step_64`,
//! `step_28`) or none for all.
//!
//! PyTorch is measured through `scripts/peer/image_operators.py`, by the Python that the environment
//! variable `PYTHON` names, or `python3`; without it the column stays empty. All take turns, and the
//! least time of each counts. Nothing is asserted.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use burn::backend::{Autodiff, Flex};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Distribution, Tensor, TensorPrimitive};
use icl_kernels::image::{self, Window};
use icl_kernels::internals;

type B = Autodiff<Flex>;

const N: usize = 32;
const N_ROUNDS: usize = 3;
const N_RUNS: usize = 10;
const EPSILON: f64 = 1e-5;

fn main() -> Result<(), Box<dyn Error>> {
    let names: Vec<_> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let is_asked = |name: &str| names.is_empty() || names.iter().any(|asked| asked == name);
    let mut peer = Peer::start();
    println!("{:44} {:>9} {:>9} {:>9}", "ms", "kernel", "PyTorch", "Burn");
    if is_asked("convolution") {
        for case in convolutions() {
            convolution(&case, &mut peer)?;
        }
    }
    if is_asked("batch_norm") {
        for (side, channels) in [(32, 64), (16, 64), (8, 128), (4, 256), (2, 512)] {
            for has_residual in [false, true] {
                batch_norm([N, side, side, channels], has_residual, &mut peer)?;
            }
        }
    }
    if is_asked("step_64") {
        step(64, Stem::Large, &mut peer)?;
    }
    if is_asked("step_28") {
        step(28, Stem::Small, &mut peer)?;
    }
    Ok(())
}

/// PyTorch in a process of its own.
struct Peer(Option<(Child, ChildStdin, BufReader<ChildStdout>)>);

impl Peer {
    fn start() -> Self {
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../scripts/peer/image_operators.py"
        );
        let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
        let child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = child else {
            return Self(None);
        };
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Self(None);
        };
        let mut peer = Self(Some((child, input, BufReader::new(output))));
        let version = peer.ask(&format!("threads {}", rayon::current_num_threads()));
        match version {
            Some(version) => println!("PyTorch {version}"),
            None => peer = Self(None),
        }
        peer
    }

    fn ask(&mut self, case: &str) -> Option<String> {
        let (_, input, output) = self.0.as_mut()?;
        writeln!(input, "{case}").ok()?;
        let mut answer = String::new();
        let length = output.read_line(&mut answer).ok()?;
        (length > 0).then(|| answer.trim().to_owned())
    }

    /// The seconds of a case, none without PyTorch.
    fn seconds(&mut self, case: &str) -> Result<Vec<f64>, Box<dyn Error>> {
        match self.ask(case) {
            Some(answer) => Ok(answer
                .split_whitespace()
                .map(str::parse)
                .collect::<Result<_, _>>()?),
            None => Ok(Vec::new()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some((mut child, input, _)) = self.0.take() {
            // It ends with its input.
            drop(input);
            let _ = child.wait();
        }
    }
}

/// The least seconds of a few runs.
fn least<T>(mut run: impl FnMut() -> T) -> f64 {
    (0..N_RUNS)
        .map(|_| {
            let start = Instant::now();
            let made = run();
            let seconds = start.elapsed().as_secs_f64();
            drop(made);
            seconds
        })
        .fold(f64::INFINITY, f64::min)
}

/// A row for each of `names`, from the turns of each contender.
fn report(case: &str, names: &[&str], turns: [Vec<Vec<f64>>; 3]) {
    for (at, name) in names.iter().enumerate() {
        print!("{:44}", format!("{case} {name}"));
        for turns in &turns {
            let best = turns.iter().filter_map(|turn| turn.get(at));
            match best.copied().reduce(f64::min) {
                Some(seconds) => print!(" {:9.3}", seconds * 1e3),
                None => print!(" {:>9}", "-"),
            }
        }
        println!();
    }
}

fn random<A: Backend, const D: usize>(shape: [usize; D]) -> Tensor<A, D> {
    Tensor::random(shape, Distribution::Uniform(-1.0, 1.0), &Default::default())
}

struct Convolution {
    side: usize,
    c_in: usize,
    c_out: usize,
    window: Window,
}

/// Those of ResNet-18 on 64 x 64, and the largest on 28 x 28.
fn convolutions() -> Vec<Convolution> {
    let of = |side, [c_in, c_out]: [usize; 2], [size, stride, padding]: [usize; 3]| Convolution {
        side,
        c_in,
        c_out,
        window: Window {
            size,
            stride,
            padding,
        },
    };
    vec![
        of(64, [3, 64], [7, 2, 3]),
        of(16, [64, 64], [3, 1, 1]),
        of(16, [64, 128], [3, 2, 1]),
        of(16, [64, 128], [1, 2, 0]),
        of(8, [128, 128], [3, 1, 1]),
        of(8, [128, 256], [3, 2, 1]),
        of(8, [128, 256], [1, 2, 0]),
        of(4, [256, 256], [3, 1, 1]),
        of(4, [256, 512], [3, 2, 1]),
        of(4, [256, 512], [1, 2, 0]),
        of(2, [512, 512], [3, 1, 1]),
        of(28, [3, 64], [3, 1, 1]),
        of(28, [64, 64], [3, 1, 1]),
        of(14, [128, 128], [3, 1, 1]),
        of(7, [256, 256], [3, 1, 1]),
        of(4, [512, 512], [3, 1, 1]),
    ]
}

fn convolution(case: &Convolution, peer: &mut Peer) -> Result<(), Box<dyn Error>> {
    let Convolution {
        side,
        c_in,
        c_out,
        window,
    } = *case;
    let Window {
        size,
        stride,
        padding,
    } = window;
    let out = window.output(side);
    let x: Tensor<Flex, 4> = random([N, side, side, c_in]);
    let weight: Tensor<Flex, 4> = random([c_out, c_in, size, size]);
    let gradient: Tensor<Flex, 4> = random([N, out, out, c_out]);
    let options = || ConvOptions::new([stride; 2], [padding; 2], [1; 2], 1);
    let first = |t: &Tensor<Flex, 4>| {
        let t = t.clone().permute([0, 3, 1, 2]).into_primitive().tensor();
        Tensor::<Flex, 4>::from_primitive(TensorPrimitive::Float(t.to_contiguous()))
    };
    let (x_first, gradient_first) = (first(&x), first(&gradient));
    let of = |t: &Tensor<Flex, 4>| t.clone().into_primitive().tensor();
    let line = format!("convolution {N} {side} {c_in} {c_out} {size} {stride} {padding}");
    let mut turns: [Vec<Vec<f64>>; 3] = Default::default();
    for round in 0..N_ROUNDS {
        turns[0].push(vec![
            least(|| image::convolution(x.clone(), weight.clone(), window)),
            least(|| {
                let (gradient, weight) = (gradient.clone(), weight.clone());
                internals::convolution_input_gradient(gradient, weight, window, [side, side])
            }),
            least(|| internals::convolution_weight_gradient(x.clone(), gradient.clone(), window)),
        ]);
        turns[1].push(peer.seconds(&line)?);
        if round > 0 {
            continue;
        }
        let (x, weight, gradient) = (of(&x_first), of(&weight), of(&gradient_first));
        use burn::tensor::ops::ModuleOps;
        turns[2].push(vec![
            least(|| Flex::conv2d(x.clone(), weight.clone(), None, options())),
            least(|| {
                let (x, weight, gradient) = (x.clone(), weight.clone(), gradient.clone());
                Flex::conv2d_x_backward(x, weight, gradient, options())
            }),
            least(|| {
                let (x, weight, gradient) = (x.clone(), weight.clone(), gradient.clone());
                Flex::conv2d_weight_backward(x, weight, gradient, options())
            }),
        ]);
    }
    let case = format!("{size}x{size}/{stride} {side}² {c_in}→{c_out}");
    report(&case, &["forward", "by input", "by weight"], turns);
    Ok(())
}

fn batch_norm(
    shape: [usize; 4],
    has_residual: bool,
    peer: &mut Peer,
) -> Result<(), Box<dyn Error>> {
    let [_, side, _, channels] = shape;
    let x: Tensor<Flex, 4> = random(shape);
    let gradient: Tensor<Flex, 4> = random(shape);
    let added = has_residual.then(|| random::<Flex, 4>(shape));
    let affine = || [random([channels]), random([channels])];
    let line = format!(
        "batch_norm {N} {side} {channels} {}",
        usize::from(has_residual)
    );
    let mut turns: [Vec<Vec<f64>>; 3] = Default::default();
    for _ in 0..N_ROUNDS {
        let forward =
            || internals::batch_norm_saving(x.clone(), affine(), added.clone(), EPSILON, true);
        let (_, saved) = forward();
        turns[0].push(vec![
            least(forward),
            least(|| internals::batch_norm_backward(saved.clone(), gradient.clone())),
        ]);
        turns[1].push(peer.seconds(&line)?);
    }
    let added = if has_residual { " + residual" } else { "" };
    let case = format!("batch norm{added}, ReLU {side}² {channels}");
    report(&case, &["forward", "backward"], turns);
    Ok(())
}

#[derive(Clone, Copy)]
enum Stem {
    /// 7 x 7 with stride 2, and a pooling.
    Large,
    /// 3 x 3.
    Small,
}

/// A convolution, γ and β.
type Unit = (Tensor<B, 4>, [Tensor<B, 1>; 2]);

/// The parameters of ResNet-18 without its last layer.
struct Parameters {
    stem: Unit,
    blocks: Vec<(Unit, Unit, Option<Unit>)>,
}

impl Parameters {
    fn draw(stem: Stem) -> Self {
        let unit = |c_in: usize, c_out: usize, size: usize| -> Unit {
            let scale = (6.0 / (c_in * size * size) as f64).sqrt();
            let weight = random::<B, 4>([c_out, c_in, size, size]) * scale;
            let ones = Tensor::ones([c_out], &Default::default());
            let zeros = Tensor::zeros([c_out], &Default::default());
            let track = |t: Tensor<B, 1>| t.detach().require_grad();
            (weight.detach().require_grad(), [track(ones), track(zeros)])
        };
        let mut c_in = 64;
        let blocks = [64, 64, 128, 128, 256, 256, 512, 512].map(|c_out| {
            let shortcut = (c_in != c_out).then(|| unit(c_in, c_out, 1));
            let block = (unit(c_in, c_out, 3), unit(c_out, c_out, 3), shortcut);
            c_in = c_out;
            block
        });
        Self {
            stem: match stem {
                Stem::Large => unit(3, 64, 7),
                Stem::Small => unit(3, 64, 3),
            },
            blocks: blocks.into(),
        }
    }

    fn forward(&self, x: Tensor<B, 4>, stem: Stem) -> Tensor<B, 4> {
        let window = |size: usize, stride| Window {
            size,
            stride,
            padding: size / 2,
        };
        let apply = |x, (weight, affine): &Unit, window, added, relu| {
            let y = image::convolution(x, weight.clone(), window);
            image::batch_norm(y, affine.clone(), added, EPSILON, relu)
        };
        let mut x = match stem {
            Stem::Large => {
                let y = apply(x, &self.stem, window(7, 2), None, true);
                image::max_pool(y, window(3, 2))
            }
            Stem::Small => apply(x, &self.stem, window(3, 1), None, true),
        };
        for (first, second, shortcut) in &self.blocks {
            let stride = if shortcut.is_some() { 2 } else { 1 };
            let y = apply(x.clone(), first, window(3, stride), None, true);
            let added = match shortcut {
                Some(unit) => apply(x, unit, window(1, stride), None, false),
                None => x,
            };
            x = apply(y, second, window(3, 1), Some(added), true);
        }
        x.mean_dim(1).mean_dim(2)
    }

    fn update(&mut self, grads: &<B as AutodiffBackend>::Gradients) {
        fn step<const D: usize>(t: &mut Tensor<B, D>, grads: &<B as AutodiffBackend>::Gradients) {
            if let Some(gradient) = t.grad(grads) {
                let moved = t.clone().inner() - gradient * 1e-3;
                *t = Tensor::from_inner(moved).require_grad();
            }
        }
        let blocks = self.blocks.iter_mut();
        let units = blocks
            .flat_map(|(first, second, shortcut)| [Some(first), Some(second), shortcut.as_mut()]);
        for (weight, affine) in units.flatten().chain([&mut self.stem]) {
            step(weight, grads);
            affine.iter_mut().for_each(|t| step(t, grads));
        }
    }
}

fn step(side: usize, stem: Stem, peer: &mut Peer) -> Result<(), Box<dyn Error>> {
    let mut parameters = Parameters::draw(stem);
    let x: Tensor<B, 4> = random([N, side, side, 3]);
    let name = match stem {
        Stem::Large => "large",
        Stem::Small => "small",
    };
    let mut turns: [Vec<Vec<f64>>; 3] = Default::default();
    let mut parts = [f64::INFINITY; 3];
    for _ in 0..N_ROUNDS {
        turns[0].push(vec![least(|| {
            let start = Instant::now();
            let loss = parameters.forward(x.clone(), stem).powi_scalar(2).mean();
            let forward = start.elapsed().as_secs_f64();
            let grads = loss.backward();
            let backward = start.elapsed().as_secs_f64() - forward;
            parameters.update(&grads);
            let update = start.elapsed().as_secs_f64() - forward - backward;
            for (part, seconds) in parts.iter_mut().zip([forward, backward, update]) {
                *part = part.min(seconds);
            }
        })]);
        turns[1].push(peer.seconds(&format!("step {N} {side} {name}"))?);
    }
    report(&format!("ResNet-18 {side}², {name} stem"), &["step"], turns);
    let [forward, backward, update] = parts.map(|seconds| seconds * 1e3);
    println!("    forward {forward:.1}, backward {backward:.1}, update {update:.1}");
    Ok(())
}
