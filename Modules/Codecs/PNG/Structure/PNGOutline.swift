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
