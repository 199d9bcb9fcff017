import AlcedoCore

/// Runs the loop, from the first request on, for as long as somebody holds this object: the transport, or an exchange
/// that is under way.
final class CURLThread: Sendable {
    private let mailbox = CURLMailbox()
    private let settings: CURLSettings

    init(_ settings: CURLSettings) { self.settings = settings }

    /// Hands a command to the loop. The first request begins it: who loads no more than files never starts libcurl. Where
    /// it cannot be made, such as without descriptors, the requests that wait fail, and the next one tries again.
    func post(_ command: CURLMailbox.Command) {
        guard mailbox.post(command) else { return }
        LoopThread.start { [mailbox, settings] in
            CURLLoop(mailbox: mailbox, settings).run()
        }
    }

    deinit { _ = mailbox.post(.stop) }
}
