import AlcedoRuntime
package import FoundationEssentials

/// Makes a codec's state fit for any thread.
///
/// `@unchecked` because the state is not `Sendable`: all access to it, and to `failure`, is under `lock`. The lock is
/// held while a call decodes, which is what the protocol promises.
package final class IncrementalDecoder<State: IncrementalDecodingState>: IncrementalImageDecoding, @unchecked Sendable {
    private let lock = Locked(())
    private let state: State
    private var failure: ImageDecodingError?

    package init(_ state: sending State) { self.state = state }

    package var info: ImageInfo? { lock.withLock { _ in state.info } }

    package var decodingByteCount: Int? { lock.withLock { _ in state.decodingByteCount } }

    package func append(_ bytes: Data) throws(ImageDecodingError) {
        try exclusively { state throws(ImageDecodingError) in try state.append(bytes) }
    }

    package func preview() throws(ImageDecodingError) -> ImagePreview? {
        try exclusively { state throws(ImageDecodingError) in try state.preview() }
    }

    package func finish() throws(ImageDecodingError) -> DecodedImage {
        try exclusively { state throws(ImageDecodingError) in try state.finish() }
    }

    private func exclusively<Result>(
        _ body: (State) throws(ImageDecodingError) -> Result
    ) throws(ImageDecodingError) -> Result {
        try lock.withLock { _ throws(ImageDecodingError) in
            if let failure { throw failure }
            do throws(ImageDecodingError) {
                return try body(state)
            } catch {
                failure = error
                throw error
            }
        }
    }
}

/// What a codec does to decode incrementally, without a thought for threads. The calls mean what those of
/// ``IncrementalImageDecoding`` mean; ``IncrementalDecoder`` makes them take turns and repeats errors.
package protocol IncrementalDecodingState: AnyObject {
    var info: ImageInfo? { get }
    var decodingByteCount: Int? { get }
    func append(_ bytes: Data) throws(ImageDecodingError)
    func preview() throws(ImageDecodingError) -> ImagePreview?
    func finish() throws(ImageDecodingError) -> DecodedImage
}
