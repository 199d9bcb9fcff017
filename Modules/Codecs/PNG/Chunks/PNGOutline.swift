import AlcedoCore
import FoundationEssentials

/// What the list of chunks tells of a file, before anything of them is decoded. The first of each kind counts.
struct PNGOutline {
    /// EXIF may come after the pixels as well. Source: W3C PNG specification, third edition, table 6.
    private(set) var exif: PNGChunk?
    private(set) var xmp: PNGChunk?
    /// A text of ImageMagick, from before PNG had a chunk for EXIF.
    private(set) var rawProfile: PNGChunk?
    /// Palette and transparency, which every frame of an animation needs.
    private(set) var colors: [PNGChunk] = []
    private(set) var animation: PNGAnimationControl?
    /// Where the first pixel data begin.
    private(set) var pixels: PNGChunk?

    /// O(chunks).
    init(_ bytes: PNGBytes) {
        var walk = PNGChunkWalk(bytes)
        while let chunk = walk.next() {
            if chunk.name == PNGChunk.Name.idat, pixels == nil { pixels = chunk }
            guard chunk.isWhole(in: bytes) else { return }
            add(chunk, bytes)
        }
    }

    private mutating func add(_ chunk: PNGChunk, _ bytes: PNGBytes) {
        switch chunk.name {
        case PNGChunk.Name.exif: exif = exif ?? chunk
        case PNGChunk.Name.itxt where Self.has("XML:com.adobe.xmp\0", chunk, bytes): xmp = xmp ?? chunk
        case PNGChunk.Name.text, PNGChunk.Name.ztxt:
            let isProfile = Self.rawProfileNames.contains { Self.has($0 + "\0", chunk, bytes) }
            if isProfile { rawProfile = rawProfile ?? chunk }
        case PNGChunk.Name.plte, PNGChunk.Name.trns:
            if pixels == nil { colors.append(chunk) }
        case PNGChunk.Name.actl:
            // After the pixels it means nothing: the file is a still image. Same source, section 11.3.6.1.
            if pixels == nil, animation == nil { animation = PNGAnimationControl(chunk, in: bytes) }
        default: break
        }
    }

    private static let rawProfileNames = ["Raw profile type exif", "Raw profile type APP1"]

    private static func has(_ prefix: String, _ chunk: PNGChunk, _ bytes: PNGBytes) -> Bool {
        bytes.part(chunk.body).starts(with: prefix.utf8)
    }
}

/// What the chunk `acTL` says. Source: W3C PNG specification, third edition, section 11.3.6.1.
struct PNGAnimationControl {
    let frameCount: Int
    /// 0 is for ever.
    let playCount: Int

    /// nil when the chunk says nothing that makes an animation: another length, or no frames.
    init?(_ chunk: PNGChunk, in bytes: PNGBytes) {
        guard chunk.body.count == 8 else { return nil }
        frameCount = bytes.bigEndian(at: chunk.body.lowerBound)
        playCount = bytes.bigEndian(at: chunk.body.lowerBound + 4)
        guard frameCount > 0 else { return nil }
    }
}

/// What libpng finds before the pixels.
struct PNGHeader: Sendable {
    var size: PixelSize
    var bitDepth: Int
    /// As in the file. Source: W3C PNG specification, third edition, table 9.
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

    /// Bytes of a row as it is compressed, with the byte that names the filter. Not of an interlaced picture.
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

    /// The samples that are given to somebody who wants `format`.
    func format(for format: PixelFormat) -> PixelFormat {
        switch format {
        case .gray8: colorType == 0 && !hasAlpha ? .gray8 : .rgba8
        case .rgba16: bitDepth == 16 ? .rgba16 : .rgba8
        case .rgba8, .rgbx8: .rgba8
        }
    }
}
