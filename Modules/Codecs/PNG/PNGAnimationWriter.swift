import AlcedoCore
import CPNGShim
import FoundationEssentials

extension PNGEncoder {
    /// Encodes an animation. Each frame after the first replaces the smallest rectangle that contains the changes.
    ///
    /// With a palette, all frames are read twice, first to find the colors.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - frames: Its frames, of which none has been written.
    ///   - maximumByteCount: The maximum number of bytes of the encoded frames.
    func encode(
        _ image: DecodedImage, _ frames: inout FrameSequence, maximumByteCount: Int
    ) throws(ImageEncodingError) -> Data {
        let palette = try palette(of: image)
        var animation: PNGAnimationWriter?
        while let (index, pixels, _) = try frames.next() {
            try ImageEncodingError.checkCancellation(.png)
            if animation == nil {
                animation = PNGAnimationWriter(self, image, pixels, palette)
            }
            try animation?.add(
                pixels, delay: image.writtenDelay(at: index, keepsShortDelays: keepsShortDelays))
            guard animation?.byteCount ?? 0 <= maximumByteCount else { throw .exceeds(maximumByteCount, .png) }
        }
        return try animation?.finish() ?? Data()
    }

    /// Returns the palette of the frames of an animation; nil if it is to have none.
    private func palette(of image: DecodedImage) throws(ImageEncodingError) -> PNGPalette? {
        func canHavePalette(_ pixels: PixelBuffer) -> Bool {
            maximumColorCount != nil || usesPaletteWhenLossless && pixels.canHavePalette
        }
        var colors = PNGColorCounter(maximumCount: maximumColorCount)
        // The image is the first frame. If it has too many colors, no frame is requested a second time.
        var first = colors
        guard canHavePalette(image.pixels),
            try first.add(image.pixels.frame(in: .rgba8, hasAlpha: true, of: "PNG"))
        else { return nil }
        var frames = try FrameSequence(image, format: "PNG")
        while let (_, pixels, _) = try frames.next() {
            guard canHavePalette(pixels) else { return nil }
            guard try colors.add(pixels.frame(in: .rgba8, hasAlpha: true, of: "PNG")) else { return nil }
        }
        return try colors.palette(dithers: dithers)
    }
}

/// A writer of the frames of one animation.
///
/// Source: W3C PNG specification, third edition, sections 4.9 and 11.3.6.
private struct PNGAnimationWriter {
    private let encoder: PNGEncoder
    private let header: PixelRowHeader
    private let palette: PNGPalette?
    private let frameCount: Int
    private let playCount: Int?
    private var writer: PNGWriter?
    /// The frame that is shown before the next one.
    private var shown: PixelBuffer?
    /// The number of the next chunk of a frame.
    private var sequence = 0
    private var writtenCount = 0

    /// - Parameter first: The pixels of the first frame, whose format and alpha are those of the file.
    init(_ encoder: PNGEncoder, _ image: DecodedImage, _ first: PixelBuffer, _ palette: PNGPalette?) {
        self.encoder = encoder
        self.palette = palette
        let format: PixelFormat = palette != nil || first.format == .rgbx8 ? .rgba8 : first.format
        header = PixelRowHeader(
            size: first.size, format: format, alphaMode: palette != nil || first.hasAlphaSamples ? .straight : .opaque,
            colorProfile: image.colorProfile, orientation: image.orientation)
        frameCount = image.frames?.frameCount ?? 1
        playCount = image.frames?.playCount
    }

    var byteCount: Int { writer?.byteCount ?? 0 }

    /// Writes the next frame.
    ///
    /// - Throws: `unsupportedImage` for a frame of another size or kind than the first one.
    mutating func add(_ pixels: PixelBuffer, delay: Duration) throws(ImageEncodingError) {
        guard pixels.size == header.size else {
            throw ImageEncodingError(.unsupportedImage, "PNG: the frames have different sizes")
        }
        let frame = try pixels.frame(in: header.format, hasAlpha: header.alphaMode != .opaque, of: "PNG")
        let area = shown.map(frame.changes) ?? .whole(frame.size)
        let control = control(area, delay)
        sequence += 1
        let writer = try writer(control, area.size)
        if let palette {
            try writer.write(palette.indices(of: frame, in: area), width: area.size.width)
        } else {
            try writer.write(frame, in: area)
        }
        shown = frame
        writtenCount += 1
    }

    /// Returns the writer after it has begun a frame.
    private mutating func writer(_ control: [UInt8], _ size: PixelSize) throws(ImageEncodingError) -> PNGWriter {
        if let writer {
            try writer.beginFrame(width: size.width, height: size.height, control: control, sequence: sequence)
            sequence += 1
            return writer
        }
        // Only rows that are compressed at once can be written as a later frame.
        let settings = try encoder.settings(header, .max)
        let chunks = animationControl(frameCount) + control
        let first: PNGWriter
        if let palette {
            first = try palette.writer(settings, header, encoder.metadata, animation: chunks)
        } else {
            first = try PNGWriter(
                settings, colorProfile: header.colorProfile, metadata: encoder.metadata,
                orientation: header.orientation, animation: chunks)
        }
        writer = first
        return first
    }

    /// Returns the file.
    func finish() throws(ImageEncodingError) -> Data {
        guard let writer else { return Data() }
        try writer.finish()
        var file = writer.data()
        guard writtenCount != frameCount else { return file }
        // A damaged frame has ended the animation earlier than its source said.
        let range = file.withUnsafeBytes { bytes -> Range<Int>? in
            var walk = PNGChunkWalk(bytes.bindMemory(to: UInt8.self))
            while let chunk = walk.next() {
                if chunk.name == PNGChunk.Name.actl { return chunk.range }
            }
            return nil
        }
        if let range { file.replaceSubrange(range, with: animationControl(writtenCount)) }
        return file
    }

    /// Returns the chunk with the number of frames and of plays, of which 0 stands for endless repeats.
    private func animationControl(_ frameCount: Int) -> [UInt8] {
        let plays = playCount.map { min(max($0, 1), 0x7FFF_FFFF) } ?? 0
        return PNGFrameFile.chunk("acTL", Self.bigEndian(frameCount, 4) + Self.bigEndian(plays, 4))
    }

    /// Returns the chunk with the properties of a frame that replaces an area and stays.
    private func control(_ area: PixelRect, _ delay: Duration) -> [UInt8] {
        let numbers = [sequence, area.size.width, area.size.height, area.x, area.y]
        let (numerator, denominator) = Self.fraction(delay)
        return PNGFrameFile.chunk(
            "fcTL",
            numbers.flatMap { Self.bigEndian($0, 4) } + Self.bigEndian(numerator, 2) + Self.bigEndian(denominator, 2)
                + [0, 0])
    }

    private static func bigEndian(_ value: Int, _ count: Int) -> [UInt8] {
        (1...count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - $0))) }
    }

    /// Returns the fraction of seconds of two 16-bit numbers that is nearest to a delay: the last convergent of its
    /// continued fraction that fits. At most 65,535 seconds.
    private static func fraction(_ delay: Duration) -> (numerator: Int, denominator: Int) {
        let (seconds, attoseconds) = delay.components
        guard seconds >= 0, attoseconds >= 0 else { return (0, 1) }
        guard seconds < 65_535 else { return (65_535, 1) }
        let second = 1_000_000_000
        var rest = (Int(seconds) * second + Int(attoseconds / 1_000_000_000), second)
        var (last, result) = ((numerator: 0, denominator: 1), (numerator: 1, denominator: 0))
        while rest.1 > 0 {
            let quotient = rest.0 / rest.1
            let next = (
                numerator: quotient * result.numerator + last.numerator,
                denominator: quotient * result.denominator + last.denominator
            )
            guard next.numerator <= 65_535, next.denominator <= 65_535 else { break }
            (last, result) = (result, next)
            rest = (rest.1, rest.0 % rest.1)
        }
        return result
    }
}

extension PixelRect {
    /// Returns the rectangle of a whole image.
    static func whole(_ size: PixelSize) -> PixelRect { PixelRect(x: 0, y: 0, width: size.width, height: size.height) }
}

extension PixelBuffer {
    fileprivate var canHavePalette: Bool {
        PNGPalette.canStore(PixelRowHeader(size: size, format: format, alphaMode: alphaMode))
    }

    /// Returns the smallest rectangle with all pixels that differ from `other`, which must have the same size and
    /// format. Returns one pixel for equal images, because a frame cannot be empty.
    fileprivate func changes(from other: PixelBuffer) -> PixelRect {
        var (left, right, top, bottom) = (width, -1, height, -1)
        for y in 0..<height {
            let difference = row(y).withUnsafeBytes { row in
                other.row(y).withUnsafeBytes { Self.difference(row, $0, format.bytesPerPixel) }
            }
            guard let difference else { continue }
            (left, right) = (min(left, difference.lowerBound), max(right, difference.upperBound))
            (top, bottom) = (min(top, y), y)
        }
        guard bottom >= 0 else { return PixelRect(x: 0, y: 0, width: 1, height: 1) }
        return PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }

    /// Returns the first and the last pixel that differ in two rows, or nil for equal rows.
    private static func difference(
        _ row: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer, _ pixelByteCount: Int
    ) -> ClosedRange<Int>? {
        // Eight bytes at a time. The rest has the same pixels in most images.
        let words = row.count / 8
        func isEqual(_ word: Int) -> Bool {
            row.loadUnaligned(fromByteOffset: 8 * word, as: UInt64.self)
                == other.loadUnaligned(fromByteOffset: 8 * word, as: UInt64.self)
        }
        let firstWord = (0..<words).first { !isEqual($0) } ?? words
        guard let first = (8 * firstWord..<row.count).first(where: { row[$0] != other[$0] }) else { return nil }
        let last = (first..<row.count).last { row[$0] != other[$0] } ?? first
        return first / pixelByteCount...last / pixelByteCount
    }
}
