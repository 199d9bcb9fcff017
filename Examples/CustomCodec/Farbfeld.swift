import AlcedoCore
import FoundationEssentials

extension ImageFormat {
    /// The farbfeld format: a signature, the width and the height as 32-bit numbers, and four 16-bit samples for each
    /// pixel, all of them big-endian.
    ///
    /// Source: https://tools.suckless.org/farbfeld/
    static let farbfeld = ImageFormat(rawValue: "farbfeld")
}

extension CodecRegistry.Entry {
    /// The codec of farbfeld. The format is lossless and therefore has no quality setting.
    static var farbfeld: Self {
        Self(
            format: .farbfeld, decoder: FarbfeldDecoder(), signatures: [Farbfeld.signature],
            makeEncoder: { _ in FarbfeldEncoder() })
    }
}

private enum Farbfeld {
    static let signature = Array("farbfeld".utf8)
    static let headerLength = 16
    static let bytesPerPixel = 8
}

/// A decoder of farbfeld. Decodes images at their full size, with 8 or 16 bits a sample.
struct FarbfeldDecoder: ImageDecoding {
    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        guard data.count >= Farbfeld.headerLength else { throw ImageDecodingError(.truncated, "truncated header") }
        guard data.starts(with: Farbfeld.signature) else { throw ImageDecodingError(.corrupt, "missing signature") }
        let size = data.withUnsafeBytes { header in
            PixelSize(
                width: Int(UInt32(bigEndian: header.loadUnaligned(fromByteOffset: 8, as: UInt32.self))),
                height: Int(UInt32(bigEndian: header.loadUnaligned(fromByteOffset: 12, as: UInt32.self))))
        }
        // The limits are checked before any allocation, because a header of 16 bytes may claim 2^64 pixels.
        try limits.check(size, format: .rgba16)
        let info = ImageInfo(format: .farbfeld, size: size, hasAlpha: true, bitDepth: 16)
        return WholeImageReader(info) { options throws(ImageDecodingError) in try image(data, size, options) }
    }

    private func image(
        _ data: Data, _ size: PixelSize, _ options: DecodingOptions
    ) throws(ImageDecodingError) -> DecodedImage {
        try options.limits.check(size, format: .rgba16)
        guard (data.count - Farbfeld.headerLength) / Farbfeld.bytesPerPixel >= size.pixelCount else {
            throw ImageDecodingError(.truncated, "the pixels are truncated")
        }
        let format: PixelFormat = options.pixelFormat == .rgba16 ? .rgba16 : .rgba8
        let pixels = data.withUnsafeBytes { file in
            PixelBuffer(size: size, format: format, alphaMode: .straight) { memory, bytesPerRow in
                var offset = Farbfeld.headerLength
                for y in 0..<size.height {
                    for index in 0..<size.width * 4 {
                        let sample = UInt16(bigEndian: file.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
                        if format == .rgba16 {
                            memory.storeBytes(of: sample, toByteOffset: y * bytesPerRow + index * 2, as: UInt16.self)
                        } else {
                            memory[y * bytesPerRow + index] = UInt8(sample >> 8)
                        }
                        offset += 2
                    }
                }
            }
        }
        guard let pixels else { throw ImageDecodingError(.outOfMemory, "cannot allocate the pixels: out of memory") }
        return DecodedImage(pixels: pixels.converted(to: options.alphaMode), format: .farbfeld)
    }
}

/// An encoder of farbfeld. Encodes the first frame. The format stores neither a color profile nor an orientation: the
/// profile is dropped, and an image that is not upright is rejected.
struct FarbfeldEncoder: ImageEncoding {
    var format: ImageFormat { .farbfeld }

    func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        let sides = [image.size.width, image.size.height].compactMap { UInt32(exactly: $0) }
        guard image.orientation == .up, sides.count == 2 else {
            throw ImageEncodingError(.unsupportedImage, "farbfeld stores upright images with sides of at most 32 bits")
        }
        let pixels = image.pixels.converted(to: .straight)
        var file = Data(Farbfeld.signature)
        file.reserveCapacity(Farbfeld.headerLength + pixels.size.pixelCount * Farbfeld.bytesPerPixel)
        for side in sides { withUnsafeBytes(of: side.bigEndian) { file.append(contentsOf: $0) } }
        pixels.withUnsafeBytes { memory in
            for y in 0..<pixels.size.height {
                for index in 0..<pixels.size.width * 4 {
                    let sample = Self.sample(index, of: memory, from: y * pixels.bytesPerRow, pixels.format)
                    withUnsafeBytes(of: sample.bigEndian) { file.append(contentsOf: $0) }
                }
            }
        }
        return file
    }

    /// Returns a sample of the row that begins at `row`, scaled to 16 bits. `index` counts four samples for each pixel:
    /// red, green, blue and alpha, even if the row is gray.
    private static func sample(
        _ index: Int, of memory: UnsafeRawBufferPointer, from row: Int, _ format: PixelFormat
    ) -> UInt16 {
        switch format {
        case .rgba16: memory.load(fromByteOffset: row + index * 2, as: UInt16.self)
        // Scales 255 to 65,535.
        case .rgba8, .rgbx8: UInt16(memory[row + index]) * 257
        case .gray16: index % 4 == 3 ? .max : memory.load(fromByteOffset: row + index / 4 * 2, as: UInt16.self)
        case .gray8: index % 4 == 3 ? .max : UInt16(memory[row + index / 4]) * 257
        }
    }
}
