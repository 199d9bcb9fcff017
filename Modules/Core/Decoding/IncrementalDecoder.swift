import AlcedoRuntime
package import FoundationEssentials

/// An incremental decoder that serializes the calls to the state of a codec, so that any thread can use it.
///
/// `@unchecked` because the state is not `Sendable`. All access to the state and to `failure` is protected by `lock`.
/// The lock is held while a call decodes, because the protocol promises that calls run one at a time.
package final class IncrementalDecoder<State: IncrementalDecodingState>: IncrementalImageDecoding, @unchecked Sendable {
    private let lock = Locked(())
    private let state: State
    private var failure: ImageDecodingError?

    package init(_ state: sending State) { self.state = state }

    package var info: ImageInfo? { lock.withLock { _ in state.info } }

    package var decodingByteCount: Int? { lock.withLock { _ in state.decodingByteCount } }

    package func append(_ bytes: Data) throws(ImageDecodingError) {
        // An empty piece must not look like an empty file.
        try exclusively { state throws(ImageDecodingError) in if !bytes.isEmpty { try state.append(bytes) } }
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

/// The codec-specific part of incremental decoding. It does not need to be thread-safe.
///
/// The requirements have the same meaning as those of ``IncrementalImageDecoding``. ``IncrementalDecoder`` serializes
/// the calls and throws the first error again in later calls.
package protocol IncrementalDecodingState: AnyObject {
    var info: ImageInfo? { get }
    var decodingByteCount: Int? { get }
    func append(_ bytes: Data) throws(ImageDecodingError)
    func preview() throws(ImageDecodingError) -> ImagePreview?
    func finish() throws(ImageDecodingError) -> DecodedImage
}
