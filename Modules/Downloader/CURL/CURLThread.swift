import AlcedoCore
import Synchronization

/// Runs the loop, from the first request on, for as long as somebody holds this object: the transport, or an exchange
/// that is under way.
final class CURLThread: Sendable {
    private let mailbox = CURLMailbox()
    private let settings: CURLSettings
    private let hasBegun = Atomic<Bool>(false)

    init(_ settings: CURLSettings) { self.settings = settings }

    /// Hands a command to the loop. The first one begins it: who loads no more than files never starts libcurl.
    func post(_ command: CURLMailbox.Command) {
        mailbox.post(command)
        guard !hasBegun.exchange(true, ordering: .relaxed) else { return }
        LoopThread.start { [mailbox, settings] in
            CURLLoop(mailbox: mailbox, settings).run()
        }
    }

    deinit {
        if hasBegun.load(ordering: .relaxed) { mailbox.post(.stop) }
    }
}
