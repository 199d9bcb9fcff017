import AlcedoCore
import FoundationEssentials

/// A bitmap whose bytes are in memory, and whose rows can be written in any order.
struct Bitmap {
    /// The bytes from the beginning of the file, or of the entry of an icon.
    let bytes: UnsafeBufferPointer<UInt8>
    let header: BitmapHeader
    /// The offset of the first stored row.
    let pixelStart: Int
    let palette: Palette
    /// The rows of a run-length bitmap; nil for other bitmaps.
    let runs: RunLengths?
    /// The ICC profile, if it is within the bytes and the limits.
    var colorProfile: Data?
    /// The format of the rows: rgba8 or rgba16.
    let format: PixelFormat
    /// The mask of an icon; nil for other bitmaps.
    var mask: IconMask?
    /// The damage of the bitmap; nil when none was found.
    var damage: ImageDamage?
    /// The name of the format in messages.
    let name: String

    private let scaling: BitFieldScaling?

    /// Creates a bitmap. The limits must have been checked.
    ///
    /// - Parameters:
    ///   - paletteRange: The bytes of the palette. They may end before the range does.
    ///   - pixelStart: The offset of the first stored row.
    ///   - options: The options, which determine the format of the rows.
    ///   - name: The name of the format in messages.
    init(
        _ bytes: UnsafeBufferPointer<UInt8>, _ header: BitmapHeader, paletteRange: Range<Int>, pixelStart: Int,
        options: DecodingOptions, name: String
    ) {
        self.bytes = bytes
        self.header = header
        self.pixelStart = pixelStart
        self.name = name
        palette = Palette(
            UnsafeBufferPointer(rebasing: bytes[paletteRange.clamped(to: 0..<bytes.count)]),
            entryByteCount: header.paletteEntryByteCount)
        format = Bitmap.format(of: header, options)
        scaling = header.fields.map { BitFieldScaling($0, maximum: Bitmap.format(of: header, options).maximum) }
        let pixels = UnsafeBufferPointer(rebasing: bytes[min(pixelStart, bytes.count)...])
        runs = header.compression == .runLengths ? RunLengths(pixels, header) : nil
        let hasAllPixels = runs?.hasAllRows ?? (pixels.count >= header.minimumPixelByteCount)
        let isComplete = runs?.isComplete ?? (pixels.count / header.bytesPerRow >= header.size.height)
        if !isComplete {
            damage = ImageDamage(
                hasAllPixels ? .harmless : .missingPixels,
                ImageDecodingError(
                    .truncated,
                    runs != nil && hasAllPixels
                        ? "\(name): the end code is missing" : "\(name): the data ends within the pixels"))
        }
    }

    /// Whether pixels are missing.
    var isPartial: Bool { damage?.kind == .missingPixels }

    /// Returns the format of the rows: rgba16 when it is requested and the file has samples of more than 8 bits.
    static func format(of header: BitmapHeader, _ options: DecodingOptions) -> PixelFormat {
        options.pixelFormat.available(isGray: false, isDeep: header.bitDepth > 8)
    }

    /// Whether at least one pixel can be decoded.
    var hasPixels: Bool {
        guard let runs else { return bytes.count - pixelStart >= header.usedBytesPerRow }
        return runs.coveredPixelCount > 0
    }

    var alphaMode: AlphaMode {
        let isCovered = runs.map { $0.coveredPixelCount == header.size.pixelCount } ?? true
        return header.fields?.alpha != nil || mask != nil || isPartial || !isCovered ? .straight : .opaque
    }

    /// Returns the offset of a row of the image, counted from the top; nil when a pixel of the row is missing.
    private func offset(ofRow y: Int) -> Int? {
        let offset = pixelStart + storedIndex(ofRow: y) * header.bytesPerRow
        return offset <= bytes.count - header.usedBytesPerRow ? offset : nil
    }

    private func storedIndex(ofRow y: Int) -> Int { header.isTopDown ? y : header.size.height - 1 - y }

    /// Writes row `y` of the image, counted from the top. Missing pixels are transparent black.
    ///
    /// - Parameter target: Memory of at least `width` pixels of ``format``.
    func writeRow(_ y: Int, to target: UnsafeMutableRawBufferPointer) {
        guard let base = target.baseAddress else { return }
        let width = header.size.width
        if let runs {
            target.initializeMemory(as: UInt8.self, repeating: 0)
            return runs.write(storedIndex(ofRow: y), to: base.assumingMemoryBound(to: SIMD4<UInt8>.self), palette)
        }
        guard let offset = offset(ofRow: y), let source = bytes.baseAddress.map({ UnsafeRawPointer($0 + offset) })
        else {
            target.initializeMemory(as: UInt8.self, repeating: 0)
            return
        }
        if let scaling {
            write(source, to: base, width, scaling)
        } else if header.bitsPerPixel == 24 {
            Self.writeTriples(source, to: base, width)
        } else {
            writeIndices(source, to: base, width)
        }
        mask?.clear(y, base, format)
    }

    private func writeIndices(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ width: Int) {
        let bits = header.bitsPerPixel
        let highest = UInt8(truncatingIfNeeded: 1 << bits - 1)
        for x in 0..<width {
            let byte = source.load(fromByteOffset: (x &* bits) &>> 3, as: UInt8.self)
            // The leftmost pixel is in the highest bits.
            let index = byte &>> UInt8(truncatingIfNeeded: 8 &- bits &- ((x &* bits) & 7)) & highest
            target.storeBytes(of: palette[index], toByteOffset: x &* 4, as: SIMD4<UInt8>.self)
        }
    }

    private static func writeTriples(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ width: Int) {
        for x in 0..<width {
            let pixel = SIMD4<UInt8>(
                source.load(fromByteOffset: 3 &* x &+ 2, as: UInt8.self),
                source.load(fromByteOffset: 3 &* x &+ 1, as: UInt8.self),
                source.load(fromByteOffset: 3 &* x, as: UInt8.self), 255)
            target.storeBytes(of: pixel, toByteOffset: x &* 4, as: SIMD4<UInt8>.self)
        }
    }

    private func write(
        _ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ width: Int, _ scaling: BitFieldScaling
    ) {
        if header.fields == .eightBits || header.fields == .eightBitsWithAlpha {
            let unused: UInt8 = header.fields?.alpha == nil ? 255 : 0
            for x in 0..<width {
                let pixel = source.loadUnaligned(fromByteOffset: 4 &* x, as: SIMD4<UInt8>.self)
                target.storeBytes(
                    of: SIMD4(pixel.z, pixel.y, pixel.x, pixel.w | unused), toByteOffset: 4 &* x,
                    as: SIMD4<UInt8>.self)
            }
            return
        }
        for x in 0..<width {
            let pixel =
                header.bitsPerPixel == 32
                ? UInt32(littleEndian: source.loadUnaligned(fromByteOffset: 4 &* x, as: UInt32.self))
                : UInt32(UInt16(littleEndian: source.loadUnaligned(fromByteOffset: 2 &* x, as: UInt16.self)))
            let samples = scaling.samples(of: pixel)
            if format == .rgba16 {
                target.storeBytes(
                    of: SIMD4<UInt16>(truncatingIfNeeded: samples), toByteOffset: 8 &* x, as: SIMD4<UInt16>.self)
            } else {
                target.storeBytes(
                    of: SIMD4<UInt8>(truncatingIfNeeded: samples), toByteOffset: 4 &* x, as: SIMD4<UInt8>.self)
            }
        }
    }
}

private extension PixelFormat {
    var maximum: UInt64 { self == .rgba16 ? 65_535 : 255 }
}
