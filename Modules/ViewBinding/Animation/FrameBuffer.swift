import AlcedoCore
import AlcedoRuntime

/// The decoded frames of one animation, shared by all who show it, and the work of decoding them early.
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
    var decoding: Task<Void, Never>? { state.withLock { $0.buffer.isDecoding ? $0.decoding : nil } }

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
    func hide(viewer: Int) { state.withLock { state in count(in: &state) { $0.remove(viewer: viewer) } } }

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
            count(in: &state) { $0.request(frame, isShown: isShown, remaining: remaining, viewer: viewer) }.map {
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
            state.decoding = Task { await self.decode(from: frame) }
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

/// Which frames of one animation are kept, and which is decoded next. Decides only.
///
/// Viewers go round: of the frames there are too many of, the one that all viewers will need last goes first. The first
/// frame is the image's own picture, is always there and does not count.
struct FrameBufferState: Sendable {
    /// How many frames beyond the one that is shown are decoded early.
    static let ahead = 4

    private struct Viewer: Sendable {
        var frame: Int
        /// Frames that come after it before the animation ends.
        var remaining: Int
        /// Whether it shows that frame already.
        var isShown: Bool
        var isWaiting: Bool
    }

    let frameCount: Int
    private let first: PixelBuffer
    private var frames: [Int: PixelBuffer] = [:]
    private var failures: [Int: any Error] = [:]
    private var viewers: [Int: Viewer] = [:]
    private var lastViewer = 0
    private(set) var isDecoding = false

    /// - Parameter frameCount: At least one.
    init(frameCount: Int, first: PixelBuffer) {
        self.frameCount = frameCount
        self.first = first
    }

    /// Whether a viewer looks at it.
    var isSeen: Bool { !viewers.isEmpty }

    /// Frames that were decoded here.
    var storedCount: Int { frames.count }

    /// The error of the first frame that could not be decoded.
    var failure: (any Error)? { failures.min { $0.key < $1.key }?.value }

    mutating func makeViewer() -> Int {
        lastViewer += 1
        return lastViewer
    }

    /// A viewer is to show `frame`. Returns it, when it is there; else the viewer waits, unless it shows the frame already.
    mutating func request(_ frame: Int, isShown: Bool, remaining: Int, viewer: Int) -> PixelBuffer? {
        let found = pixels(frame)
        viewers[viewer] = Viewer(
            frame: frame, remaining: remaining, isShown: isShown,
            isWaiting: !isShown && found == nil && failures[frame] == nil)
        return found
    }

    /// Of the frames after `limit` and before `wanted`, the last that is there: late, but better than none.
    func latest(before requested: Int, after limit: Int) -> (index: Int, pixels: PixelBuffer)? {
        var index = requested
        for _ in 0..<frameCount {
            index = (index + frameCount - 1) % frameCount
            guard index != limit else { return nil }
            if let pixels = pixels(index) { return (index, pixels) }
        }
        return nil
    }

    /// A viewer shows nothing any more. When nobody does, no frame is kept.
    mutating func remove(viewer: Int) {
        viewers[viewer] = nil
        if viewers.isEmpty { frames = [:] }
    }

    /// Begins the decoding of the frame that is needed first; nil when none is, or one is being decoded. Drops frames, when
    /// there is less room than there was.
    ///
    /// - Parameter capacity: Most frames to keep, unless more viewers than that wait for one each.
    mutating func beginDecoding(capacity: Int) -> Int? {
        trim(to: capacity)
        guard !isDecoding, frames.count < frameCount - 1,
            let frame = needed(room(capacity)).first(where: { pixels($0) == nil })
        else { return nil }
        isDecoding = true
        return frame
    }

    /// Decoding has ended. Returns the viewers that have waited.
    mutating func endDecoding(_ frame: Int, _ result: Result<PixelBuffer, any Error>, capacity: Int) -> [Int] {
        isDecoding = false
        guard !viewers.isEmpty else { return [] }
        switch result {
        case .success(let pixels): frames[frame] = pixels
        case .failure(let error): failures[frame] = error
        }
        trim(to: capacity)
        let waiting = viewers.filter(\.value.isWaiting).keys.sorted()
        for viewer in waiting { viewers[viewer]?.isWaiting = false }
        return waiting
    }

    /// Drops frames that there is no room for, those that are needed last first.
    mutating func trim(to capacity: Int) {
        guard frames.count > max(1, capacity) else { return }
        let room = room(capacity)
        let needed = Set(needed(room))
        // What is needed is never more than there is room for: dropping it would have it decoded for ever.
        let dispensable = frames.keys.filter { !needed.contains($0) }.sorted { distance(to: $0) > distance(to: $1) }
        for frame in dispensable.prefix(max(0, frames.count - room)) { frames[frame] = nil }
    }

    mutating func removeAll() { frames = [:] }

    private func pixels(_ frame: Int) -> PixelBuffer? { frame == 0 ? first : frames[frame] }

    private func room(_ capacity: Int) -> Int {
        max(1, capacity, Set(viewers.values.filter { !$0.isShown && $0.frame != 0 }.map(\.frame)).count)
    }

    /// Frames that are about to be shown, the nearest first, at most `room`.
    private func needed(_ room: Int) -> [Int] {
        let viewers = viewers.sorted { $0.key < $1.key }.map(\.value)
        var needed: [Int] = []
        var seen: Set<Int> = []
        for distance in 0...Self.ahead {
            for viewer in viewers where distance <= viewer.remaining && !(distance == 0 && viewer.isShown) {
                let frame = (viewer.frame + distance) % frameCount
                guard frame != 0, failures[frame] == nil, seen.insert(frame).inserted else { continue }
                guard needed.count < room else { return needed }
                needed.append(frame)
            }
        }
        return needed
    }

    /// How many frames the nearest viewer has to go.
    private func distance(to frame: Int) -> Int {
        viewers.values.map { (frame + frameCount - $0.frame) % frameCount }.min() ?? frameCount
    }
}

/// How many frames an animation may keep: an equal part of the bytes for all that are seen, and less when memory is short.
final class FrameBudget: Sendable {
    private struct State: Sendable {
        var animationCount = 0
        var pressure = MemoryPressure.normal
    }

    private let byteLimit: Int
    private let state = Locked(State())

    init(byteLimit: Int) { self.byteLimit = max(0, byteLimit) }

    var isCritical: Bool { state.withLock { $0.pressure == .critical } }

    func addAnimation() { state.withLock { $0.animationCount += 1 } }

    func removeAnimation() { state.withLock { $0.animationCount -= 1 } }

    func setPressure(_ pressure: MemoryPressure) { state.withLock { $0.pressure = pressure } }

    /// At least two frames, the one that is shown and the next; when memory is short, those alone; when it is critical,
    /// one.
    func capacity(frameBytes: Int) -> Int {
        state.withLock { state in
            switch state.pressure {
            case .critical: 1
            case .warning: 2
            case .normal: max(2, byteLimit / max(1, state.animationCount) / max(1, frameBytes))
            }
        }
    }
}
