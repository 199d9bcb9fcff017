import Dispatch

/// Runs the loop for as long as somebody holds this object: the transport, or an exchange that is under way.
final class CURLThread: Sendable {
    let mailbox = CURLMailbox()

    init(connections: Int, connectionsPerHost: Int) {
        // A serial queue's block has a thread to itself for as long as it runs.
        DispatchQueue(label: "alcedo.curl").async { [mailbox] in
            CURLLoop(mailbox: mailbox, connections: connections, connectionsPerHost: connectionsPerHost).run()
        }
    }

    deinit { mailbox.post(.stop) }
}
