import AlcedoCore
import FoundationEssentials

/// The content of a WebP file's chunks, without the pixels.
///
/// Chunks are read as far as bytes are available, and reading resumes at the first unfinished chunk when more arrive.
/// The caller always passes all bytes received so far. Source: RFC 9649 section 2.
struct WebPContainer: Sendable {
    private let limits: DecodingLimits
    private var end: Int?
    private var chunks = RIFFChunks(in: 0..<0)
    private var isSimple = false
    private var declaresAlpha = false
    private var declaresEXIF = false
    private var alphaStart: Int?
    private var metadataByteCount = 0

    /// The size of the canvas, or `nil` until it is known. In a file without a canvas, the size of the image.
    private(set) var canvas: PixelSize?
    private(set) var isAnimated = false
    /// The frames whose bytes are complete. A complete still image is one frame.
    private(set) var frames: [WebPFrame] = []
    /// The still image whose pixels are arriving.
    private(set) var arriving: WebPFrame?
    /// The number of plays as stored in the file, or `nil` before the animation header is read and in still images. 0
    /// means that the animation repeats forever.
    private(set) var loopCount: Int?
    private(set) var metadata = ImageMetadata()
    /// Whether the whole declared file has been read.
    private(set) var isComplete = false
    /// The damage of the chunks, which does not change the first image; nil when none was found.
    private(set) var damage: ImageDamage?
    /// Whether damage ends the file.
    private var hasEnded = false

    init(limits: DecodingLimits) { self.limits = limits }

    /// The still image once its header has arrived, or the first frame of an animation once it is complete. `nil`
    /// before that.
    var firstFrame: WebPFrame? { frames.first ?? arriving }

    /// The ICC profile of decoded samples, which are always RGB; nil for sRGB.
    var sampleProfile: Data? { ICCProfile.ofSamples(metadata.colorProfile, isGray: false) }

    var orientation: ImageOrientation {
        metadata.exif?.withUnsafeBytes { ImageOrientation(exif: $0.bytes) } ?? .up
    }

    /// Whether the file declares no EXIF, its EXIF has been read, or the file is complete. EXIF that the file does not
    /// declare can still change the orientation.
    var isOrientationKnown: Bool { isComplete || !declaresEXIF || metadata.exif != nil }

    /// The information about the image, or `nil` before ``firstFrame`` is known.
    var info: ImageInfo? {
        guard let canvas, let first = firstFrame else { return nil }
        let hasAlpha = declaresAlpha || first.area.size != canvas || ([first] + frames).contains { $0.declaresAlpha }
        let lossless: ColorModel = hasAlpha ? .rgba : .rgb
        return ImageInfo(
            format: .webp, size: canvas, orientation: orientation, hasAlpha: hasAlpha,
            colorModel: first.isLossless ? lossless : .yCbCr, frameCount: max(1, frames.count), loopCount: loopCount,
            delays: frames.count > 1 ? frames.map(\.delay) : [], metadata: metadata)
    }

    /// Reads chunks as far as bytes are available. `bytes` must be all bytes received so far.
    mutating func advance(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) {
        guard !hasEnded, let end = try readFileHeader(bytes) else { return }
        do throws(ImageDecodingError) {
            while let chunk = try chunks.current(bytes) {
                guard try take(chunk, bytes) else { return }
                chunks.skip(chunk)
                if chunk.payload.upperBound > end { report(Self.wrongSize) }
            }
        } catch {
            // The images before the damage can be shown.
            guard !frames.isEmpty, error.code != .exceedsLimit else { throw error }
            report(error)
            hasEnded = true
            return
        }
        guard chunks.isAtEnd, bytes.count >= end else { return }
        guard firstFrame == nil, bytes.count >= end + 8 else {
            isComplete = true
            return
        }
        // The declared size is too small. The bytes up to it may have arrived before the others.
        report(Self.wrongSize)
        isComplete = false
        chunks.open()
        self.end = Int.max / 2
        try advance(bytes)
    }

    /// Ends the file. Bytes after the declared file are ignored.
    ///
    /// - Throws: `truncated` when the bytes end before ``firstFrame`` is known, or `corrupt` for a file without an
    ///   image.
    mutating func finish() throws(ImageDecodingError) {
        let truncated = ImageDecodingError(.truncated, "WebP: the data ends before the end of the file")
        guard firstFrame != nil else {
            throw isComplete ? ImageDecodingError(.corrupt, "WebP: the file has no image") : truncated
        }
        if !isComplete, damage == nil { report(truncated) }
        damage = .worst(damage, info?.metadataDamage)
    }

    private static let wrongSize = ImageDecodingError(.corrupt, "WebP: the file is larger than it declares")

    private mutating func report(_ error: ImageDecodingError) {
        damage = ImageDamage.worst(damage, ImageDamage(.harmless, error))
    }

    /// Returns the declared end of the file, or `nil` when its header has not arrived.
    private mutating func readFileHeader(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) -> Int? {
        if let end { return end }
        guard "RIFF".utf8.starts(with: bytes.prefix(4)), "WEBP".utf8.starts(with: bytes.dropFirst(8).prefix(4)) else {
            throw ImageDecodingError(.corrupt, "WebP: the RIFF or WEBP signature is missing")
        }
        guard bytes.count >= 12 else { return nil }
        let declaredEnd = max(12, 8 + bytes.number(at: 4, bytes: 4))
        chunks = RIFFChunks(in: 12..<declaredEnd, unbounded: ["VP8 ", "VP8L", "VP8X", "ALPH", "ANMF"])
        end = declaredEnd
        return declaredEnd
    }

    /// Reads a chunk. Returns `false` when more of its bytes are needed.
    private mutating func take(
        _ chunk: RIFFChunk, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) -> Bool {
        if chunk.start == 12 { return try takeFirst(chunk, bytes) }
        // A file in the simple format has one chunk. Chunks after it are ignored.
        guard !isSimple else { return true }
        let isThere = chunk.isThere(in: bytes)
        switch chunk.id {
        case "ICCP", "EXIF", "XMP ":
            guard chunk.payload.count <= limits.maximumChunkByteCount else { return true }
            if isThere { keep(chunk, bytes) }
            return isThere
        case "ANIM" where isAnimated && loopCount == nil:
            guard chunk.payload.count >= 6 else {
                throw ImageDecodingError(.corrupt, "WebP: the animation header is too short")
            }
            if isThere { loopCount = bytes.number(at: chunk.payload.lowerBound + 4, bytes: 2) }
            return isThere
        case "ANMF" where isAnimated: return try takeFrame(chunk, bytes)
        case "ALPH" where alphaStart == nil: alphaStart = chunk.start
        case "VP8 " where !isAnimated && frames.isEmpty, "VP8L" where !isAnimated && frames.isEmpty:
            return try takeImage(chunk, bytes)
        default: break
        }
        return true
    }

    private mutating func takeFirst(
        _ chunk: RIFFChunk, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) -> Bool {
        switch chunk.id {
        case "VP8 ", "VP8L":
            isSimple = true
            return try takeImage(chunk, bytes)
        case "VP8X":
            guard chunk.payload.count >= 10 else {
                throw ImageDecodingError(.corrupt, "WebP: the extended header is too short")
            }
            guard chunk.isThere(in: bytes) else { return false }
            let start = chunk.payload.lowerBound
            declaresAlpha = bytes[start] & 0x10 != 0
            declaresEXIF = bytes[start] & 0x08 != 0
            isAnimated = bytes[start] & 0x02 != 0
            let size = PixelSize(
                width: bytes.number(at: start + 4, bytes: 3) + 1, height: bytes.number(at: start + 7, bytes: 3) + 1)
            try limits.check(size, format: .rgba8)
            canvas = size
            return true
        case let id where id.hasPrefix("VP8"):
            throw ImageDecodingError(.unsupportedVariant, "WebP: unknown bitstream chunk \(id.debugDescription)")
        default:
            throw ImageDecodingError(.corrupt, "WebP: the first chunk is not an image")
        }
    }

    private mutating func takeImage(
        _ chunk: RIFFChunk, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) -> Bool {
        if arriving == nil {
            arriving = try WebPFrame(image: chunk, alphaStart: alphaStart, canvas: canvas, bytes)
            guard let arriving else { return false }
            try limits.check(arriving.area.size, format: .rgba8)
            canvas = arriving.area.size
        }
        guard chunk.isThere(in: bytes), let image = arriving else { return false }
        frames = [image]
        arriving = nil
        return true
    }

    private mutating func takeFrame(
        _ chunk: RIFFChunk, _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(ImageDecodingError) -> Bool {
        // Like libwebp and browsers, rejects a frame before the animation header. Source: RFC 9649 section 2.7.1.1.
        guard let canvas, loopCount != nil else {
            throw ImageDecodingError(.corrupt, "WebP: a frame precedes the animation header")
        }
        try limits.check(frameCount: frames.count + 1)
        guard chunk.isThere(in: bytes) else { return false }
        frames.append(try WebPFrame(animation: chunk, canvas: canvas, bytes))
        return true
    }

    /// Keeps a metadata chunk unless it is empty, exceeds the limits, or another chunk of its kind has been kept.
    private mutating func keep(_ chunk: RIFFChunk, _ bytes: UnsafeBufferPointer<UInt8>) {
        let payload = bytes[chunk.payload]
        guard !payload.isEmpty, payload.count <= limits.maximumMetadataByteCount - metadataByteCount else { return }
        switch chunk.id {
        case "ICCP" where metadata.colorProfile == nil: metadata.colorProfile = Data(payload)
        case "EXIF" where metadata.exif == nil: metadata.exif = ImageMetadata.tiff(payload)
        case "XMP " where metadata.xmp == nil: metadata.xmp = Data(payload)
        default: return
        }
        metadataByteCount += payload.count
    }
}

extension WebPContainer {
    /// The animation of the frames read so far, or `nil` without frames.
    ///
    /// Frames on an empty canvas replace it, as in libwebp's own player, because blending would round their colors.
    var layout: AnimationLayout? {
        guard let canvas, !frames.isEmpty else { return nil }
        var layout = AnimationLayout(canvas: canvas, frames: [], playCount: loopCount.map { $0 == 0 ? nil : $0 } ?? 1)
        var canvasIsEmpty = true
        for frame in frames {
            let isWhole = frame.area.size == canvas
            layout.frames.append(
                AnimationFrame(
                    area: frame.area, rawDelay: frame.delay, disposal: frame.isCleared ? .clear : .keep,
                    blend: frame.isBlended && !canvasIsEmpty ? .overAsLibwebp : .source,
                    isOpaque: !frame.declaresAlpha))
            canvasIsEmpty = frame.isCleared && (isWhole || canvasIsEmpty)
        }
        return layout
    }
}
