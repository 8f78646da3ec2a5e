//! Laws of groups: what each operation returns, for every size and at every member.

use std::time::Duration;

use burn::tensor::{DType, Tensor, TensorData};
use icl_core::testing::TestBackend;
use icl_core::{
    Alone, Error, ErrorKind, Group, Seed, Threads, exact_nce_i_rows, exact_nce_i_rows_of_group,
    exact_risk_of_group, exact_risk_with_rows,
};
use rand::RngExt;

/// Runs a function at every member of a group of threads, and returns the results in the order of the ranks.
fn at_all<T: Send>(size: usize, run: impl Fn(Threads) -> T + Sync) -> Vec<T> {
    let run = &run;
    std::thread::scope(|scope| {
        let members = Threads::group(size).into_iter();
        let threads: Vec<_> = members
            .map(|member| scope.spawn(move || run(member)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

/// Values of a member: uneven parts, that of member 1 empty, with numbers whose sum depends on their order.
fn values(rank: usize, n: usize) -> Vec<f32> {
    let value = |at: usize| 10_f32.powi((rank * 7 + at) as i32 % 9 - 4) * (1.0 + rank as f32);
    (0..n).map(value).collect()
}

fn uneven(rank: usize) -> Vec<f32> {
    values(rank, if rank == 1 { 0 } else { 3 + 2 * rank })
}

#[test]
fn one_member_gets_what_it_gives() {
    let own = values(0, 5);
    assert_eq!(Alone.gather(&own).unwrap().values(), own);
    let mut sum = own.clone();
    Alone.sum(&mut sum).unwrap();
    assert_eq!(sum, own);
    let mut bytes = vec![1, 2];
    Alone.broadcast(0, &mut bytes).unwrap();
    assert_eq!(bytes, [1, 2]);
    assert!(Alone.any(true).unwrap() && !Alone.any(false).unwrap());
}

#[test]
fn gathered_values_stand_in_the_order_of_the_ranks() {
    for size in [1, 2, 3, 5] {
        for gathered in at_all(size, |member| {
            member.gather(&uneven(member.rank())).unwrap()
        }) {
            for rank in 0..size {
                assert_eq!(gathered.of(rank), uneven(rank));
            }
            let all: Vec<f32> = (0..size).flat_map(uneven).collect();
            assert_eq!(gathered.values(), all);
        }
        let doubles = at_all(size, |member| {
            member.gather_f64(&vec![member.rank() as f64; member.rank()])
        });
        for gathered in doubles {
            let gathered = gathered.unwrap();
            assert!((0..size).all(|rank| gathered.of(rank) == vec![rank as f64; rank]));
        }
    }
}

#[test]
fn sums_are_taken_in_the_order_of_the_ranks_and_equal_to_the_bit() {
    for size in [1, 2, 3, 5] {
        let mut expected = values(0, 40);
        for rank in 1..size {
            for (sum, value) in expected.iter_mut().zip(values(rank, 40)) {
                *sum += value;
            }
        }
        let sums = at_all(size, |member| {
            // Members arrive in another order than that of their ranks.
            std::thread::sleep(Duration::from_millis(5 * (size - member.rank()) as u64));
            let mut sum = values(member.rank(), 40);
            member.sum(&mut sum).unwrap();
            sum
        });
        for sum in sums {
            assert_eq!(sum, expected);
        }
    }
}

#[test]
fn bytes_of_any_member_reach_all() {
    for size in [1, 2, 3, 5] {
        for root in 0..size {
            let bytes = at_all(size, |member| {
                let mut bytes = vec![member.rank() as u8; 3 + member.rank()];
                member.broadcast(root, &mut bytes).unwrap();
                bytes
            });
            assert_eq!(bytes, vec![vec![root as u8; 3 + root]; size]);
        }
    }
}

#[test]
fn one_flag_decides_for_all() {
    for size in [1, 2, 3, 5] {
        for flagged in 0..=size {
            let found = at_all(size, |member| member.any(member.rank() == flagged).unwrap());
            assert_eq!(found, vec![flagged < size; size]);
        }
    }
}

/// Operations follow each other without a pause, of which a barrier that forgets who has left it loses some.
#[test]
fn a_thousand_operations_in_a_row_stay_apart() {
    for size in [2, 3, 5] {
        let counts = at_all(size, |member| {
            let mut n_right = 0;
            for round in 0..1000_u32 {
                let own = vec![round as f32; (round as usize + member.rank()) % 4];
                let gathered = member.gather(&own).unwrap();
                let is_right = (0..size).all(|rank| {
                    gathered.of(rank) == vec![round as f32; (round as usize + rank) % 4]
                });
                let mut sum = [f64::from(round)];
                member.sum_f64(&mut sum).unwrap();
                n_right += u32::from(is_right && sum[0] == f64::from(round) * size as f64);
            }
            n_right
        });
        assert_eq!(counts, vec![1000; size]);
    }
}

#[test]
fn a_member_that_leaves_wakes_the_others() {
    let results = at_all(3, |member| {
        if member.rank() == 1 {
            std::thread::sleep(Duration::from_millis(20));
            return Err(Error::message("an error of its own"));
        }
        member.any(false)
    });
    for result in [&results[0], &results[2]] {
        let error = result.as_ref().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Left);
        let expected = "the group: found that member 1 has left it, expected all members until the end of the run";
        assert_eq!(error.to_string(), expected);
    }
}

/// A member may end after the last operation while others still take its result.
#[test]
fn a_member_that_is_done_takes_nothing_from_the_others() {
    for _ in 0..200 {
        for found in at_all(3, |member| member.any(true)) {
            assert_eq!(found, Ok(true));
        }
    }
}

#[test]
fn members_out_of_step_are_told_apart() {
    let results = at_all(3, |member| match member.rank() {
        2 => member.gather(&[1.0]).map(drop),
        _ => member.sum(&mut [1.0, 2.0]),
    });
    let expected = "the group: found a gathering of numbers in single precision at member 2, \
                    expected a sum of 2 numbers in single precision as at member 0";
    assert_eq!(results[0].clone().unwrap_err().to_string(), expected);
    assert!(results.iter().all(Result::is_err));
    let lengths = at_all(2, |member| member.sum(&mut vec![0.0; 2 + member.rank()]));
    let error = lengths[1].as_ref().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Group);
    assert!(error.found().ends_with(" at member 0"), "{error}");
    let precisions = at_all(2, |member| match member.rank() {
        0 => member.sum(&mut [0.0]),
        _ => member.sum_f64(&mut [0.0]),
    });
    assert!(precisions.iter().all(Result::is_err));
}

/// More chunks of rows than members, a last one that is not full, and fewer chunks than members.
#[test]
fn members_that_share_the_rows_get_the_exact_risk_of_one() {
    for (n_old, n) in [(2100, 2700), (5, 9)] {
        for dtype in [DType::F32, DType::F64] {
            let mut rng = Seed::new(18).rng();
            let mut draw = || {
                let values: Vec<f64> = (0..n * 4).map(|_| rng.random_range(-1.0..1.0)).collect();
                TensorData::new(values, [n, 4]).convert_dtype(dtype)
            };
            let (anchors, positives) = (draw(), draw());
            let embeddings = || {
                let of = |data: &TensorData| {
                    Tensor::<TestBackend, 2>::from_data(data.clone(), (&Default::default(), dtype))
                };
                (of(&anchors), of(&positives))
            };
            let (a, p) = embeddings();
            let risk = exact_risk_with_rows(a.clone(), p.clone(), n_old, 0.2, 31.0);
            let rows = exact_nce_i_rows(a, p, 0.2, 31.0);
            for size in [2, 3, 5] {
                for (of_member, rows_of_member) in at_all(size, |member| {
                    let (a, p) = embeddings();
                    let risk =
                        exact_risk_of_group(&member, a.clone(), p.clone(), (n_old, 1.0), 0.2, 31.0);
                    let rows = exact_nce_i_rows_of_group(&member, a, p, 0.2, 31.0);
                    (risk.unwrap(), rows.unwrap())
                }) {
                    assert_eq!(of_member, risk, "{size} members, {n} rows, {dtype:?}");
                    assert_eq!(rows_of_member, rows);
                }
            }
        }
    }
}
