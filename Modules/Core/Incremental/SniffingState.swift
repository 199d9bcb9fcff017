import FoundationEssentials

/// Waits for as many bytes as show the format, then decodes by the decoder that is found for them.
final class SniffingState: IncrementalDecodingState {
    private let makeDecoder: (_ head: Data, _ isEnd: Bool) throws(ImageDecodingError) -> (any IncrementalImageDecoding)?
    private var head = Data()
    private var decoder: (any IncrementalImageDecoding)?

    /// - Parameter makeDecoder: Returns nil when more bytes are needed, which at the end there are not; throws when no
    ///   format is known that begins like this.
    init(
        makeDecoder:
            @escaping (_ head: Data, _ isEnd: Bool) throws(ImageDecodingError) -> (
                any IncrementalImageDecoding
            )?
    ) {
        self.makeDecoder = makeDecoder
    }

    var info: ImageInfo? { decoder?.info }

    var decodingByteCount: Int? { decoder?.decodingByteCount }

    func append(_ bytes: Data) throws(ImageDecodingError) {
        if let decoder { return try decoder.append(bytes) }
        head.append(bytes)
        try begin(isEnd: false)
    }

    private func begin(isEnd: Bool) throws(ImageDecodingError) {
        guard let decoder = try makeDecoder(head, isEnd) else { return }
        self.decoder = decoder
        try decoder.append(head)
        head = Data()
    }

    func preview() throws(ImageDecodingError) -> ImagePreview? { try decoder?.preview() }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        if decoder == nil { try begin(isEnd: true) }
        guard let decoder else { throw ImageDecodingError(.unknownFormat, "the bytes are in no known format") }
        return try decoder.finish()
    }
}
