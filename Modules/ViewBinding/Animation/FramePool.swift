public import AlcedoCore
import AlcedoRuntime

/// A pool of decoded animation frames with a byte limit. Views of an image share its frames if its frame source is a
/// class instance. All frame sources of this package are class instances.
///
/// ```swift
/// let frames = FramePool(byteLimit: 32 << 20, pressureSource: SystemMemoryPressureSource())
/// let animator = ImageAnimator(image, pool: frames)
/// ```
///
/// Create one pool for an app or a window, and pass it to every ``ImageAnimator``. Frames are decoded off the main
/// thread, a few ahead of the shown frame. If the frames of an animation fit into its share of the limit, each frame is
/// decoded only once while a view shows the animation and the memory pressure is normal.
///
/// With a memory pressure source, the pool keeps at most two frames of each animation while the pressure is `warning`.
/// When it becomes `critical`, the pool drops all frames, and then keeps at most one frame of each animation. In both
/// cases, it keeps more if the animation's views wait for more different frames.
public final class FramePool: Sendable {
    private struct Entry: Sendable {
        weak let buffer: FrameBuffer?
    }

    private struct State: Sendable {
        var entries: [ObjectIdentifier: Entry] = [:]
        var observation: (any Sendable)?
    }

    private let budget: FrameBudget
    private let executor: BlockingExecutor
    private let state = Locked(State())

    /// Creates an empty pool.
    ///
    /// - Parameters:
    ///   - byteLimit: The maximum number of bytes of decoded frames, divided equally among the visible animations. A
    ///     frame counts as its canvas at four bytes per pixel, with padded rows. Each animation may keep two frames
    ///     regardless of the limit, and more if its views wait for more frames. When a further animation becomes
    ///     visible, the others drop frames beyond their smaller shares, each at its next call of
    ///     ``ImageAnimator/advance(to:)``. The first frame of an image and frames that views hold themselves do not
    ///     count. Negative values are treated as zero. Default: 64 MiB.
    ///   - maxConcurrentDecodes: The maximum number of frames, of different animations, that are decoded concurrently.
    ///     Values below one are treated as one. Default: 2.
    ///   - pressureSource: The source of memory pressure, which counts as normal until the first reported change; nil
    ///     to ignore memory pressure. Default: nil.
    public init(
        byteLimit: Int = 64 << 20, maxConcurrentDecodes: Int = 2, pressureSource: (any MemoryPressureSource)? = nil
    ) {
        budget = FrameBudget(byteLimit: byteLimit)
        executor = BlockingExecutor(name: "alcedo.frames", maxConcurrent: maxConcurrentDecodes)
        let observation = pressureSource?.observe { [weak self] in self?.pressureChanged(to: $0) }
        state.withLock { $0.observation = observation }
    }

    /// The number of decoded frames of all animations, without their first frames.
    package var frameCount: Int { buffers.reduce(0) { $0 + $1.storedCount } }

    /// Drops the decoded frames of one animation, except for its first frame and those that views hold themselves.
    ///
    /// Views that show the animation continue: the frames that they need next are decoded again. The frames of a hidden
    /// view need no call, because ``ImageAnimator/isHidden`` drops them if no other view shows the animation. Has no
    /// effect on an image without frames in this pool.
    public func removeFrames(of image: DecodedImage) {
        // Only a source that is an object can be recognized, so the frames of another one are in no shared buffer.
        guard let source = image.frames as? any ImageFrameSource & AnyObject else { return }
        state.withLock { $0.entries[ObjectIdentifier(source)]?.buffer }?.removeAll()
    }

    /// Returns the frame buffer of an animation. If the source is an object whose buffer is still in use, returns that
    /// buffer. Otherwise creates a buffer. The pool holds buffers weakly.
    ///
    /// - Parameters:
    ///   - source: The source of the frames.
    ///   - first: The first frame.
    func buffer(for source: any ImageFrameSource, first: PixelBuffer) -> FrameBuffer {
        let id = (source as? any ImageFrameSource & AnyObject).map { ObjectIdentifier($0) }
        if let id, let buffer = state.withLock({ $0.entries[id]?.buffer }) { return buffer }
        let buffer = FrameBuffer(source, first: first, executor: executor, budget: budget)
        return state.withLock { state in
            // Another thread may have added a buffer in the meantime.
            if let id, let other = state.entries[id]?.buffer { return other }
            state.entries = state.entries.filter { $0.value.buffer != nil }
            state.entries[id ?? ObjectIdentifier(buffer)] = Entry(buffer: buffer)
            return buffer
        }
    }

    private var buffers: [FrameBuffer] { state.withLock { $0.entries.values.compactMap(\.buffer) } }

    private func pressureChanged(to pressure: MemoryPressure) {
        budget.setPressure(pressure)
        guard pressure > .normal else { return }
        for buffer in buffers { buffer.trim() }
    }
}

/// The memory budget of animations. Each visible animation may keep an equal share of the bytes, and less under memory
/// pressure.
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

    /// Returns the number of frames that one animation may keep. The number is one while the memory pressure is
    /// `critical`, and two while it is `warning`. Otherwise it is the number of frames that fit into the animation's
    /// share of the byte limit, but at least two, for the shown frame and the next one.
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
