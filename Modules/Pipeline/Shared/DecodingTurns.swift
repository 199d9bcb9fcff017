package import AlcedoCore
import Synchronization

/// The rule by which groups of images, such as those of one server, take turns in being decoded.
///
/// A group without a running decode goes before those that have one, and these follow each other. The rule applies to
/// the threads and to the byte budget of decodes, and to the budget of encoded bytes, in which a group without a
/// download or bytes that wait goes first. Processors of decoded images, and encoders, belong to no group.
package struct DecodingTurns: Sendable {
    /// The maximum number of decodes of one group that run, or hold memory, at once. With fewer than the pipeline's
    /// threads, a group whose decodes take long leaves a thread to others: a group with a decode begins a further one
    /// only if a thread stays idle. It also does so only if a quarter of the byte budget stays free. Values below 1
    /// count as 1.
    package var maxConcurrentPerGroup: Int
    /// A closure that returns the group of a request's image; nil for an image without a group. It must not block.
    package var group: @Sendable (ImageRequest) -> String?
    /// A closure that receives whether the decode of a request waits for a thread or for bytes. It may be called
    /// several times for each decode, on any thread, with true and false in turn, and at the end with false. It must
    /// not block.
    package var onWait: @Sendable (ImageRequest, _ isWaiting: Bool) -> Void

    /// Creates a rule. By default, no closure is called when a decode waits.
    package init(
        maxConcurrentPerGroup: Int, group: @escaping @Sendable (ImageRequest) -> String?,
        onWait: @escaping @Sendable (ImageRequest, _ isWaiting: Bool) -> Void = { _, _ in }
    ) {
        (self.maxConcurrentPerGroup, self.group, self.onWait) = (maxConcurrentPerGroup, group, onWait)
    }
}

final class DecodingWait: Sendable {
    /// The group whose decodes take turns with those of others; nil for none.
    let group: String?
    private let request: ImageRequest
    private let turns: DecodingTurns?
    private let isWaiting = Atomic(true)

    /// Begins to wait. Without turns, the decode has no group, and its waits are not reported.
    init(of request: ImageRequest, _ turns: DecodingTurns?) {
        self.request = request
        self.turns = turns
        group = turns?.group(request)
        turns?.onWait(request, true)
    }

    deinit { end() }

    /// Begins to wait again. Has no effect while the decode waits.
    func begin() { set(true) }

    /// Ends the wait. Has no effect while the decode does not wait.
    func end() { set(false) }

    private func set(_ isWaiting: Bool) {
        guard self.isWaiting.exchange(isWaiting, ordering: .relaxed) != isWaiting else { return }
        turns?.onWait(request, isWaiting)
    }
}
