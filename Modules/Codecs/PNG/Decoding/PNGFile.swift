import AlcedoCore
private import CPNGShim
import FoundationEssentials

/// One PNG file: its chunks, its header and the properties of its image.
struct PNGFile {
    let bytes: PNGBytes
    let reader: PNGReader
    let outline: PNGOutline
    let info: ImageInfo

    /// Reads the header, the metadata and the list of chunks, but no pixels. The frames of an animation are not parsed;
    /// their number is the declared one.
    init(_ bytes: PNGBytes, limits: DecodingLimits) throws(ImageDecodingError) {
        try PNGChunk.checkSignature(bytes)
        self.bytes = bytes
        reader = try PNGReader(
            [bytes], chunkLimit: min(limits.maximumChunkByteCount, limits.maximumMetadataByteCount))
        outline = PNGOutline(bytes)
        let header = reader.header
        let metadata = PNGMetadata(
            outline, in: bytes, colorProfile: reader.colorProfile ?? Self.colorProfile(outline, bytes, limits),
            limits: limits)
        var info = ImageInfo(
            format: .png, size: header.size, orientation: metadata.orientation, hasAlpha: header.hasAlpha,
            bitDepth: header.bitDepth, colorModel: header.colorModel, frameCount: outline.animation?.frameCount ?? 1,
            loopCount: outline.animation?.playCount, metadata: metadata.metadata)
        info.hasDamagedMetadata = metadata.isDamaged
        info.colorDescription = PNGColorSpace(outline, in: bytes).description(
            profile: metadata.metadata.colorProfile, isGray: header.isGray)
        self.info = info
        // A file with fewer frames than it declares is a still image.
        try limits.check(frameCount: min(info.frameCount, max(1, outline.frameCount)))
    }

    /// Returns the ICC profile of a file in which libpng ignores it, because an `sRGB` chunk precedes it. For this, a
    /// file of only the header and the profile is read.
    private static func colorProfile(_ outline: PNGOutline, _ bytes: PNGBytes, _ limits: DecodingLimits) -> Data? {
        guard let chunk = outline.colorSpace[PNGChunk.Name.iccp], let other = outline.colorSpace[PNGChunk.Name.srgb],
            other.range.lowerBound < chunk.range.lowerBound, chunk.body.count <= limits.maximumChunkByteCount
        else { return nil }
        return PNGFrameFile.chunk("IDAT", []).withUnsafeBufferPointer { end in
            try? PNGReader(
                [bytes.part(0..<33), bytes.part(chunk.range), end],
                chunkLimit: min(limits.maximumChunkByteCount, limits.maximumMetadataByteCount)
            ).colorProfile
        }
    }

    /// The bytes before the first chunk of pixels. Not copied: valid as long as ``bytes``.
    var head: Data { data(0..<pixelStart) }

    /// The bytes from the first chunk of pixels on. Not copied: valid as long as ``bytes``.
    var body: Data { data(pixelStart..<bytes.count) }

    private var pixelStart: Int { outline.pixels?.range.lowerBound ?? bytes.count }

    private func data(_ range: Range<Int>) -> Data {
        let part = bytes.part(range)
        guard let base = part.baseAddress else { return Data() }
        return Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: part.count, deallocator: .none)
    }

    /// The properties of the file, including the delays if there are several frames. The frames end before the first
    /// one with an error in its chunks, of which the checksums of the pixels are not verified.
    var inspectedInfo: ImageInfo {
        guard let control = outline.animation else { return info }
        let parser = PNGAnimationParser(bytes, control, reader.header, checksums: false)
        var result = info
        result.frameCount = max(1, parser.frames.count)
        if parser.frames.isEmpty { result.loopCount = nil }
        if parser.frames.count > 1 { result.delays = parser.frames.map(\.control.rawDelay) }
        return result
    }
}

/// The metadata of a file. Metadata beyond the limits is dropped.
struct PNGMetadata {
    private(set) var metadata = ImageMetadata()
    /// Whether EXIF or a text within the limits is damaged.
    private(set) var isDamaged = false
    private let bytes: PNGBytes
    private let limits: DecodingLimits

    /// Reads the metadata.
    ///
    /// - Parameters:
    ///   - outline: The chunks of the file.
    ///   - bytes: The bytes of the file.
    ///   - colorProfile: The ICC profile, decompressed by libpng.
    ///   - limits: The limits on metadata and chunks.
    init(_ outline: PNGOutline, in bytes: PNGBytes, colorProfile: Data?, limits: DecodingLimits) {
        self.bytes = bytes
        self.limits = limits
        if let profile = colorProfile, profile.count <= budget { metadata.colorProfile = profile }
        metadata.hasIgnoredColorProfile =
            metadata.colorProfile == nil && outline.colorSpace[PNGChunk.Name.iccp] != nil
        let exif = outline.exif.flatMap { $0.body.count <= budget ? $0 : nil }
        isDamaged = exif.map { !$0.isIntact(in: bytes) } ?? false
        if let exif, !isDamaged {
            metadata.exif = ImageMetadata.tiff(bytes.part(exif.body))
        } else if let chunk = outline.rawProfile, let text = unpacked(chunk) {
            metadata.exif = Self.bytes(ofRawProfile: text).map(ImageMetadata.tiff)
        }
        if let chunk = outline.xmp { metadata.xmp = unpacked(chunk) }
        if let chunk = outline.rawIPTC, let profile = unpacked(chunk).flatMap(Self.bytes(ofRawProfile:)) {
            (metadata.iptc, metadata.iptcDigest) =
                profile.starts(with: "8BIM".utf8) ? PhotoshopResources.iptc(in: profile) : (profile, nil)
        }
        metadata.resolution = outline.resolution.flatMap { Self.resolution($0, bytes) }
        for chunk in outline.texts {
            guard let (keyword, content) = text(chunk), content.utf8.count <= budget else { continue }
            metadata.texts[keyword] = content
        }
    }

    /// Returns the keyword and the text of a chunk, or nil when the keyword already has a text, the chunk is damaged,
    /// or the limits do not allow it. Records damage.
    /// Source: W3C PNG specification, third edition, section 11.3.3.
    private mutating func text(_ chunk: PNGChunk) -> (String, String)? {
        guard chunk.body.count <= budget, chunk.isIntact(in: bytes) else { return nil }
        let body = bytes.part(chunk.body)
        guard let end = body.prefix(80).firstIndex(of: 0), end > 0 else {
            isDamaged = true
            return nil
        }
        let keyword = Self.latin1(body[..<end])
        guard metadata.texts[keyword] == nil else { return nil }
        var rest = body[(end + 1)...]
        switch chunk.name {
        case PNGChunk.Name.text: return (keyword, Self.latin1(rest))
        case PNGChunk.Name.ztxt: return unpackedText(chunk).map { (keyword, Self.latin1($0)) }
        default:
            let isCompressed = rest.first != 0
            // The flag and the method of compression, the language, and the translated keyword.
            let fields = rest.dropFirst(2).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else {
                isDamaged = true
                return nil
            }
            rest = fields[2]
            return isCompressed
                ? unpackedText(chunk).map { (keyword, String(decoding: $0, as: UTF8.self)) }
                : (keyword, String(decoding: rest, as: UTF8.self))
        }
    }

    /// Returns the decompressed text of a chunk, which may be much shorter than metadata in other forms.
    private mutating func unpackedText(_ chunk: PNGChunk) -> Data? { unpacked(chunk, limit: min(budget, 64 << 10)) }

    private static func latin1(_ bytes: some Collection<UInt8>) -> String {
        // Most texts are ASCII, which is read much faster.
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        return String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }

    /// The orientation from EXIF, or from XMP when there is no EXIF, as in older files. Default: `.up`.
    var orientation: ImageOrientation {
        if let exif = metadata.exif { return exif.withUnsafeBytes { ImageOrientation(exif: $0.bytes) } }
        return metadata.xmp?.withUnsafeBytes { ImageOrientation(xmp: $0.bytes) } ?? .up
    }

    /// The maximum number of bytes of the next metadata item that is kept.
    private var budget: Int {
        let kept = [metadata.colorProfile, metadata.exif, metadata.xmp, metadata.iptc].compactMap { $0?.count }
        let texts = metadata.texts.reduce(0) { $0 + $1.value.utf8.count }
        return min(limits.maximumMetadataByteCount - kept.reduce(texts, +), limits.maximumChunkByteCount)
    }

    /// Returns the decompressed text of a chunk, or nil when libpng cannot read it or the limits do not allow it.
    /// libpng reads a file that contains only this chunk and the required ones, so no other text is read or
    /// decompressed. Records damage.
    ///
    /// - Parameters:
    ///   - chunk: The chunk.
    ///   - limit: The maximum number of bytes of the text; nil for what the limits allow. Default: nil.
    private mutating func unpacked(_ chunk: PNGChunk, limit: Int? = nil) -> Data? {
        let limit = limit ?? budget
        guard limit > 0, chunk.body.count <= limits.maximumChunkByteCount else { return nil }
        let size = [UInt8](repeating: 0, count: 3) + [1]
        let before = PNGChunk.signature + PNGFrameFile.chunk("IHDR", size + size + [8, 0, 0, 0, 0])
        let after = PNGFrameFile.chunk("IDAT", [])
        // One byte more than may be kept distinguishes a text that is too long from one that just fits.
        let chunkLimit = max(limit, chunk.body.count)
        let text = before.withUnsafeBufferPointer { before in
            after.withUnsafeBufferPointer { after in
                try? PNGReader(
                    [before, bytes.part(chunk.range), after], chunkLimit: chunkLimit + (chunkLimit < .max ? 1 : 0),
                    purpose: ALCEDO_PNG_TEXT
                ).text
            }
        }
        if text == nil, chunk.isIntact(in: bytes), isBroken(chunk, limit: limit) { isDamaged = true }
        return text.flatMap { $0.count <= limit ? $0 : nil }
    }

    /// Whether the text of a chunk cannot be decompressed, which is checked up to `limit` bytes and 1 MiB of it.
    private func isBroken(_ chunk: PNGChunk, limit: Int) -> Bool {
        let body = bytes.part(chunk.body)
        guard let end = body.prefix(80).firstIndex(of: 0) else { return false }
        let rest = body[(end + 1)...]
        let stream: Slice<PNGBytes>
        let method: UInt8?
        if chunk.name == PNGChunk.Name.ztxt {
            (method, stream) = (rest.first, rest.dropFirst())
        } else {
            let fields = rest.dropFirst(2).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
            guard chunk.name == PNGChunk.Name.itxt, rest.first == 1, fields.count == 3 else { return false }
            (method, stream) = (rest.dropFirst().first, fields[2])
        }
        guard method == 0, let base = PNGBytes(rebasing: stream).baseAddress else { return true }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(1, min(limit, 1 << 20))) { text in
            guard let out = text.baseAddress else { return false }
            return alcedo_png_is_broken_stream(base, stream.count, out, text.count) != 0
        }
    }

    /// Returns the resolution in a `pHYs` chunk, or nil when the chunk is damaged, has no unit or is not positive.
    /// Source: W3C PNG specification, third edition, section 11.3.4.3.
    private static func resolution(_ chunk: PNGChunk, _ bytes: PNGBytes) -> ImageResolution? {
        let isMeter = chunk.body.count == 9 && bytes[chunk.body.upperBound - 1] == 1
        guard isMeter, chunk.isIntact(in: bytes) else { return nil }
        let perMeter = [0, 4].map { Double(bytes.bigEndian(at: chunk.body.lowerBound + $0)) }
        let resolution = ImageResolution(
            horizontal: perMeter[0] / ImageResolution.inchesPerMeter,
            vertical: perMeter[1] / ImageResolution.inchesPerMeter)
        return resolution.isValid ? resolution : nil
    }

    /// Returns the data of an ImageMagick profile, or nil when the profile has fewer than three nonempty lines.
    /// The first line is a name, the second is the number of bytes, and the others are hexadecimal digits.
    private static func bytes(ofRawProfile text: Data) -> Data? {
        let lines = text.split(separator: UInt8(ascii: "\n"))
        guard lines.count > 2 else { return nil }
        let digits = lines.dropFirst(2).joined().compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        return Data(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}

extension ImageOrientation {
    /// Creates an orientation from `tiff:Orientation` in an XMP packet, written as an attribute or as an element.
    ///
    /// PNG had no EXIF before 2017, so older tools store the orientation in XMP. The result is `.up` when the property
    /// is not found or its value is not from 1 to 8. A property with another prefix, or with spaces around its value,
    /// is not found. O(bytes). Source: XMP specification part 2, section 3.1, "TIFF properties".
    init(xmp: RawSpan) {
        self = Self.value(in: xmp).flatMap(ImageOrientation.init(rawValue:)) ?? .up
    }

    private static func value(in xmp: RawSpan) -> Int? {
        let name = Array("tiff:Orientation".utf8)
        let openings = ["=\"", "='", ">"].map { Array($0.utf8) }
        let closings = Array("\"'<".utf8)
        func byte(at offset: Int) -> UInt8? {
            offset < xmp.byteCount ? xmp.unsafeLoad(fromByteOffset: offset, as: UInt8.self) : nil
        }
        for start in 0..<xmp.byteCount where byte(at: start) == name[0] && xmp.contains(name, at: start) {
            let end = start + name.count
            guard let opening = openings.first(where: { xmp.contains($0, at: end) }),
                let digit = byte(at: end + opening.count), let next = byte(at: end + opening.count + 1),
                closings.contains(next)
            else { continue }
            return Int(digit) - Int(UInt8(ascii: "0"))
        }
        return nil
    }
}
