//! stub
#![allow(missing_docs, dead_code, clippy::all, reason="stub")]
use crate::budget::Budget; use url::Url; use std::time::Duration;
#[derive(Clone,Debug)] pub struct LaunchOptions;
#[derive(Clone,Debug,thiserror::Error)] #[error("x")] pub struct LaunchError;
#[derive(Debug)] pub struct Chromium;
impl Chromium { pub fn ws_url(&self)->&Url { todo!() } pub fn pid(&self)->u32 {0} pub fn exited(&self)->impl Future<Output=String>+Send+use<> { async { String::new() } } pub async fn stop(self,_:Duration){} }
pub async fn launch(_:&LaunchOptions,_:&Budget)->Result<Chromium,LaunchError>{ Err(LaunchError) }
