import AlcedoCore
import FoundationEssentials

/// Selected chunks of a file. If a kind of chunk occurs several times, the first one is selected, except in ``colors``.
/// An `acTL` chunk that is invalid or follows the pixels does not count.
struct PNGOutline {
    /// The EXIF chunk, which can also follow the pixels. Source: W3C PNG specification, third edition, table 6.
    private(set) var exif: PNGChunk?
    private(set) var xmp: PNGChunk?
    /// A text chunk with EXIF data, written by ImageMagick before PNG defined a chunk for EXIF.
    private(set) var rawProfile: PNGChunk?
    /// A text chunk with IPTC data, written by ImageMagick. PNG defines no chunk for IPTC.
    private(set) var rawIPTC: PNGChunk?
    /// The first texts of other kinds.
    private(set) var texts: [PNGChunk] = []
    /// The chunk of the resolution, which counts only before the pixels.
    private(set) var resolution: PNGChunk?
    /// The palette and transparency chunks before the pixels, which apply to every frame of an animation.
    private(set) var colors: [PNGChunk] = []
    private(set) var animation: PNGAnimationControl?
    private(set) var hasAnimationChunks = false
    /// The number of `fcTL` chunks.
    private(set) var frameCount = 0
    /// The chunks that describe the color space, by name. They count only before the palette and the pixels.
    private(set) var colorSpace: [UInt32: PNGChunk] = [:]
    /// The first chunk of pixel data.
    private(set) var pixels: PNGChunk?

    /// Reads the chunk list. O(chunks).
    init(_ bytes: PNGBytes) {
        var walk = PNGChunkWalk(bytes)
        while let chunk = walk.next() {
            if chunk.name == PNGChunk.Name.idat, pixels == nil { pixels = chunk }
            guard chunk.isWhole(in: bytes) else { return }
            add(chunk, bytes)
        }
    }

    /// Whether chunks of an animation are ignored, because no valid `acTL` chunk precedes the pixels.
    var ignoresAnimation: Bool { hasAnimationChunks && animation == nil }

    /// The damage of a file whose animation is ignored.
    static let ignoredAnimation = ImageDamage(
        .harmless,
        ImageDecodingError(.corrupt, "PNG: the animation is ignored: no valid acTL chunk precedes the pixels"))

    private mutating func add(_ chunk: PNGChunk, _ bytes: PNGBytes) {
        if chunk.isOfAnimation { hasAnimationChunks = true }
        switch chunk.name {
        case PNGChunk.Name.exif: exif = exif ?? chunk
        case PNGChunk.Name.itxt where Self.has("XML:com.adobe.xmp\0", chunk, bytes): xmp = xmp ?? chunk
        case PNGChunk.Name.text, PNGChunk.Name.ztxt:
            if Self.has(anyOf: ["Raw profile type exif", "Raw profile type APP1"], chunk, bytes) {
                rawProfile = rawProfile ?? chunk
            } else if Self.has(anyOf: ["Raw profile type iptc", "Raw profile type 8bim"], chunk, bytes) {
                rawIPTC = rawIPTC ?? chunk
            } else {
                addText(chunk)
            }
        case PNGChunk.Name.itxt: addText(chunk)
        case PNGChunk.Name.phys: if pixels == nil { resolution = resolution ?? chunk }
        case PNGChunk.Name.cicp, PNGChunk.Name.iccp, PNGChunk.Name.srgb, PNGChunk.Name.gama, PNGChunk.Name.chrm:
            if pixels == nil, colors.isEmpty { colorSpace[chunk.name] = colorSpace[chunk.name] ?? chunk }
        case PNGChunk.Name.plte, PNGChunk.Name.trns:
            if pixels == nil { colors.append(chunk) }
        case PNGChunk.Name.actl:
            // After the pixels, `acTL` is ignored and the file is a still image. Source: W3C PNG specification, third
            // edition, section 11.3.6.1.
            if pixels == nil, animation == nil { animation = PNGAnimationControl(chunk, in: bytes) }
        case PNGChunk.Name.fctl: frameCount += 1
        default: break
        }
    }

    private mutating func addText(_ chunk: PNGChunk) {
        if texts.count < ImageMetadata.maximumTextCount { texts.append(chunk) }
    }

    private static func has(anyOf names: [String], _ chunk: PNGChunk, _ bytes: PNGBytes) -> Bool {
        names.contains { has($0 + "\0", chunk, bytes) }
    }

    private static func has(_ prefix: String, _ chunk: PNGChunk, _ bytes: PNGBytes) -> Bool {
        bytes.part(chunk.body).starts(with: prefix.utf8)
    }
}

/// The contents of the `acTL` chunk. Source: W3C PNG specification, third edition, section 11.3.6.1.
struct PNGAnimationControl {
    let frameCount: Int
    /// The number of plays; 0 means forever.
    let playCount: Int

    /// Reads an `acTL` chunk. Returns nil when its length is wrong or it declares no frames.
    init?(_ chunk: PNGChunk, in bytes: PNGBytes) {
        guard chunk.body.count == 8 else { return nil }
        frameCount = bytes.bigEndian(at: chunk.body.lowerBound)
        playCount = bytes.bigEndian(at: chunk.body.lowerBound + 4)
        guard frameCount > 0 else { return nil }
    }
}

/// Properties of an image that libpng has read before the pixels.
struct PNGHeader: Sendable {
    var size: PixelSize
    var bitDepth: Int
    /// The color type as stored in the file. Source: W3C PNG specification, third edition, table 9.
    var colorType: Int
    var hasAlpha: Bool
    var isInterlaced: Bool

    var colorModel: ColorModel {
        switch colorType {
        case 0: .gray
        case 3: .palette
        case 4: .grayAlpha
        case 6: .rgba
        default: .rgb
        }
    }

    /// Whether the color type has no color.
    var isGray: Bool { colorType & 2 == 0 }

    /// The number of bytes in an uncompressed row, including the filter byte. Not valid for interlaced images.
    var storedBytesPerRow: Int {
        let samples =
            switch colorModel {
            case .grayAlpha: 2
            case .rgb: 3
            case .rgba: 4
            default: 1
            }
        return (size.width * samples * bitDepth + 7) / 8 + 1
    }

    /// Returns the pixel format in which rows are decoded when `format` is requested.
    func format(for format: PixelFormat) -> PixelFormat {
        format.available(isGray: colorType == 0 && !hasAlpha, isDeep: bitDepth == 16)
    }
}
