//! News of a call that takes long, for a client that asked for it.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tabvisor_cdp::budget::Budget;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// What takes less is not worth a message.
const EVERY: Duration = Duration::from_secs(1);

/// Tells every second how far the budget of a call is. It ends only with the connection.
pub(super) async fn tell(peer: Peer<RoleServer>, token: ProgressToken, tool: &'static str, budget: Budget) {
    let mut ticks = interval_at(Instant::now() + EVERY, EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let (elapsed, total) = (budget.elapsed().as_secs_f64(), budget.total().as_secs_f64());
        let mut news = ProgressNotificationParam::new(token.clone(), elapsed);
        news.total = Some(total);
        news.message = Some(format!("{tool}: {elapsed:.0} s of at most {total:.0} s"));
        if peer.notify_progress(news).await.is_err() {
            return std::future::pending().await;
        }
    }
}
