import FoundationEssentials

/// Waits for as many bytes as formats may look at, then decodes by the decoder that is found for them.
///
/// It does not decide earlier: a format that comes first in order may need more bytes than one that comes later.
final class SniffingState: IncrementalDecodingState {
    private let neededByteCount: Int
    private let makeDecoder: (_ head: Data) throws(ImageDecodingError) -> any IncrementalImageDecoding
    private var head = Data()
    private var decoder: (any IncrementalImageDecoding)?

    /// - Parameter makeDecoder: Throws when no format is known that begins like this.
    init(
        neededByteCount: Int,
        makeDecoder: @escaping (_ head: Data) throws(ImageDecodingError) -> any IncrementalImageDecoding
    ) {
        self.neededByteCount = neededByteCount
        self.makeDecoder = makeDecoder
    }

    var info: ImageInfo? { decoder?.info }

    func append(_ bytes: Data) throws(ImageDecodingError) {
        if let decoder { return try decoder.append(bytes) }
        head.append(bytes)
        if head.count >= neededByteCount { _ = try begin() }
    }

    private func begin() throws(ImageDecodingError) -> any IncrementalImageDecoding {
        let decoder = try makeDecoder(head)
        try decoder.append(head)
        head = Data()
        self.decoder = decoder
        return decoder
    }

    func preview() throws(ImageDecodingError) -> ImagePreview? { try decoder?.preview() }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        if let decoder { return try decoder.finish() }
        return try begin().finish()
    }
}
