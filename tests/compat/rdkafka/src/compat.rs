//! How checks are named after features, run and told of: "client NAME VERSION", a line for each check, and
//! "N passed, N failed, N skipped" (tools/compat-table reads them).
use std::collections::HashMap;
use std::sync::{mpsc, Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub const LIMIT: Duration = Duration::from_secs(30); // of each wait
const AT_ONCE: usize = 5; // checks mostly wait

pub enum Check {
    Do(fn()), // panics where it fails
    Skip(&'static str),
}

pub fn bootstrap() -> String {
    std::env::args()
        .nth(1)
        .expect("usage: checks BOOTSTRAP [FEATURE…]")
}

/// A name that nobody else has.
pub fn fresh(prefix: &str) -> String {
    static LAST: Mutex<u128> = Mutex::new(0);
    let mut last = LAST.lock().unwrap();
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos();
    *last = now.max(*last + 1);
    format!("{prefix}-{}-{}", std::process::id(), *last)
}

/// Asks again until it holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < end, "not in time: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn chosen(feature: &str) -> bool {
    let mut names = std::env::args().skip(2).peekable();
    names.peek().is_none()
        || names.any(|name| feature == name || feature.starts_with(&format!("{name}.")))
}

/// Why it failed, if it did.
fn try_it(check: fn()) -> Option<String> {
    let cause = thread::spawn(check).join().err()?;
    let text = cause.downcast_ref::<String>().cloned();
    let text = text.or_else(|| cause.downcast_ref::<&str>().map(|text| text.to_string()));
    Some(
        text.unwrap_or_default()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
    )
}

pub fn run(client: &str, version: &str, checks: &[(&'static str, Check)]) -> bool {
    println!("client {client} {version}");
    let checks: Vec<_> = checks
        .iter()
        .filter(|(feature, _)| chosen(feature))
        .collect();
    let waiting = checks
        .iter()
        .rev()
        .filter_map(|(feature, check)| match check {
            Check::Do(check) => Some((*feature, *check)),
            Check::Skip(_) => None,
        });
    let waiting = Arc::new(Mutex::new(waiting.collect::<Vec<_>>()));
    let (sender, done) = mpsc::channel();
    for _ in 0..AT_ONCE {
        let (waiting, sender) = (waiting.clone(), sender.clone());
        thread::spawn(move || loop {
            let Some((feature, check)) = waiting.lock().unwrap().pop() else {
                return;
            };
            sender.send((feature, try_it(check))).unwrap();
        });
    }
    drop(sender);
    let results: HashMap<_, _> = done.into_iter().collect();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for (feature, check) in checks {
        if let Check::Skip(why) = check {
            skipped += 1;
            println!("skipped {feature}: {why}");
        } else if let Some(why) = &results[feature] {
            failed += 1;
            println!("failed {feature}: {why}");
        } else {
            passed += 1;
            println!("passed {feature}");
        }
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    failed == 0 && passed > 0
}
