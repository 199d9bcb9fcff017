import AlcedoCore
import FoundationEssentials

/// One PNG file: its chunks, its header and what it says about its picture.
struct PNGFile {
    let bytes: PNGBytes
    let reader: PNGReader
    let outline: PNGOutline
    let info: ImageInfo

    /// Reads all that comes before the pixels, and the list of chunks. Of the frames of an animation only the number.
    init(_ bytes: PNGBytes, limits: DecodingLimits) throws(ImageDecodingError) {
        try PNGChunk.checkSignature(bytes)
        self.bytes = bytes
        reader = try PNGReader(
            [bytes], chunkLimit: min(limits.maximumChunkByteCount, limits.maximumMetadataByteCount))
        outline = PNGOutline(bytes)
        let header = reader.header
        let metadata = PNGMetadata(outline, in: bytes, colorProfile: reader.colorProfile, limits: limits)
        info = ImageInfo(
            format: .png, size: header.size, orientation: metadata.orientation, hasAlpha: header.hasAlpha,
            bitDepth: header.bitDepth, colorModel: header.colorModel, frameCount: outline.animation?.frameCount ?? 1,
            loopCount: outline.animation?.playCount, metadata: metadata.metadata)
        try limits.check(frameCount: info.frameCount)
    }

    /// The bytes before the first pixels. Not copied: valid as long as ``bytes``.
    var head: Data { data(0..<pixelStart) }

    /// The bytes from the first pixels on, as ``head``.
    var body: Data { data(pixelStart..<bytes.count) }

    private var pixelStart: Int { outline.pixels?.range.lowerBound ?? bytes.count }

    private func data(_ range: Range<Int>) -> Data {
        let part = bytes.part(range)
        guard let base = part.baseAddress else { return Data() }
        return Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: part.count, deallocator: .none)
    }

    /// What the file says, delays of frames included.
    ///
    /// - Throws: What is wrong with the frames.
    func inspected() throws(ImageDecodingError) -> ImageInfo {
        guard let control = outline.animation else { return info }
        let parser = PNGAnimationParser(bytes, control, reader.header, checksums: false)
        if let problem = parser.problem { throw problem }
        var result = info
        if parser.frames.count > 1 { result.delays = parser.frames.map(\.control.rawDelay) }
        return result
    }
}
