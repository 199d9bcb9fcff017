public import AlcedoCore
private import CPNGShim
public import FoundationEssentials

/// Encodes 8-bit images as PNG, by libpng. Lossless for straight alpha; premultiplied samples are divided by alpha.
public struct PNGEncoder: ImageEncoding {
    /// How hard zlib tries: 0 (stored) to 9 (smallest). Values outside count as the nearest.
    public var compressionLevel: Int

    public init(compressionLevel: Int = 6) { self.compressionLevel = compressionLevel }

    public var format: ImageFormat { .png }

    /// Encodes RGBA8 (as RGB when it is opaque), RGBX8 and gray8. A colour profile that is damaged or made for other
    /// colours than those of the picture is left out.
    ///
    /// - Throws: ``ImageEncodingError``: `unsupportedImage` for other pixel formats.
    public func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        let pixels = image.pixels.unpremultiplied().upright(from: image.orientation)
        let channels: Int32
        switch pixels.format {
        case .gray8: channels = 1
        case .rgbx8: channels = 3
        case .rgba8: channels = pixels.alphaMode == .opaque ? 3 : 4
        case .rgba16:
            throw ImageEncodingError(.unsupportedImage, "PNG: \(pixels.format.rawValue) pixels are not encoded")
        }
        guard let width = UInt32(exactly: pixels.width), let height = UInt32(exactly: pixels.height) else {
            throw ImageEncodingError(.unsupportedImage, "PNG: \(pixels.size) pixels do not fit the format")
        }
        return try pixels.withUnsafeBytes { memory throws(ImageEncodingError) in
            guard let base = memory.baseAddress else { return Data() }
            let profile = image.colorProfile ?? Data()
            return try profile.bytes.withUnsafeBytes { icc throws(ImageEncodingError) in
                var output = alcedo_png_output()
                let status = alcedo_png_encode(
                    base.assumingMemoryBound(to: UInt8.self), pixels.bytesPerRow, width, height, channels,
                    Int32(pixels.format.bytesPerPixel), Int32(min(max(compressionLevel, 0), 9)),
                    icc.baseAddress?.assumingMemoryBound(to: UInt8.self), icc.count, &output)
                guard status == ALCEDO_PNG_OK, let bytes = output.bytes else {
                    let message = withUnsafeBytes(of: output.message) {
                        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                    }
                    throw ImageEncodingError(
                        status == ALCEDO_PNG_OUT_OF_MEMORY ? .outOfMemory : .failed, "PNG: \(message)")
                }
                return Data(
                    bytesNoCopy: bytes, count: output.count,
                    deallocator: .custom { pointer, _ in
                        alcedo_png_free(pointer.assumingMemoryBound(to: UInt8.self))
                    })
            }
        }
    }
}
