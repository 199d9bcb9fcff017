import AlcedoCore
import FoundationEssentials

/// A parser that reads the blocks of a GIF as far as bytes are available, and resumes when more arrive.
///
/// Reading resumes at the first unfinished block or sub-block. The caller always passes all bytes received so far.
///
/// Source: GIF89a.
struct GIFParser {
    private enum State {
        case header
        case block
        case subBlocks
        case pixels(GIFFrame)
        case ended
    }

    /// The disposal, transparency and delay of the next image. Source: GIF89a section 23.
    private struct GraphicControl {
        var disposal = FrameDisposal.keep
        var transparentIndex: Int?
        var delay = Duration.zero
    }

    private let limits: DecodingLimits
    private var state = State.header
    private var offset = 0
    private var control = GraphicControl()
    /// The extension that is being read. It is stored outside `state`, so that it is changed in place. In an enum case,
    /// the collected bytes could be copied for every sub-block.
    private var currentExtension = GIFExtension(label: 0)

    /// The structure, or `nil` until the header is complete.
    private(set) var structure: GIFStructure?
    /// The image whose pixels are arriving.
    private(set) var unfinished: GIFFrame?
    /// The damage of the blocks, which does not change the first image; nil when none was found.
    private(set) var damage: ImageDamage?
    /// The result of ``finish(_:)``, so that the rows of a last frame without an end are counted once.
    private var finished: GIFStructure?

    init(limits: DecodingLimits) { self.limits = limits }

    /// The first image, complete or not, or `nil` until its header is complete.
    var firstFrame: GIFFrame? { structure?.frames.first ?? unfinished }

    /// Reads blocks as far as bytes are available. `bytes` must be all bytes received so far.
    mutating func advance(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) {
        while try step(bytes) {}
    }

    /// Ends the file, and returns its structure. A first image whose pixels are incomplete becomes its frame, and so
    /// does a later image of which only the end is missing. Later calls return the same structure.
    ///
    /// - Throws: `truncated` when the bytes end before the first image does not even have a header, and `corrupt` for a
    ///   file without an image.
    mutating func finish(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> GIFStructure {
        if let finished { return finished }
        if structure?.frames.isEmpty == true { try addPlaceholder(bytes) }
        guard var structure, let first = firstFrame else {
            guard case .ended = state else { throw Self.missingTrailer }
            throw ImageDecodingError(.corrupt, "GIF: the file has no image")
        }
        if structure.frames.isEmpty {
            structure.frames = [first]
        } else if case .pixels(let last) = state, Self.hasAllRows(last, bytes) {
            structure.frames.append(last)
        }
        if case .ended = state {} else { report(Self.missingTrailer) }
        finished = structure
        return structure
    }

    private static let missingTrailer = ImageDecodingError(.truncated, "GIF: the data ends before the trailer")

    /// Returns whether the available bytes of an image have all its rows.
    private static func hasAllRows(_ frame: GIFFrame, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let decoder = GIFRowDecoder(frame, codeSize: bytes[frame.dataStart])
        while (try? decoder.next(bytes)) != nil {}
        return decoder.isComplete
    }

    /// Takes the image of a placeholder: one pixel whose data is missing altogether.
    private mutating func addPlaceholder(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) {
        guard case .block = state, offset < bytes.count, bytes[offset] == 0x2C, let frame = nextFrame(bytes),
            frame.size == PixelSize(width: 1, height: 1)
        else { return }
        unfinished = try placed(frame)
    }

    /// Records damage that does not change the images that have been read.
    private mutating func report(_ error: ImageDecodingError) {
        damage = ImageDamage.worst(damage, ImageDamage(.harmless, error))
    }

    /// Ends the animation before a damaged block, or throws the error when no image has been read.
    private mutating func end(before error: ImageDecodingError) throws(ImageDecodingError) {
        guard structure?.frames.isEmpty == false else { throw error }
        report(error)
        state = .ended
    }

    /// Reads one element. Returns `false` when more bytes are needed or the file has ended.
    private mutating func step(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> Bool {
        switch state {
        case .header: return try readHeader(bytes)
        case .block: return try readBlock(bytes)
        case .subBlocks: return readSubBlock(bytes)
        case .pixels(let frame): return try skipPixels(bytes, frame)
        case .ended: return false
        }
    }

    private mutating func readHeader(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> Bool {
        try Self.checkSignature(bytes.prefix(6))
        guard bytes.count >= 13 else { return false }
        let canvas = PixelSize(width: bytes.word(at: 6), height: bytes.word(at: 8))
        // The canvas of an empty screen is that of the first image.
        if canvas.isPositive { try limits.check(canvas, format: .rgba8) }
        let palette = Self.palette(after: 13, flags: bytes[10])
        guard bytes.count >= palette?.upperBound ?? 13 else { return false }
        structure = GIFStructure(canvas: canvas, palette: palette)
        offset = palette?.upperBound ?? 13
        state = .block
        return true
    }

    private mutating func readBlock(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> Bool {
        guard offset < bytes.count else { return false }
        switch bytes[offset] {
        case 0x21:
            guard bytes.count - offset >= 2 else { return false }
            currentExtension = GIFExtension(label: bytes[offset + 1])
            state = .subBlocks
            offset += 2
        case 0x2C:
            return try readImage(bytes)
        case 0x3B:
            state = .ended
        case 0:
            // A second terminator of sub-blocks. The end of an XMP trailer can be read as one, and some writers add
            // one.
            offset += 1
        case let introducer:
            try end(before: ImageDecodingError(.corrupt, "GIF: invalid block introducer \(introducer)"))
        }
        return true
    }

    private mutating func readImage(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> Bool {
        // The comparison includes the byte with the minimum code size.
        guard var frame = nextFrame(bytes), bytes.count > frame.dataStart else { return false }
        let isFirst = structure?.frames.isEmpty != false
        if isFirst { frame = try placed(frame) }
        do throws(ImageDecodingError) {
            // The image may be larger than the canvas to which it is clipped, and its rows are decoded anyway.
            try limits.check(frame.size, format: .rgba8)
            if !isFirst, let canvas = structure?.canvas, frame.area.clipped(to: canvas) == nil {
                throw ImageDecodingError(.corrupt, "GIF: an image is outside of the screen")
            }
        } catch {
            try end(before: error)
            return true
        }
        try limits.check(frameCount: (structure?.frames.count ?? 0) + 1)
        unfinished = frame
        control = GraphicControl()
        offset = frame.dataStart + 1
        state = .pixels(frame)
        return true
    }

    /// Returns the image whose header is at the current position, or nil until its header and its palette are complete.
    private func nextFrame(_ bytes: UnsafeBufferPointer<UInt8>) -> GIFFrame? {
        guard bytes.count - offset >= 10 else { return nil }
        let flags = bytes[offset + 9]
        let palette = Self.palette(after: offset + 10, flags: flags)
        let dataStart = palette?.upperBound ?? offset + 10
        guard bytes.count >= dataStart else { return nil }
        return GIFFrame(
            area: PixelRect(
                x: bytes.word(at: offset + 1), y: bytes.word(at: offset + 3), width: bytes.word(at: offset + 5),
                height: bytes.word(at: offset + 7)),
            isInterlaced: flags & 0x40 != 0, palette: palette, transparentIndex: control.transparentIndex,
            disposal: control.disposal, delay: control.delay, dataStart: dataStart)
    }

    /// Returns the first image with an area that is not empty.
    ///
    /// If the screen is empty, it gets the size of the image. If the image is empty, it gets that of the screen.
    /// Firefox does the same.
    private mutating func placed(_ frame: GIFFrame) throws(ImageDecodingError) -> GIFFrame {
        var frame = frame
        if structure?.canvas.isPositive != true {
            (frame.area.x, frame.area.y) = (0, 0)
            structure?.canvas = frame.size
            try limits.check(frame.size, format: .rgba8)
            report(ImageDecodingError(.corrupt, "GIF: the screen is empty"))
        } else if !frame.size.isPositive, let canvas = structure?.canvas {
            frame.area = PixelRect(x: 0, y: 0, width: canvas.width, height: canvas.height)
            report(ImageDecodingError(.corrupt, "GIF: the first image is empty"))
        }
        return frame
    }

    private mutating func skipPixels(
        _ bytes: UnsafeBufferPointer<UInt8>, _ frame: GIFFrame
    ) throws(ImageDecodingError) -> Bool {
        guard let block = bytes.subBlock(at: offset) else { return false }
        offset = block.upperBound
        if block.isEmpty {
            structure?.frames.append(frame)
            unfinished = nil
            state = .block
        }
        return true
    }

    private mutating func readSubBlock(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let block = bytes.subBlock(at: offset) else { return false }
        offset = block.upperBound
        currentExtension.take(bytes, block, limits: limits)
        guard block.isEmpty else { return true }
        state = .block
        let content = currentExtension.content
        if currentExtension.hasWrongLength {
            report(ImageDecodingError(.corrupt, "GIF: a graphic control has a wrong length"))
        }
        currentExtension = GIFExtension(label: 0)
        switch content {
        case .graphicControl(let disposal, let transparentIndex, let delay):
            control = GraphicControl(disposal: disposal, transparentIndex: transparentIndex, delay: delay)
        case .plainText:
            // A plain text extension uses up the graphic control like an image. Its text is not drawn.
            control = GraphicControl()
        case .loopCount(let count):
            // The last loop count wins, as in Firefox, WebKit, Pillow and ImageMagick.
            structure?.loopCount = count
        case .colorProfile(let profile):
            if profile.count + (structure?.metadata.xmp?.count ?? 0) <= limits.maximumMetadataByteCount {
                structure?.metadata.colorProfile = profile
            }
        case .xmp(let packet):
            if packet.count + (structure?.metadata.colorProfile?.count ?? 0) <= limits.maximumMetadataByteCount {
                structure?.metadata.xmp = packet
            }
        case .nothing: break
        }
        return true
    }

    /// Returns the byte range of the palette that the flags of a screen or an image declare, or `nil` when they declare
    /// none.
    private static func palette(after start: Int, flags: UInt8) -> Range<Int>? {
        flags & 0x80 == 0 ? nil : start..<start + (3 << (Int(flags & 7) + 1))
    }

    private static func checkSignature(_ found: some Collection<UInt8>) throws(ImageDecodingError) {
        let versions = [Array("GIF87a".utf8), Array("GIF89a".utf8)]
        if versions.contains(where: { $0.starts(with: found) }) { return }
        guard found.starts(with: "GIF".utf8) else {
            throw ImageDecodingError(.corrupt, "GIF: the signature is missing")
        }
        throw ImageDecodingError(.unsupportedVariant, "GIF: unsupported version; 87a and 89a are supported")
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns a 16-bit little-endian number. Both bytes must be available.
    fileprivate func word(at offset: Int) -> Int { Int(self[offset]) | Int(self[offset + 1]) << 8 }

    /// Returns the range of the bytes after the count of the sub-block at `offset`, or `nil` until all of them have
    /// arrived. Source: GIF89a section 15.
    func subBlock(at offset: Int) -> Range<Int>? {
        guard offset < count else { return nil }
        let end = offset + 1 + Int(self[offset])
        return end <= count ? offset + 1..<end : nil
    }
}

/// An extension whose sub-blocks are being read.
///
/// Source: GIF89a sections 23, 25 and 26; the looping extensions of Netscape and ANIMEXTS; ICC.1 annex B.5 for
/// profiles; XMP specification part 3, section 1.1.2.
private struct GIFExtension {
    enum Content {
        case graphicControl(disposal: FrameDisposal, transparentIndex: Int?, delay: Duration)
        case plainText
        case loopCount(Int)
        case colorProfile(Data)
        case xmp(Data)
        case nothing
    }

    private enum Kind {
        case graphicControl, plainText, application, looping, colorProfile, xmp, ignored
    }

    private var kind: Kind
    private var blockCount = 0
    private var collected = Data()

    /// The content, which is final after the last sub-block.
    private(set) var content = Content.nothing
    /// Whether the first sub-block of a graphic control does not have four bytes.
    private(set) var hasWrongLength = false

    init(label: UInt8) {
        switch label {
        case 0xF9: kind = .graphicControl
        case 0x01: kind = .plainText
        case 0xFF: kind = .application
        default: kind = .ignored
        }
    }

    /// Reads the next sub-block. An empty sub-block is the last one.
    mutating func take(_ bytes: UnsafeBufferPointer<UInt8>, _ block: Range<Int>, limits: DecodingLimits) {
        defer { blockCount += 1 }
        switch kind {
        case .graphicControl where blockCount == 0:
            hasWrongLength = block.count != 4
            // Browsers ignore more bytes.
            if block.count >= 4 { readControl(Array(bytes[block])) }
        case .plainText where block.isEmpty: content = .plainText
        case .application where blockCount == 0: kind = Self.application(bytes[block])
        case .looping where block.count >= 3 && bytes[block.lowerBound] & 7 == 1:
            content = .loopCount(Int(bytes[block.lowerBound + 1]) | Int(bytes[block.lowerBound + 2]) << 8)
        case .colorProfile:
            collect(bytes[block], limits)
            if block.isEmpty, !collected.isEmpty { content = .colorProfile(collected) }
        case .xmp:
            // The packet is stored without sub-blocks. The count bytes are characters of the packet.
            collect(bytes[(block.lowerBound - 1)..<block.upperBound], limits)
            if block.isEmpty { readXMP() }
        default: break
        }
    }

    private mutating func readControl(_ block: [UInt8]) {
        let disposal: FrameDisposal =
            switch block[0] >> 2 & 7 {
            case 2: .clear
            // Some writers set the third bit instead of writing 3, and browsers restore as well.
            case 3, 4: .restore
            default: .keep
            }
        content = .graphicControl(
            disposal: disposal, transparentIndex: block[0] & 1 == 1 ? Int(block[3]) : nil,
            delay: .milliseconds(10 * (Int(block[1]) | Int(block[2]) << 8)))
    }

    private static func application(_ identifier: some Collection<UInt8>) -> Kind {
        switch String(decoding: identifier, as: UTF8.self) {
        case "NETSCAPE2.0", "ANIMEXTS1.0": .looping
        case "ICCRGBG1012": .colorProfile
        case "XMP DataXMP": .xmp
        default: .ignored
        }
    }

    private mutating func collect(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, _ limits: DecodingLimits) {
        guard collected.count + bytes.count <= min(limits.maximumMetadataByteCount, limits.maximumChunkByteCount) else {
            kind = .ignored
            collected = Data()
            return
        }
        collected.append(contentsOf: bytes)
    }

    /// Reads the packet and removes the trailer of 258 bytes after it. The trailer ends with two zero bytes. Either can
    /// be read as the terminator of the sub-blocks, so the last byte may not have been collected. Ignores a packet
    /// without the trailer.
    private mutating func readXMP() {
        let trailer = [0x01] + (0...255).reversed().map { UInt8($0) } + [0x00]
        for end in [trailer[...], trailer.dropLast()] where collected.count > end.count {
            guard collected.suffix(end.count).elementsEqual(end) else { continue }
            content = .xmp(Data(collected.dropLast(end.count)))
            return
        }
    }
}
