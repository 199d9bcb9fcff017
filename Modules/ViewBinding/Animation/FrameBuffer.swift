import AlcedoCore

/// The decoded frames of one animation, shared by all who show it, and the work of decoding them early.
final class FrameBuffer: Sendable {
    private struct State: Sendable {
        var buffer: FrameBufferState
        var wakers: [Int: @Sendable () -> Void] = [:]
        var work: Task<Void, Never>?
    }

    private let source: any ImageFrameSource
    private let executor: BlockingExecutor
    private let budget: FrameBudget
    private let frameBytes: Int
    private let state: Locked<State>

    /// - Parameters:
    ///   - first: The first frame.
    ///   - budget: Says how many bytes there are, and whether memory is short.
    init(_ source: any ImageFrameSource, first: PixelBuffer, executor: BlockingExecutor, budget: FrameBudget) {
        self.source = source
        self.executor = executor
        self.budget = budget
        frameBytes = PixelBuffer.byteCount(size: source.canvasSize, format: .rgba8) ?? Int.max
        state = Locked(State(buffer: FrameBufferState(frameCount: source.frameCount, first: first)))
    }

    var storedCount: Int { state.withLock { $0.buffer.storedCount } }

    var failure: (any Error)? { state.withLock { $0.buffer.failure } }

    /// The work that is under way; nil when there is none.
    var work: Task<Void, Never>? { state.withLock { $0.buffer.isDecoding ? $0.work : nil } }

    private var capacity: Int { budget.capacity(frameBytes: frameBytes) }

    /// Adds one who shows frames.
    ///
    /// - Parameter wake: Called from any thread when a frame has come, after one was not there.
    func makeViewer(wake: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            let viewer = state.buffer.makeViewer()
            state.wakers[viewer] = wake
            return viewer
        }
    }

    func remove(viewer: Int) {
        let waker = state.withLock { state in
            count(in: &state) { $0.remove(viewer: viewer) }
            return state.wakers.removeValue(forKey: viewer)
        }
        _ = consume waker
    }

    /// A viewer sees nothing for now.
    func rest(viewer: Int) { state.withLock { state in count(in: &state) { $0.remove(viewer: viewer) } } }

    /// Changes who looks. An animation that nobody looks at has no part of the budget.
    private func count<Value>(in state: inout State, _ change: (inout FrameBufferState) -> Value) -> Value {
        let before = state.buffer.isSeen
        defer {
            switch (before, state.buffer.isSeen) {
            case (false, true): budget.addAnimation()
            case (true, false): budget.removeAnimation()
            default: break
            }
        }
        return change(&state.buffer)
    }

    /// Returns the frame that a viewer is to show, or the last one before it that is there and comes after `limit`. Has it,
    /// when it is not shown already, and those after it decoded.
    func frame(
        _ frame: Int, isShown: Bool, after limit: Int, remaining: Int, viewer: Int
    ) -> (index: Int, pixels: PixelBuffer)? {
        let found = state.withLock { state in
            count(in: &state) { $0.want(frame, isShown: isShown, remaining: remaining, viewer: viewer) }.map {
                (frame, $0)
            }
                ?? (isShown ? nil : state.buffer.latest(before: frame, after: limit))
        }
        decodeNext()
        return found
    }

    /// Drops what there is no room for any more.
    func trim() {
        let capacity = capacity
        let isCritical = budget.isCritical
        state.withLock { state in
            if isCritical { state.buffer.removeAll() } else { state.buffer.trim(to: capacity) }
        }
    }

    private func decodeNext() {
        let capacity = capacity
        state.withLock { state in
            guard let frame = state.buffer.beginDecoding(capacity: capacity) else { return }
            state.work = Task { await self.decode(from: frame) }
        }
    }

    /// Decodes one frame after another, for as long as somebody needs one.
    private func decode(from first: Int) async {
        var next: Int? = first
        while let frame = next {
            let result: Result<PixelBuffer, any Error>
            do {
                result = .success(try await executor.run { [source] in try source.frame(at: frame) })
            } catch {
                result = .failure(error)
            }
            let capacity = capacity
            let wakers: [@Sendable () -> Void]
            (wakers, next) = state.withLock { state in
                let waiting = state.buffer.endDecoding(frame, result, capacity: capacity)
                return (waiting.compactMap { state.wakers[$0] }, state.buffer.beginDecoding(capacity: capacity))
            }
            for wake in wakers { wake() }
        }
    }
}
