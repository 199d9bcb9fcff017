public import AlcedoCore
import AlcedoRuntime

/// The decoded frames of animations, shared by all views of one image, within a limit of bytes.
///
/// Make one for an app, or a window, and give it to every ``ImageAnimator``. Frames are decoded off the main thread, a few
/// ahead of what is shown; an animation whose frames fit into its part of the limit is decoded once, however often it
/// plays. With a source of memory pressure, what is not about to be shown goes when memory becomes short, and everything
/// when it is critical.
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

    /// - Parameters:
    ///   - byteLimit: Most bytes of decoded frames, in equal parts for the animations that are not hidden. Each may
    ///     keep two frames, whatever the limit. What views hold of their own does not count. Default: 64 MiB.
    ///   - maxConcurrentDecodes: The maximum number of frames that are decoded at once, of different animations. Below one
    ///     counts as one. Default: 2.
    ///   - pressureSource: Tells when memory is short. nil: nobody does. Default: nil.
    public init(
        byteLimit: Int = 64 << 20, maxConcurrentDecodes: Int = 2, pressureSource: (any MemoryPressureSource)? = nil
    ) {
        budget = FrameBudget(byteLimit: byteLimit)
        executor = BlockingExecutor(name: "alcedo.frames", width: maxConcurrentDecodes)
        let observation = pressureSource?.observe { [weak self] in self?.pressureChanged(to: $0) }
        state.withLock { $0.observation = observation }
    }

    /// How many decoded frames there are, of all animations.
    package var frameCount: Int { buffers.reduce(0) { $0 + $1.storedCount } }

    /// The frames of an animation: those that others have, when its source is one object for all.
    ///
    /// - Parameter first: The first frame.
    func buffer(for source: any ImageFrameSource, first: PixelBuffer) -> FrameBuffer {
        let id = (source as? any ImageFrameSource & AnyObject).map { ObjectIdentifier($0) }
        if let id, let buffer = state.withLock({ $0.entries[id]?.buffer }) { return buffer }
        let buffer = FrameBuffer(source, first: first, executor: executor, budget: budget)
        return state.withLock { state in
            // Somebody else may have been quicker.
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
