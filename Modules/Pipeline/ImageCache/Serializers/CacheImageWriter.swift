import AlcedoCore
import FoundationEssentials

/// Writes one image in whatever format is asked for, if that can be done. Blocks.
struct CacheImageWriter {
    private let image: DecodedImage
    private let codecs: CodecRegistry
    private let quality: Double

    init(_ image: DecodedImage, codecs: CodecRegistry, quality: Double) {
        self.image = image
        self.codecs = codecs
        self.quality = quality
    }

    /// nil when nobody writes the format, or the encoder cannot write this image.
    func data(in format: ImageFormat) -> Data? { codecs.encoder(for: format, quality: quality).flatMap(data) }

    /// As ``data(in:)``, and nil when the format cannot hold all of the image.
    func faithfulData(in format: ImageFormat) -> Data? {
        guard let encoder = codecs.encoder(for: format, quality: quality), encoder.holds(image) else { return nil }
        return data(by: encoder)
    }

    /// In the first of the codecs' formats that can hold all of the image.
    var faithfulDataInAnyFormat: Data? {
        for entry in codecs.entries {
            if let data = faithfulData(in: entry.format) { return data }
        }
        return nil
    }

    /// What fails in one format may work in another, so it does not matter how.
    private func data(by encoder: any ImageEncoding) -> Data? { try? encoder.encode(image) }
}
