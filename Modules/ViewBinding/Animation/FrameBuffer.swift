import AlcedoCore
import AlcedoRuntime

/// The decoded frames of one animation, shared by all of its viewers. Decodes frames ahead of time.
final class FrameBuffer: Sendable {
    private struct State: Sendable {
        var buffer: FrameBufferState
        var wakers: [Int: @Sendable () -> Void] = [:]
        var decoding: Task<Void, Never>?
    }

    private let source: any ImageFrameSource
    private let executor: BlockingExecutor
    private let budget: FrameBudget
    private let frameBytes: Int
    private let state: Locked<State>

    /// Creates a buffer that contains the first frame.
    ///
    /// - Parameters:
    ///   - source: The source of the frames.
    ///   - first: The first frame.
    ///   - executor: The executor that decodes the frames.
    ///   - budget: The budget of the pool, which limits the number of frames to keep.
    init(_ source: any ImageFrameSource, first: PixelBuffer, executor: BlockingExecutor, budget: FrameBudget) {
        self.source = source
        self.executor = executor
        self.budget = budget
        frameBytes = PixelBuffer.byteCount(size: source.canvasSize, format: .rgba8) ?? Int.max
        state = Locked(State(buffer: FrameBufferState(frameCount: source.frameCount, first: first)))
    }

    /// The number of frames, which becomes smaller when a frame turns out to be damaged.
    var frameCount: Int { state.withLock { $0.buffer.frameCount } }

    var storedCount: Int { state.withLock { $0.buffer.storedCount } }

    var failure: (any Error)? { state.withLock { $0.buffer.failure } }

    /// Whether a frame could not be decoded.
    func hasFailed(_ frame: Int) -> Bool { state.withLock { $0.buffer.hasFailed(frame) } }

    /// The decoding task in progress; nil if there is none.
    var decoding: Task<Void, Never>? { state.withLock { $0.buffer.isDecoding ? $0.decoding : nil } }

    private var capacity: Int { budget.capacity(frameBytes: frameBytes) }

    /// Adds a viewer, and returns its identifier.
    ///
    /// - Parameter wake: A closure that is called on any thread when decoding of a frame ends, with or without an
    ///   error, while the viewer waits for a frame.
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

    /// Hides a viewer, which then needs no frames until it requests one.
    func hide(viewer: Int) { state.withLock { state in count(in: &state) { $0.remove(viewer: viewer) } } }

    /// Changes the viewers, and updates the budget when the first viewer appears or the last one disappears. An
    /// animation without viewers has no share of the budget.
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

    /// Returns the frame that a viewer needs. If that frame is not available, returns the last available frame before
    /// it and after `limit`, or nil if there is no such frame or the viewer already shows the frame that it needs.
    ///
    /// Records the viewer's position, which makes a hidden viewer visible again. Starts decoding the missing frames:
    /// first that of `step`, unless the viewer already shows it, then the frames after it in the order of the mode.
    func frame(
        _ step: Int, of mode: PlaybackMode, isShown: Bool, after limit: Int, remaining: Int, viewer: Int
    ) -> (step: Int, pixels: PixelBuffer)? {
        let found = state.withLock { state in
            count(in: &state) {
                $0.request(step, of: mode, isShown: isShown, remaining: remaining, viewer: viewer)
            }.map { (step, $0) }
                ?? (isShown ? nil : state.buffer.latest(before: step, of: mode, after: limit))
        }
        decodeNext()
        return found
    }

    /// Drops the frames that exceed the budget, or all frames if the memory pressure is critical.
    func trim() {
        let capacity = capacity
        let isCritical = budget.isCritical
        state.withLock { state in
            if isCritical { state.buffer.removeAll() } else { state.buffer.trim(to: capacity) }
        }
    }

    /// Drops all frames.
    func removeAll() { state.withLock { $0.buffer.removeAll() } }

    private func decodeNext() {
        let capacity = capacity
        state.withLock { state in
            guard let frame = state.buffer.beginDecoding(capacity: capacity) else { return }
            state.decoding = Task { await self.decode(from: frame) }
        }
    }

    /// Decodes frames in sequence while viewers need them.
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
                state.buffer.end(before: source.frameCount)
                let waiting = state.buffer.endDecoding(frame, result, capacity: capacity)
                return (waiting.compactMap { state.wakers[$0] }, state.buffer.beginDecoding(capacity: capacity))
            }
            for wake in wakers { wake() }
        }
    }
}

/// The state of a frame buffer: the frames to keep, and the frame to decode next. A pure state machine without side
/// effects.
///
/// Viewers are treated as if they played in a loop. When frames exceed the capacity, those that no viewer needs soon
/// are dropped, beginning with the frame farthest ahead of the nearest viewer. The first frame of the animation belongs
/// to the image itself. It is always available and does not count.
struct FrameBufferState: Sendable {
    /// The maximum number of frames that are decoded ahead of a viewer's due frame.
    static let ahead = 4

    private struct Viewer: Sendable {
        var step: Int
        var mode: PlaybackMode
        /// The number of steps that follow before the animation ends.
        var remaining: Int
        /// Whether the viewer already shows the frame of `step`.
        var isShown: Bool
        var isWaiting: Bool
    }

    private(set) var frameCount: Int
    private let first: PixelBuffer
    private var frames: [Int: PixelBuffer] = [:]
    private var failures: [Int: any Error] = [:]
    private var viewers: [Int: Viewer] = [:]
    private var lastViewer = 0
    private(set) var isDecoding = false

    /// Creates a state with the first frame.
    ///
    /// - Parameters:
    ///   - frameCount: The number of frames, at least one.
    ///   - first: The first frame.
    init(frameCount: Int, first: PixelBuffer) {
        self.frameCount = frameCount
        self.first = first
    }

    /// Whether the animation has visible viewers.
    var isSeen: Bool { !viewers.isEmpty }

    /// The number of stored frames, without the first frame.
    var storedCount: Int { frames.count }

    /// The error of the first frame, in playing order, that could not be decoded; nil if there is none.
    var failure: (any Error)? { failures.min { $0.key < $1.key }?.value }

    /// Whether a frame could not be decoded. It is not tried again.
    func hasFailed(_ frame: Int) -> Bool { failures[frame] != nil }

    /// Removes the frames after the end that a damaged frame puts to the animation.
    mutating func end(before count: Int) {
        guard count > 0, count < frameCount else { return }
        frameCount = count
        frames = frames.filter { $0.key < count }
        // They find their frame again when they advance.
        for (viewer, position) in viewers where position.step >= order(position.mode).stepCount {
            viewers[viewer]?.step = 0
        }
    }

    mutating func makeViewer() -> Int {
        lastViewer += 1
        return lastViewer
    }

    /// Records that a viewer is to show the frame of a step, and returns the frame; nil if it is not available. In that
    /// case, the viewer waits, unless it already shows the frame or the frame could not be decoded.
    mutating func request(
        _ step: Int, of mode: PlaybackMode = .forward, isShown: Bool, remaining: Int, viewer: Int
    ) -> PixelBuffer? {
        let order = order(mode)
        // The animation may have become shorter since the viewer advanced.
        let step = min(step, order.stepCount - 1)
        let frame = order.frame(at: step)
        let found = pixels(frame)
        viewers[viewer] = Viewer(
            step: step, mode: mode, remaining: remaining, isShown: isShown,
            isWaiting: !isShown && found == nil && failures[frame] == nil)
        return found
    }

    /// Returns the last available frame after the step `limit` and before the step `requested`, to show instead of a
    /// frame that is late; nil if there is none. The order is cyclic: the first step follows the last one.
    func latest(
        before requested: Int, of mode: PlaybackMode = .forward, after limit: Int
    ) -> (step: Int, pixels: PixelBuffer)? {
        let order = order(mode)
        var step = requested
        for _ in 0..<order.stepCount {
            step = (step + order.stepCount - 1) % order.stepCount
            guard step != limit else { return nil }
            if let pixels = pixels(order.frame(at: step)) { return (step, pixels) }
        }
        return nil
    }

    /// Removes a viewer. When no viewers remain, all frames are dropped.
    mutating func remove(viewer: Int) {
        viewers[viewer] = nil
        if viewers.isEmpty { frames = [:] }
    }

    /// Marks the most urgent missing frame as being decoded, and returns it; returns nil if no frame is needed or one
    /// is being decoded already. Drops frames that exceed the capacity.
    ///
    /// - Parameter capacity: The maximum number of frames to keep, at least one. It is exceeded when viewers wait for
    ///   more different frames than that.
    mutating func beginDecoding(capacity: Int) -> Int? {
        trim(to: capacity)
        guard !isDecoding, frames.count < frameCount - 1,
            let frame = needed(room(capacity)).first(where: { pixels($0) == nil })
        else { return nil }
        isDecoding = true
        return frame
    }

    /// Stores the result of decoding a frame, and returns the viewers that waited for any frame. If no viewers remain,
    /// drops the result.
    mutating func endDecoding(_ frame: Int, _ result: Result<PixelBuffer, any Error>, capacity: Int) -> [Int] {
        isDecoding = false
        guard !viewers.isEmpty else { return [] }
        switch result {
        case .success(let pixels): if frame < frameCount { frames[frame] = pixels }
        case .failure(let error): failures[frame] = error
        }
        trim(to: capacity)
        let waiting = viewers.filter(\.value.isWaiting).keys.sorted()
        for viewer in waiting { viewers[viewer]?.isWaiting = false }
        return waiting
    }

    /// Drops frames that exceed the capacity, starting with those that are needed last.
    mutating func trim(to capacity: Int) {
        guard frames.count > max(1, capacity) else { return }
        let room = room(capacity)
        let needed = Set(needed(room))
        // Needed frames, at most `room`, are not dropped, because they would be decoded again immediately.
        let dispensable = frames.keys.filter { !needed.contains($0) }.sorted { distance(to: $0) > distance(to: $1) }
        for frame in dispensable.prefix(max(0, frames.count - room)) { frames[frame] = nil }
    }

    mutating func removeAll() { frames = [:] }

    private func order(_ mode: PlaybackMode) -> FrameOrder { FrameOrder(frameCount: frameCount, mode: mode) }

    private func pixels(_ frame: Int) -> PixelBuffer? { frame == 0 ? first : frames[frame] }

    private func room(_ capacity: Int) -> Int {
        let due = viewers.values.lazy.filter { !$0.isShown }.map { order($0.mode).frame(at: $0.step) }
        return max(1, capacity, Set(due.filter { $0 != 0 }).count)
    }

    /// Returns the frames that are about to be shown, nearest first, at most `room`. Excludes the first frame of the
    /// animation, and frames that could not be decoded.
    private func needed(_ room: Int) -> [Int] {
        let viewers = viewers.sorted { $0.key < $1.key }.map(\.value)
        var needed: [Int] = []
        var seen: Set<Int> = []
        for distance in 0...Self.ahead {
            for viewer in viewers where distance <= viewer.remaining && !(distance == 0 && viewer.isShown) {
                let order = order(viewer.mode)
                let frame = order.frame(at: (viewer.step + distance) % order.stepCount)
                guard frame != 0, failures[frame] == nil, seen.insert(frame).inserted else { continue }
                guard needed.count < room else { return needed }
                needed.append(frame)
            }
        }
        return needed
    }

    /// Returns the number of frames that the nearest viewer has to play to reach a frame.
    private func distance(to frame: Int) -> Int {
        viewers.values.map { order($0.mode).distance(from: $0.step, to: frame) }.min() ?? frameCount
    }
}
