import FoundationEssentials

/// Waits for as many bytes as show the format, then decodes by that format's decoder.
final class SniffingState: IncrementalDecodingState {
    private let registry: CodecRegistry
    private let options: DecodingOptions
    private var head = Data()
    private var decoder: (any IncrementalImageDecoding)?

    init(_ registry: CodecRegistry, options: DecodingOptions) {
        self.registry = registry
        self.options = options
    }

    var info: ImageInfo? { decoder?.info }

    func append(_ bytes: Data) throws(ImageDecodingError) {
        if let decoder { return try decoder.append(bytes) }
        head.append(bytes)
        if let entry = registry.entry(for: head) {
            let decoder = entry.decoder.makeIncrementalDecoder(options: options)
            self.decoder = decoder
            try decoder.append(head)
            head = Data()
        } else if head.count >= CodecRegistry.sniffedByteCount {
            throw registry.unknownFormat(head)
        }
    }

    func preview() throws(ImageDecodingError) -> ImagePreview? { try decoder?.preview() }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        guard let decoder else { throw registry.unknownFormat(head) }
        return try decoder.finish()
    }
}
