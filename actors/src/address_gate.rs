//! `AddressGateActor` owns the manners at IP addresses that many sites share: how many requests at once, how far apart.
//!
//! It decides nothing: [`AddressGate`] of `core` does, and this actor carries its decisions to whoever waits, with one timer. Host actors
//! on other arbiters reach it by [`GateDoor`], their port, whose messages go past the bound of its mailbox and so are never held back.
//!
//! Invariants: a visit ends with its slot, however the holder went (an answer, an abort, a death, a panic), since the slot's drop sends
//! the message; it can be lost only with this actor itself. Without the gate nobody leaves for any address, and the node ends.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use actix::prelude::*;
use futures_util::future::{BoxFuture, LocalBoxFuture};
use lohisoftbot_core::address_gate::{AddressGate, AddressRules, GateCounts, GateDecision, VisitId};
use lohisoftbot_core::time::Timestamp;
use tokio::sync::oneshot;

use crate::ports::{self, AddressSlot, Clock, HeldSlot, VettedAddress};
use crate::supervisor::{FatalFailure, NodeSupervisor};

/// Owns the gate.
pub struct AddressGateActor {
    gate: AddressGate,
    clock: Arc<dyn Clock>,
    supervisor: Addr<NodeSupervisor>,
    /// Who waits for a decision.
    answers: HashMap<VisitId, oneshot::Sender<()>>,
    timer: Option<(Timestamp, SpawnHandle)>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Arrive {
    visit: VisitId,
    address: Ipv4Addr,
    admitted: oneshot::Sender<()>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct AskToLeave {
    visit: VisitId,
    may_leave: oneshot::Sender<()>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct RequestLeft(VisitId);

#[derive(Message)]
#[rtype(result = "()")]
struct RequestAnswered(VisitId);

#[derive(Message)]
#[rtype(result = "()")]
struct VisitEnded(VisitId);

#[derive(Message)]
#[rtype(result = "()")]
struct Wake;

/// How many visits there are.
#[derive(Debug, Message)]
#[rtype(result = "GateCounts")]
pub struct CountVisits;

impl AddressGateActor {
    /// With these rules for every address.
    pub fn new(rules: AddressRules, clock: Arc<dyn Clock>, supervisor: Addr<NodeSupervisor>) -> Self {
        let gate = AddressGate::new(rules, clock.now());
        Self { gate, clock, supervisor, answers: HashMap::new(), timer: None }
    }

    /// Tells those who wait what was decided, and sets the timer.
    fn carry_out(&mut self, decisions: Vec<GateDecision>, ctx: &mut Context<Self>) {
        for decision in decisions {
            let (GateDecision::Admit(visit) | GateDecision::Depart(visit)) = decision;
            if let Some(answer) = self.answers.remove(&visit) {
                // Whoever does not wait any more has dropped its visit, and that is on its way here.
                let _ = answer.send(());
            }
        }
        self.set_timer(ctx);
    }

    fn set_timer(&mut self, ctx: &mut Context<Self>) {
        let wakeup = self.gate.next_wakeup();
        if self.timer.map(|(at, _)| at) == wakeup {
            return;
        }
        if let Some((_, timer)) = self.timer.take() {
            ctx.cancel_future(timer);
        }
        self.timer = wakeup.map(|at| (at, ctx.notify_later(Wake, at.since(self.clock.now()))));
    }
}

impl Actor for AddressGateActor {
    type Context = Context<Self>;
}

impl Drop for AddressGateActor {
    fn drop(&mut self) {
        // A handler panicked. In any other case the node is ending, since the host arbiters hold the way here.
        if std::thread::panicking() {
            self.supervisor.do_send(FatalFailure("the gate of shared addresses died; nothing can be asked".to_owned()));
        }
    }
}

impl Handler<Arrive> for AddressGateActor {
    type Result = ();

    fn handle(&mut self, Arrive { visit, address, admitted }: Arrive, ctx: &mut Self::Context) {
        self.answers.insert(visit, admitted);
        let decisions = self.gate.on_arrival(visit, address, self.clock.now());
        self.carry_out(decisions, ctx);
    }
}

impl Handler<AskToLeave> for AddressGateActor {
    type Result = ();

    fn handle(&mut self, AskToLeave { visit, may_leave }: AskToLeave, ctx: &mut Self::Context) {
        self.answers.insert(visit, may_leave);
        let decisions = self.gate.on_ready(visit, self.clock.now());
        self.carry_out(decisions, ctx);
    }
}

impl Handler<RequestLeft> for AddressGateActor {
    type Result = ();

    fn handle(&mut self, RequestLeft(visit): RequestLeft, ctx: &mut Self::Context) {
        let decisions = self.gate.on_departed(visit, self.clock.now());
        self.carry_out(decisions, ctx);
    }
}

impl Handler<RequestAnswered> for AddressGateActor {
    type Result = ();

    fn handle(&mut self, RequestAnswered(visit): RequestAnswered, ctx: &mut Self::Context) {
        let decisions = self.gate.on_answered(visit, self.clock.now());
        self.carry_out(decisions, ctx);
    }
}

impl Handler<VisitEnded> for AddressGateActor {
    type Result = ();

    fn handle(&mut self, VisitEnded(visit): VisitEnded, ctx: &mut Self::Context) {
        self.answers.remove(&visit);
        let decisions = self.gate.on_end(visit, self.clock.now());
        self.carry_out(decisions, ctx);
    }
}

impl Handler<Wake> for AddressGateActor {
    type Result = ();

    fn handle(&mut self, _: Wake, ctx: &mut Self::Context) {
        self.timer = None;
        let decisions = self.gate.on_wake(self.clock.now());
        self.carry_out(decisions, ctx);
    }
}

impl Handler<CountVisits> for AddressGateActor {
    type Result = MessageResult<CountVisits>;

    fn handle(&mut self, _: CountVisits, _: &mut Self::Context) -> Self::Result {
        MessageResult(self.gate.counts())
    }
}

/// The way to the gate, for host actors on any arbiter. Clones name their visits from one count.
#[derive(Clone)]
pub struct GateDoor {
    gate: Addr<AddressGateActor>,
    num_visits: Arc<AtomicU64>,
}

impl GateDoor {
    /// To this gate, which nobody else may lead visits to.
    pub fn new(gate: Addr<AddressGateActor>) -> Self {
        Self { gate, num_visits: Arc::default() }
    }
}

impl ports::AddressGate for GateDoor {
    fn slot(&self, address: VettedAddress) -> LocalBoxFuture<'static, AddressSlot> {
        let Self { gate, num_visits } = self.clone();
        Box::pin(async move {
            let visit = Visit { id: VisitId(num_visits.fetch_add(1, Ordering::Relaxed)), gate };
            let (admitted, is_admitted) = oneshot::channel();
            visit.gate.do_send(Arrive { visit: visit.id, address: *address.socket_addr().ip(), admitted });
            decided(is_admitted).await;
            AddressSlot::holding(visit)
        })
    }
}

/// A visit from its arrival on; over when it is dropped.
struct Visit {
    id: VisitId,
    gate: Addr<AddressGateActor>,
}

impl HeldSlot for Visit {
    fn leave(&self) -> BoxFuture<'static, ()> {
        let (may_leave, decision) = oneshot::channel();
        self.gate.do_send(AskToLeave { visit: self.id, may_leave });
        Box::pin(decided(decision))
    }

    fn note_left(&self) {
        self.gate.do_send(RequestLeft(self.id));
    }

    fn note_answered(&self) {
        self.gate.do_send(RequestAnswered(self.id));
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.gate.do_send(VisitEnded(self.id));
    }
}

/// Waits for a decision. Without a gate none comes: in doubt, no request.
async fn decided(decision: oneshot::Receiver<()>) {
    if decision.await.is_err() {
        std::future::pending::<()>().await;
    }
}
