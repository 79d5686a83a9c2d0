//! The contestant kube-rs: a watcher that fills the store of a reflector, and one consumer of the stream. It takes
//! the arguments of the contestants in Node and prints the same line of JSON.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Pod};
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Client, Config, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

/// Counts the bytes that are allocated.
struct Counting;

static ALLOCATED: AtomicU64 = AtomicU64::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size() as u64, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const FIRST_VERSION: u64 = 1_000_000_000;
const WRITTEN: &str = "bench.example.com/written";

/// Receives the events, and knows when the last one has arrived.
#[derive(Default)]
struct Handler {
    state: Mutex<Seen>,
    arrived: Notify,
    synced: Notify,
}

#[derive(Default)]
struct Seen {
    last: String,
    awaited: String,
    latencies: Option<Vec<u64>>,
}

impl Handler {
    fn on_event<K: ResourceExt>(&self, object: &K) {
        let version = object.resource_version().unwrap_or_default();
        let mut seen = self.state.lock().unwrap();
        if let Some(latencies) = &mut seen.latencies {
            let written = object.annotations().get(WRITTEN).and_then(|text| text.parse().ok());
            latencies.push(monotonic_us().saturating_sub(written.unwrap_or(0)));
        }
        if version == seen.awaited {
            self.arrived.notify_one();
        }
        seen.last = version;
    }
}

fn monotonic_us() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1000
}

fn cpu_ms() -> f64 {
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let ms = |time: libc::timeval| time.tv_sec as f64 * 1000.0 + time.tv_usec as f64 / 1000.0;
    ms(usage.ru_utime) + ms(usage.ru_stime)
}

/// A field of `/proc/self/status` in MB.
fn memory_mb(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    let kb = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kb.unwrap_or(f64::NAN) / 1024.0
}

fn settled_rss_mb() -> f64 {
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
    memory_mb("VmRSS")
}

fn reset_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// A request to the server besides those of the watcher.
async fn ask(client: &Client, method: &str, path: &str) -> Result<Value> {
    let request = http::Request::builder().method(method).uri(path).body(Vec::new())?;
    Ok(client.request::<Value>(request).await?)
}

/// Requests events, and returns when the handler has received the last one.
async fn play(client: &Client, handler: &Handler, query: &str) -> Result<()> {
    let answer = ask(client, "POST", &format!("/play?{query}")).await?;
    let last = answer["last"].as_str().context("play returned no version")?.to_string();
    {
        let mut seen = handler.state.lock().unwrap();
        // The last event may arrive before the response that names it has been read.
        if seen.last == last {
            return Ok(());
        }
        seen.awaited = last;
    }
    handler.arrived.notified().await;
    Ok(())
}

/// Fails unless the store holds what the server holds, so that nobody is fast because it loses events.
async fn verify<K>(client: &Client, store: &reflector::Store<K>) -> Result<()>
where
    K: Resource + Clone + 'static,
    K::DynamicType: Eq + Hash + Clone,
{
    let held = store.state();
    let version = |object: &Arc<K>| object.resource_version()?.parse::<u64>().ok();
    let sum: u64 = held.iter().filter_map(version).map(|version| version - FIRST_VERSION).sum();
    let state = ask(client, "GET", "/state").await?;
    if state["count"].as_u64() != Some(held.len() as u64) || state["sum"].as_u64() != Some(sum) {
        bail!("kube-rs holds {} objects with versions of {sum}, the server {state}", held.len());
    }
    Ok(())
}

async fn contend<K>(options: HashMap<String, String>, kind: K::DynamicType) -> Result<Value>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
    K::DynamicType: Eq + Hash + Clone + Send + Sync,
{
    let option = |name: &str, default: &str| options.get(name).cloned().unwrap_or(default.into());
    let client = Client::try_from(Config::new(option("url", "").parse()?))?;
    let streaming = std::env::var("BENCH_STREAMING").is_ok();
    let config = if streaming { watcher::Config::default().streaming_lists() } else { watcher::Config::default() };
    let mut result = Map::new();
    let mut put = |name: &str, value: f64| result.insert(name.into(), json!(value));
    put("rssBaseMb", settled_rss_mb());
    reset_peak();

    let (cpu, started) = (cpu_ms(), Instant::now());
    let handler = Arc::new(Handler::default());
    let writer = reflector::store::Writer::<K>::new(kind.clone());
    let store = writer.as_reader();
    let events = watcher(Api::<K>::all_with(client.clone(), &kind), config).default_backoff().reflect(writer);
    let consumer = handler.clone();
    tokio::spawn(events.for_each(move |event| {
        match event {
            Ok(watcher::Event::Apply(object) | watcher::Event::Delete(object)) => consumer.on_event(&object),
            Ok(watcher::Event::InitDone) => consumer.synced.notify_one(),
            Ok(_) => {}
            Err(error) => eprintln!("kube-rs: {error}"),
        }
        futures::future::ready(())
    }));
    handler.synced.notified().await;
    put("syncMs", started.elapsed().as_secs_f64() * 1000.0);
    put("syncCpuMs", cpu_ms() - cpu);
    put("rssSyncPeakMb", memory_mb("VmHWM"));
    verify(&client, &store).await?;
    tokio::time::sleep(Duration::from_millis(200)).await;
    put("rssSettledMb", settled_rss_mb());

    let events = option("events", "200000");
    let count: f64 = events.parse()?;
    let mode = option("measure", "sync");
    if mode == "latency" {
        let steady = format!("mode=steady&rate={}&objects={}", option("rate", "5000"), option("among", "10000"));
        play(&client, &handler, &format!("{steady}&events={}", (count / 5.0).ceil())).await?;
        handler.state.lock().unwrap().latencies = Some(Vec::new());
        let cpu = cpu_ms();
        play(&client, &handler, &format!("{steady}&events={events}")).await?;
        put("eventsPerCpuSecond", count / ((cpu_ms() - cpu) / 1000.0));
        let mut latencies = handler.state.lock().unwrap().latencies.take().unwrap_or_default();
        latencies.sort_unstable();
        let percentile = |p: f64| latencies[(latencies.len() as f64 * p) as usize] as f64;
        put("p50us", percentile(0.5));
        put("p99us", percentile(0.99));
    } else if mode != "sync" {
        let warm = option("warm", "0");
        if warm != "0" {
            play(&client, &handler, &format!("mode={mode}&events={warm}")).await?;
        }
        reset_peak();
        let (cpu, started, allocated) = (cpu_ms(), Instant::now(), ALLOCATED.load(Ordering::Relaxed));
        play(&client, &handler, &format!("mode={mode}&events={events}")).await?;
        put("eventsPerSecond", count / started.elapsed().as_secs_f64());
        put("eventsPerCpuSecond", count / ((cpu_ms() - cpu) / 1000.0));
        put("allocatedPerEvent", (ALLOCATED.load(Ordering::Relaxed) - allocated) as f64 / count);
        put("rssPeakMb", memory_mb("VmHWM"));
    }
    verify(&client, &store).await?;
    result.insert("runtime".into(), json!("kube-rs 5.0.0"));
    Ok(Value::Object(result))
}

#[tokio::main]
async fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let options: HashMap<String, String> =
        args.chunks(2).map(|pair| (pair[0].trim_start_matches('-').into(), pair[1].clone())).collect();
    let corpus = options.get("corpus").cloned().unwrap_or_default();
    let result = match corpus.as_str() {
        "deployments" => contend::<Deployment>(options, ()).await?,
        "configmaps" => contend::<ConfigMap>(options, ()).await?,
        "events" => contend::<Event>(options, ()).await?,
        "widgets" => {
            let kind = GroupVersionKind::gvk("bench.example.com", "v1", "Widget");
            contend::<DynamicObject>(options, ApiResource::from_gvk(&kind)).await?
        }
        _ => contend::<Pod>(options, ()).await?,
    };
    println!("{result}");
    std::process::exit(0);
}
