//! The server as a peer sees it, friendly or hostile, over a real socket.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream as StdStream;
use std::path::PathBuf;

use serde_json::json;
use tokio::sync::Notify;

use super::super::client::{ClientError, ControlClient, StreamEnd};
use super::*;

/// A node that answers with the command's name, says no to `resume`, and stops on `shutdown`.
struct EchoNode {
    stop: Rc<Notify>,
    heard: Rc<RefCell<Vec<Command>>>,
}

impl NodeControl for EchoNode {
    fn call(&self, command: Command) -> LocalBoxFuture<'static, Result<Value, ControlError>> {
        self.heard.borrow_mut().push(command.clone());
        let stop = self.stop.clone();
        Box::pin(async move {
            match command {
                Command::Resume => Err(ControlError::new(ErrorCode::Refused, "not paused")),
                Command::Exclusions => Ok(json!("x".repeat(4 << 20))),
                Command::Shutdown => {
                    stop.notify_one();
                    // The answer is still to come when the node has begun to stop.
                    tokio::task::yield_now().await;
                    Ok(json!({"stopping": true}))
                }
                other => Ok(json!({"heard": other.name()})),
            }
        })
    }

    /// `watch` counts for ever, `export` ends after three lines of a mebibyte each.
    fn stream<'a>(
        &'a self,
        command: Command,
        lines: &'a mut LineSink,
    ) -> LocalBoxFuture<'a, Result<Value, ControlError>> {
        Box::pin(async move {
            let is_endless = matches!(command, Command::Watch { .. });
            let mut number = 0;
            while is_endless || number < 3 {
                let padding = if is_endless { String::new() } else { "x".repeat(1 << 20) };
                let event = json!({"number": number, "padding": padding});
                lines.send(&event).await.map_err(|gone| ControlError::new(ErrorCode::Refused, gone.to_string()))?;
                number += 1;
                tokio::task::yield_now().await;
            }
            Ok(json!({"num_lines": number}))
        })
    }
}

/// Serves in this thread while `peer` runs in another; the server is stopped when the peer is done. What the node heard
/// comes back.
fn with_server(peer: impl FnOnce(PathBuf) + Send + 'static) -> Vec<Command> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control.sock");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let heard = Rc::new(RefCell::new(Vec::new()));
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let socket = ControlSocket::bind(&path).unwrap();
        let stop = Rc::new(Notify::new());
        let node = Rc::new(EchoNode { stop: stop.clone(), heard: heard.clone() });
        let at = path.clone();
        let mut peer = tokio::task::spawn_blocking(move || peer(at));
        let served = serve(socket, node, async move { stop.notified().await });
        tokio::pin!(served);
        tokio::select! {
            () = &mut served => peer_result((&mut peer).await),
            ended = &mut peer => peer_result(ended),
        }
    });
    heard.take()
}

fn peer_result(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        std::panic::resume_unwind(error.into_panic());
    }
}

fn read_line(stream: &mut StdStream) -> String {
    let mut line = Vec::new();
    let mut byte = [0];
    while stream.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    String::from_utf8(line).unwrap()
}

#[test]
fn commands_are_answered_in_order_on_one_connection() {
    let heard = with_server(|path| {
        let mut client = ControlClient::connect(&path).unwrap();
        assert_eq!(client.call(&Command::Status).unwrap(), Ok(json!({"heard": "status"})));
        let refused = client.call(&Command::Resume).unwrap().unwrap_err();
        assert_eq!((refused.code, refused.message.as_str()), (ErrorCode::Refused, "not paused"));
        assert_eq!(client.call(&Command::Pause).unwrap(), Ok(json!({"heard": "pause"})));
    });
    assert_eq!(heard, [Command::Status, Command::Resume, Command::Pause]);
}

#[test]
fn answer_of_megabytes_arrives_whole() {
    with_server(|path| {
        let mut client = ControlClient::connect(&path).unwrap();
        let answer = client.call(&Command::Exclusions).unwrap().unwrap();
        assert_eq!(answer.as_str().map(str::len), Some(4 << 20));
    });
}

#[test]
fn several_requests_in_one_write_are_each_answered() {
    with_server(|path| {
        let mut stream = StdStream::connect(path).unwrap();
        stream
            .write_all(b"{\"v\":1,\"id\":1,\"command\":\"pause\"}\r\n{\"v\":1,\"id\":\"b\",\"command\":\"status\"}\n")
            .unwrap();
        assert!(read_line(&mut stream).contains("\"id\":1"));
        assert!(read_line(&mut stream).contains("\"id\":\"b\""));
    });
}

#[test]
fn garbage_is_answered_with_an_error_and_the_next_request_works() {
    let heard = with_server(|path| {
        let mut stream = StdStream::connect(path).unwrap();
        for line in ["", "hello", "{}", "\u{0}\u{1}", "{\"v\":1,\"id\":1,\"command\":\"backup\"}", "{\"v\":9,\"id\":1}"]
        {
            stream.write_all(format!("{line}\n").as_bytes()).unwrap();
            assert!(read_line(&mut stream).contains("\"ok\":false"), "{line:?}");
        }
        stream.write_all(b"\xff\xfe\n").unwrap();
        assert!(read_line(&mut stream).contains("bad_request"));
        stream.write_all(b"{\"v\":1,\"id\":1,\"command\":\"status\"}\n").unwrap();
        assert!(read_line(&mut stream).contains("\"ok\":true"));
    });
    assert_eq!(heard, [Command::Status]);
}

#[test]
fn endless_line_is_refused_and_the_connection_closed() {
    with_server(|path| {
        let mut stream = StdStream::connect(&path).unwrap();
        // The server may close before all of it is written.
        let _ = stream.write_all(&[b'x'; MAX_REQUEST_BYTES + 4096]);
        assert!(read_line(&mut stream).contains("request_too_long"));
        ControlClient::connect(&path).unwrap().call(&Command::Status).unwrap().unwrap();
    });
}

#[test]
fn request_cut_before_its_end_does_nothing() {
    let heard = with_server(|path| {
        let mut stream = StdStream::connect(&path).unwrap();
        stream.write_all(b"{\"v\":1,\"id\":1,\"command\":\"shutdown\"}").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(read_line(&mut stream), "");
        ControlClient::connect(&path).unwrap().call(&Command::Status).unwrap().unwrap();
    });
    assert_eq!(heard, [Command::Status]);
}

#[test]
fn more_connections_than_there_are_places_are_told_so() {
    with_server(|path| {
        let mut open: Vec<_> = (0..MAX_CONNECTIONS)
            .map(|_| {
                let mut client = ControlClient::connect(&path).unwrap();
                client.call(&Command::Status).unwrap().unwrap();
                client
            })
            .collect();
        let refused = ControlClient::connect(&path).unwrap().call(&Command::Status).unwrap().unwrap_err();
        assert_eq!(refused.code, ErrorCode::Busy);
        open[0].call(&Command::Status).unwrap().unwrap();
        open.pop();
        // The place comes free as soon as the server has seen the end of that connection.
        let again = || ControlClient::connect(&path).unwrap().call(&Command::Status);
        while again().is_ok_and(|answer| answer.is_err()) {
            std::thread::yield_now();
        }
    });
}

#[test]
fn streams_leave_places_for_commands_and_a_stream_too_many_is_told_so() {
    with_server(|path| {
        let request = b"{\"v\":1,\"id\":1,\"command\":\"watch\"}\n";
        let open = || {
            let mut stream = StdStream::connect(&path).unwrap();
            stream.write_all(request).unwrap();
            let first = read_line(&mut stream);
            (stream, first)
        };
        let streams: Vec<_> = (0..MAX_STREAMS).map(|_| open()).collect();
        assert!(streams.iter().all(|(_, first)| first.contains("\"number\":0")));
        let (mut refused, answer) = open();
        assert!(answer.contains("\"busy\"") && answer.contains("16 streams are open"), "{answer}");
        refused.write_all(b"{\"v\":1,\"id\":2,\"command\":\"pause\"}\n").unwrap();
        assert!(read_line(&mut refused).contains("\"ok\":true"), "the connection is good for a command");
        drop(streams);
        // A place comes free as soon as the server has seen the end of a stream.
        while open().1.contains("\"busy\"") {
            std::thread::yield_now();
        }
    });
}

#[test]
fn shutdown_is_answered_before_the_server_ends() {
    with_server(|path| {
        let mut idle = StdStream::connect(&path).unwrap();
        let mut client = ControlClient::connect(&path).unwrap();
        assert_eq!(client.call(&Command::Shutdown).unwrap(), Ok(json!({"stopping": true})));
        assert_eq!(read_line(&mut idle), "", "an idle connection is closed");
        assert!(matches!(client.call(&Command::Status), Err(ClientError::Closed | ClientError::Broken(_))));
    });
}

#[test]
fn socket_without_a_node_is_one_clear_line() {
    let error = ControlClient::connect(std::path::Path::new("/nonexistent/control.sock")).unwrap_err().to_string();
    assert!(error.contains("no node is running on /nonexistent/control.sock") && !error.contains('\n'), "{error}");
}

#[test]
fn another_user_may_not_command_the_node() {
    for (peer, own, wanted) in
        [(1000, 1000, true), (0, 1000, true), (1001, 1000, false), (1000, 0, false), (0, 0, true)]
    {
        assert_eq!(may_command(peer, own), wanted, "{peer} to a node of {own}");
    }
}

#[test]
fn stream_comes_line_by_line_and_ends_with_the_last_word() {
    with_server(|path| {
        let client = ControlClient::connect(&path).unwrap();
        let mut numbers = Vec::new();
        let end = client.stream(&Command::Export { site: None }, |event| {
            numbers.push(event["number"].as_u64().unwrap());
            std::ops::ControlFlow::Continue(())
        });
        assert_eq!(end.unwrap(), StreamEnd::Whole(Ok(json!({"num_lines": 3}))));
        assert_eq!(numbers, [0, 1, 2]);
    });
}

#[test]
fn peer_that_reads_nothing_of_a_stream_keeps_no_other_waiting() {
    with_server(|path| {
        let mut silent = StdStream::connect(&path).unwrap();
        silent.write_all(b"{\"v\":1,\"id\":1,\"command\":\"watch\"}\n").unwrap();
        let mut client = ControlClient::connect(&path).unwrap();
        assert_eq!(client.call(&Command::Status).unwrap(), Ok(json!({"heard": "status"})));
        drop(silent);
        assert_eq!(client.call(&Command::Status).unwrap(), Ok(json!({"heard": "status"})));
    });
}

#[test]
fn place_of_a_peer_that_left_its_stream_is_free_again() {
    with_server(|path| {
        for _ in 0..2 * MAX_CONNECTIONS {
            let client = ControlClient::connect(&path).unwrap();
            let end = client.stream(&Command::Watch { site: None }, |_| std::ops::ControlFlow::Break(()));
            assert_eq!(end.unwrap(), StreamEnd::LeftEarly);
        }
    });
}

#[test]
fn stream_ends_with_the_node() {
    with_server(|path| {
        let client = ControlClient::connect(&path).unwrap();
        let mut num_events = 0;
        let end = client.stream(&Command::Watch { site: None }, |_| {
            num_events += 1;
            if num_events == 10 {
                let stopped = ControlClient::connect(&path).unwrap().call(&Command::Shutdown).unwrap();
                assert_eq!(stopped, Ok(json!({"stopping": true})));
            }
            std::ops::ControlFlow::Continue(())
        });
        match end {
            // The node may have had half of a line in its hands.
            Ok(StreamEnd::Whole(Err(error))) => assert_eq!(error.code, ErrorCode::Stopping),
            Err(ClientError::Cut) => {}
            other => panic!("{other:?}"),
        }
    });
}
