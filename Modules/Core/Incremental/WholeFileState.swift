import FoundationEssentials

/// Incremental decoding for decoders that know none: collects the bytes, and decodes them at the end.
final class WholeFileState: IncrementalDecodingState {
    private let inspect: (Data) throws(ImageDecodingError) -> ImageInfo
    private let decode: (Data) throws(ImageDecodingError) -> DecodedImage
    private var data = Data()
    private(set) var info: ImageInfo?

    /// Nothing is decoded before the end.
    var decodingByteCount: Int? { nil }

    init(
        inspect: @escaping (Data) throws(ImageDecodingError) -> ImageInfo,
        decode: @escaping (Data) throws(ImageDecodingError) -> DecodedImage
    ) {
        self.inspect = inspect
        self.decode = decode
    }

    func append(_ bytes: Data) throws(ImageDecodingError) { data.append(bytes) }

    func preview() throws(ImageDecodingError) -> ImagePreview? { nil }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        info = try? inspect(data)
        return try decode(data)
    }
}
