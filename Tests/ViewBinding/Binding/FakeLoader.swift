import AlcedoCore
import AlcedoRuntime
import FoundationEssentials

/// A loader whose loads end when the test says so. It ignores cancellation, like work that can no longer be stopped.
final class FakeLoader: ImageLoading {
    typealias Outcome = Result<ImageResponse, any Error>

    private struct Call {
        var continuation: CheckedContinuation<Outcome, Never>
        var priority: PriorityHandle
        var onUpdate: @Sendable (LoadUpdate) -> Void
    }

    private struct State {
        var memory: [ResourceKey: DecodedImage] = [:]
        var calls: [Int: Call] = [:]
        var early: [Int: Outcome] = [:]
        var starts: [Int: CheckedContinuation<Void, Never>] = [:]
        var lookUps = 0
        var requests: [ImageRequest] = []
    }

    private let state = Locked(State())

    var lookUps: Int { state.withLock(\.lookUps) }
    /// The serials of the loads that were started, in order.
    var started: [Int] { state.withLock { $0.requests.map(\.serial) } }
    /// The requests of those loads.
    var requests: [ImageRequest] { state.withLock(\.requests) }

    /// Sets the memory image of every variant of the request's resource.
    func setMemory(_ image: DecodedImage?, for request: ImageRequest) {
        state.withLock { $0.memory[request.key.resource] = image }
    }

    func cachedImage(for request: ImageRequest) -> DecodedImage? {
        state.withLock {
            $0.lookUps += 1
            return $0.memory[request.key.resource]
        }
    }

    func load(
        _ request: ImageRequest, priority: PriorityHandle, onUpdate: @escaping @Sendable (LoadUpdate) -> Void
    ) async throws -> ImageResponse {
        let serial = request.serial
        let outcome: Outcome = await withCheckedContinuation { continuation in
            let (early, waiting) = state.withLock { state in
                state.requests.append(request)
                let early = state.early.removeValue(forKey: serial)
                if early == nil {
                    state.calls[serial] = Call(continuation: continuation, priority: priority, onUpdate: onUpdate)
                }
                return (early, state.starts.removeValue(forKey: serial))
            }
            if let early { continuation.resume(returning: early) }
            waiting?.resume()
        }
        return try outcome.get()
    }

    /// Returns once the load of `serial` has begun.
    func start(of serial: Int) async {
        await withCheckedContinuation { continuation in
            let isHere = state.withLock { state in
                if state.requests.contains(where: { $0.serial == serial }) { return true }
                state.starts[serial] = continuation
                return false
            }
            if isHere { continuation.resume() }
        }
    }

    /// Ends the load of `serial`, now or as soon as it begins.
    func finish(_ serial: Int, _ outcome: Outcome) {
        let call = state.withLock { state in
            let call = state.calls.removeValue(forKey: serial)
            if call == nil { state.early[serial] = outcome }
            return call
        }
        call?.continuation.resume(returning: outcome)
    }

    /// Reports an update of the load of `serial`, which has begun.
    func report(_ serial: Int, _ update: LoadUpdate) {
        let onUpdate = state.withLock { $0.calls[serial]?.onUpdate }
        onUpdate?(update)
    }

    /// Returns whether the load of `serial` has begun and not ended.
    func isRunning(_ serial: Int) -> Bool { state.withLock { $0.calls[serial] != nil } }

    /// Returns the priority of the load of `serial`.
    func priority(of serial: Int) -> LoadPriority? { state.withLock { $0.calls[serial]?.priority.value } }
}

extension Result<ImageResponse, any Error> {
    static func gray(_ value: UInt8) -> Self { .success(ImageResponse(image: .gray(value), layer: .network)) }
}

extension ImageRequest {
    /// Creates a request with a serial number, which distinguishes its load from others of the same image.
    init(image: Int, serial: Int) {
        self.init(source: .bytes(Data(), identity: "\(image)"))
        userInfo[Self.serialKey] = serial
    }

    private static let serialKey = UserInfo.Key<Int>("serial")

    var serial: Int { userInfo[Self.serialKey] ?? -1 }
}

extension LoadUpdate {
    static func preview(_ value: UInt8) -> Self { .preview(ImagePreview(image: .gray(value), rowCount: 1)) }

    static func cached(_ value: UInt8) -> Self { .cached(ImageResponse(image: .gray(value), layer: .disk)) }

    static func received(_ count: Int) -> Self { .progress(DownloadProgress(received: count, expected: nil)) }
}

/// Returns once the main actor has run the jobs that were enqueued before.
@MainActor func nextTurn() async { await Task {}.value }

struct LoadFailure: Error, Equatable {}
