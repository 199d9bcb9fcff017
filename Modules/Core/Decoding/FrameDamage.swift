import AlcedoRuntime

/// The damage that was found in the frames of an animation, and the end that it puts to the animation.
///
/// Reading it never waits for a frame that is being decoded.
package final class FrameDamage: Sendable {
    private struct State {
        var frameCount: Int
        /// The error of the first frame that is known to be damaged.
        var end: ImageDecodingError?
        /// The worst damage of frames that are shown.
        var tolerated: ImageDamage?
    }

    private let state: Locked<State>

    /// Creates the record of an animation in which no damage was found.
    package init(frameCount: Int) { state = Locked(State(frameCount: frameCount)) }

    /// The number of frames before the first one that is known to be damaged.
    package var frameCount: Int { state.withLock { $0.frameCount } }

    /// The worst damage; nil when none was found.
    package var worst: ImageDamage? {
        state.withLock { state in
            let end = state.end.map { error in
                let message = "the animation ends before frame \(state.frameCount): \(error.message)"
                return ImageDamage(.harmless, ImageDecodingError(error.code, message))
            }
            return .worst(end, state.tolerated)
        }
    }

    /// Returns a decoded frame, and ends the animation before it if `decode` throws an error that means damage. Throws
    /// the error of `decode`, or that which ended the animation before the frame.
    package func frame<Frame>(
        _ index: Int, _ decode: () throws(ImageDecodingError) -> Frame
    ) throws(ImageDecodingError) -> Frame {
        try check(index)
        do throws(ImageDecodingError) {
            return try decode()
        } catch {
            record(error, at: index)
            throw error
        }
    }

    /// Throws the error that ended the animation, if it ended before a frame.
    package func check(_ index: Int) throws(ImageDecodingError) {
        let error = state.withLock { index < $0.frameCount ? nil : $0.end }
        if let error { throw error }
    }

    /// Ends the animation before a frame if the error means that the data of the frame is unusable. The first frame
    /// belongs to the image, and exhausted memory says nothing about the data.
    package func record(_ error: ImageDecodingError, at index: Int) {
        guard index > 0, [.corrupt, .truncated, .unsupportedVariant].contains(error.code) else { return }
        state.withLock { state in
            guard index < state.frameCount else { return }
            (state.frameCount, state.end) = (index, error)
        }
    }

    /// Records the damage of a frame that is shown.
    package func record(_ damage: ImageDamage?) {
        guard let damage else { return }
        state.withLock { $0.tolerated = .worst($0.tolerated, damage) }
    }
}
