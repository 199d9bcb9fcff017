import FoundationEssentials

/// Incremental decoding for decoders that know none: collects the bytes, and decodes them at the end.
final class WholeFileState<Decoder: ImageDecoding>: IncrementalDecodingState {
    private let decoder: Decoder
    private let options: DecodingOptions
    private var data = Data()
    private(set) var info: ImageInfo?

    init(_ decoder: Decoder, options: DecodingOptions) {
        self.decoder = decoder
        self.options = options
    }

    func append(_ bytes: Data) throws(ImageDecodingError) { data.append(bytes) }

    func preview() throws(ImageDecodingError) -> ImagePreview? { nil }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        info = try? decoder.inspect(data, limits: options.limits)
        return try decoder.decode(data, options: options)
    }
}
