import AlcedoCore
import FoundationEssentials
private import CPNGShim

/// Reads what a file says about its picture, within the limits: what is beyond them is left out.
struct PNGMetadata {
    private(set) var metadata = ImageMetadata()
    private let bytes: PNGBytes
    private let limits: DecodingLimits

    /// - Parameter colorProfile: As libpng has unpacked it.
    init(_ outline: PNGOutline, in bytes: PNGBytes, colorProfile: Data?, limits: DecodingLimits) {
        self.bytes = bytes
        self.limits = limits
        if let profile = colorProfile, profile.count <= budget { metadata.colorProfile = profile }
        if let chunk = outline.exif, chunk.body.count <= budget, chunk.isIntact(in: bytes) {
            metadata.exif = Data(bytes.part(chunk.body))
        } else if let chunk = outline.rawProfile, let text = unpacked(chunk) {
            metadata.exif = Self.exif(rawProfile: text)
        }
        if let chunk = outline.xmp { metadata.xmp = unpacked(chunk) }
    }

    /// EXIF says it, or in older files XMP.
    var orientation: ImageOrientation {
        if let exif = metadata.exif { return exif.withUnsafeBytes { ImageOrientation(exif: $0.bytes) } }
        return metadata.xmp?.withUnsafeBytes { ImageOrientation(xmp: $0.bytes) } ?? .up
    }

    /// The bytes that may still be kept.
    private var budget: Int {
        let kept = [metadata.colorProfile, metadata.exif, metadata.xmp].reduce(0) { $0 + ($1?.count ?? 0) }
        return min(limits.maximumMetadataByteCount - kept, limits.maximumChunkByteCount)
    }

    /// The text of a chunk, by libpng: it stands in a file of its own, so that no other is read or unpacked.
    private func unpacked(_ chunk: PNGChunk) -> Data? {
        guard budget > 0, chunk.body.count <= limits.maximumChunkByteCount else { return nil }
        let size = [UInt8](repeating: 0, count: 3) + [1]
        let before = PNGChunk.signature + PNGFrameFile.chunk("IHDR", size + size + [8, 0, 0, 0, 0])
        let after = PNGFrameFile.chunk("IDAT", [])
        let text = before.withUnsafeBufferPointer { before in
            after.withUnsafeBufferPointer { after in
                try? PNGReader(
                    [before, bytes.part(chunk.range), after], chunkLimit: max(budget, chunk.body.count) + 1,
                    purpose: ALCEDO_PNG_TEXT
                ).text
            }
        }
        return text.flatMap { $0.count <= budget ? $0 : nil }
    }

    /// EXIF of ImageMagick: a name, a number of bytes, and the bytes as hexadecimal digits, in lines.
    private static func exif(rawProfile text: Data) -> Data? {
        let lines = text.split(separator: UInt8(ascii: "\n"))
        guard lines.count > 2 else { return nil }
        let digits = lines.dropFirst(2).joined().compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        let data = Data(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
        let prefix = Data("Exif\0\0".utf8)
        return data.starts(with: prefix) ? Data(data.dropFirst(prefix.count)) : data
    }
}
