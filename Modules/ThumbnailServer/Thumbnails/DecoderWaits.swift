import Alcedo
import AlcedoRuntime
import Synchronization

/// The thumbnails whose decodes or encodes wait for a thread or for memory.
final class DecoderWaits: Sendable {
    /// A decode of an original: its URL, and what is made of it. Not the key of the request, which the pipeline may
    /// complete meanwhile.
    private struct Key: Hashable, Sendable {
        var resource: ResourceKey
        var processors: [String]

        init(_ request: ImageRequest) {
            resource = request.source.resource
            processors = request.processors.map(\.identifier)
        }
    }

    /// The wait of one encode.
    final class Wait: Sendable {
        private let waits: DecoderWaits
        private let request: ImageRequest
        private let isWaiting = Atomic(true)

        fileprivate init(_ waits: DecoderWaits, _ request: ImageRequest) {
            (self.waits, self.request) = (waits, request)
            waits.set(request, isWaiting: true)
        }

        /// Ends the wait. Only the first call has an effect.
        func end() {
            if isWaiting.exchange(false, ordering: .relaxed) { waits.set(request, isWaiting: false) }
        }
    }

    private let counts = Locked<[Key: Int]>([:])

    /// Records that a decode or an encode for a request begins or ends to wait.
    func set(_ request: ImageRequest, isWaiting: Bool) {
        let key = Key(request)
        counts.withLock { counts in
            let count = counts[key, default: 0] + (isWaiting ? 1 : -1)
            counts[key] = count > 0 ? count : nil
        }
    }

    /// Begins the wait of an encode for a request.
    func begin(_ request: ImageRequest) -> Wait { Wait(self, request) }

    /// Whether a decode or an encode for a request waits.
    func contains(_ request: ImageRequest) -> Bool { counts.withLock { $0[Key(request)] != nil } }
}
