//! A node with its control socket and its public pages: opened, given seeds, waited for, closed. `run` and `demo` differ only in what they do in between.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use lohisoftbot_actors::frontier::{AddSeeds, SeedCounts, WhenIdle};
use lohisoftbot_actors::index::ReadStore;
use lohisoftbot_core::config::Config;
use lohisoftbot_core::seed::Seed;
use lohisoftbot_core::site_row::{SiteRow, SiteStanding};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use super::public::{Prepared, PublicPages};
use super::{Node, NodeApi, NodeSetup, StartError};
use crate::control::{ControlSocket, SocketError, serve};
use crate::web::WebError;

/// Site rows read from the store at once.
const ROWS_AT_ONCE: usize = 1000;

/// A node could not be opened. Nothing was crawled.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The data directory cannot be made or written in.
    #[error("cannot write in the data directory {}: {source}; set store.data_dir to one that this user can write in", path.display())]
    DataDir {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The control socket cannot be had.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The public pages cannot be served.
    #[error(transparent)]
    Web(#[from] WebError),
    /// The node does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The system hands out no signals.
    #[error("cannot listen for signals: {0}")]
    Signals(std::io::Error),
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// A signal or the `shutdown` command.
    Told,
    /// That, or nothing live and no wait that ends within this time.
    Idle {
        /// Waits that end sooner are waited for.
        max_wait: Duration,
    },
}

/// How waiting ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// Nothing is left to do for now.
    Idle,
    /// SIGINT, SIGTERM or `shutdown`.
    Told,
    /// The node cannot go on, for this reason.
    Fatal(String),
}

/// A running node with its control socket.
pub struct Session {
    node: Node,
    fatal: Option<oneshot::Receiver<String>>,
    told: watch::Receiver<bool>,
    teller: Rc<watch::Sender<bool>>,
    control: JoinHandle<()>,
    public: Option<PublicPages>,
}

impl Session {
    /// Takes the control socket, then starts the node. Must run on an arbiter.
    ///
    /// What the configuration alone can refuse is refused before anything is made, and a taken socket before the data directory is.
    pub async fn open(config: &Config) -> Result<Self, OpenError> {
        let setup = NodeSetup::new(config)?;
        let public = Prepared::bind(config)?;
        let data_dir = &config.store.data_dir;
        let make_data_dir = || {
            let failed = |source| OpenError::DataDir { path: data_dir.clone(), source };
            std::fs::create_dir_all(data_dir).map_err(failed)?;
            rustix::fs::access(data_dir, rustix::fs::Access::WRITE_OK).map_err(|errno| failed(errno.into()))
        };
        let socket_path = config.socket_path();
        if socket_path.starts_with(data_dir) {
            make_data_dir()?;
        }
        let socket = ControlSocket::bind(&socket_path)?;
        make_data_dir()?;
        let mut node = Node::start(config, setup).await?;
        let (teller, told) = watch::channel(false);
        let teller = Rc::new(teller);
        listen_for_signals(teller.clone()).map_err(OpenError::Signals)?;
        let api = Rc::new(NodeApi::new(&node, config, teller.clone()));
        let mut stop = told.clone();
        let stopped = async move {
            // An error means that nobody can tell any more; that ends it too.
            let _ = stop.wait_for(|is_told| *is_told).await;
        };
        let control = actix_rt::spawn(serve(socket, api, stopped));
        let fatal = node.take_fatal();
        let public = public.serve(node.search.clone());
        Ok(Self { node, fatal, told, teller, control, public })
    }

    /// The node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Where the search page is; none where `web.listen` is off.
    pub fn search_page(&self) -> Option<&str> {
        self.public.as_ref().map(|public| public.url.as_str())
    }

    /// Hands seeds to the node.
    pub async fn add_seeds(&self, seeds: Vec<Seed>) -> SeedCounts {
        // An actor that is gone has failed, and `wait` says so.
        self.node.frontier.send(AddSeeds(seeds)).await.unwrap_or_default()
    }

    /// Waits for the end.
    pub async fn wait(&mut self, until: Until) -> WaitEnd {
        let frontier = self.node.frontier.clone();
        let idle = async move {
            match until {
                Until::Told => std::future::pending().await,
                Until::Idle { max_wait } => match frontier.send(WhenIdle { max_wait }).await {
                    Ok(()) => WaitEnd::Idle,
                    Err(_) => WaitEnd::Fatal("the frontier is gone; the log says why".to_owned()),
                },
            }
        };
        let fatal = &mut self.fatal;
        let failed = async move {
            match fatal {
                Some(fatal) => fatal.await.unwrap_or_else(|_| "the supervisor is gone".to_owned()),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            why = failed => WaitEnd::Fatal(why),
            _ = self.told.wait_for(|is_told| *is_told) => WaitEnd::Told,
            end = idle => end,
        }
    }

    /// The sites that wait in mid-cycle, the soonest first.
    pub async fn parked(&self) -> Vec<SiteRow> {
        let read = ReadStore::flushed(|store| {
            let mut parked = Vec::new();
            let mut after = None;
            loop {
                let rows = store.sites_after(after.as_ref(), ROWS_AT_ONCE)?;
                let Some(last) = rows.last() else { break };
                after = Some(last.site.clone());
                parked.extend(rows.into_iter().filter(|row| matches!(row.standing, SiteStanding::Parked { .. })));
            }
            Ok(parked)
        });
        let mut parked = match self.node.index.send(read).await {
            Ok(Ok(parked)) => parked,
            Ok(Err(_)) | Err(_) => Vec::new(),
        };
        parked.sort_by_key(|row| row.due_at);
        parked
    }

    /// Ends the node in order.
    pub async fn close(self) {
        self.teller.send_replace(true);
        if self.control.await.is_err() {
            tracing::warn!("the control server ended by a panic");
        }
        if let Some(public) = self.public {
            public.stop().await;
        }
        self.node.stop().await;
    }
}

fn listen_for_signals(teller: Rc<watch::Sender<bool>>) -> std::io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    actix_rt::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => end("SIGINT", &teller),
            _ = terminate.recv() => end("SIGTERM", &teller),
            _ = hang_up.recv() => end("SIGHUP", &teller),
        }
    });
    Ok(())
}

/// Told first, logged then: a log that cannot be written must not cost the signal.
fn end(signal: &str, teller: &watch::Sender<bool>) {
    teller.send_replace(true);
    tracing::info!("{signal}: ending in order");
}
