import AlcedoCore

/// Finds the frames of an animated PNG, and whether their chunks are as they should be.
///
/// Source: W3C PNG specification, third edition, sections 4.9 and 11.3.6.
struct PNGAnimationParser {
    /// The frames that are there with all their data.
    private(set) var frames: [PNGFrame] = []
    /// Why there are not as many as the file says, or why it cannot be trusted.
    private(set) var problem: ImageDecodingError?

    private let bytes: PNGBytes
    private let control: PNGAnimationControl
    private let header: PNGHeader
    private var current: PNGFrame?
    /// The next number of an `fcTL` or `fdAT`.
    private var sequence = 0
    private var hasControl = false
    private var hasPixels = false
    private var isPastPixels = false

    /// Walks through the file. O(chunks), or with `checksums` O(bytes).
    init(_ bytes: PNGBytes, _ control: PNGAnimationControl, _ header: PNGHeader, checksums: Bool) {
        self.bytes = bytes
        self.control = control
        self.header = header
        do throws(ImageDecodingError) {
            try parse(checksums: checksums)
        } catch {
            problem = error
        }
    }

    private mutating func parse(checksums: Bool) throws(ImageDecodingError) {
        let numbered = [PNGChunk.Name.actl, PNGChunk.Name.fctl, PNGChunk.Name.fdat]
        var walk = PNGChunkWalk(bytes)
        while let chunk = walk.next() {
            guard chunk.body.count <= PNGChunk.maximumByteCount else { throw Self.corrupt("a chunk is too long") }
            guard chunk.isWhole(in: bytes) else {
                // What comes after a frame's pixels says that there are no more of them.
                let isData = chunk.name == PNGChunk.Name.fdat || chunk.name == PNGChunk.Name.idat
                if let frame = current, !isData, !frame.data.isEmpty { frames.append(frame) }
                break
            }
            if !chunk.isAncillary || numbered.contains(chunk.name), checksums || chunk.name == PNGChunk.Name.fctl {
                guard chunk.isIntact(in: bytes) else { throw Self.corrupt("a checksum is wrong") }
            }
            try add(chunk)
            if chunk.name == PNGChunk.Name.iend { return }
        }
        throw ImageDecodingError(.truncated, "PNG: the file ends early")
    }

    private mutating func add(_ chunk: PNGChunk) throws(ImageDecodingError) {
        if chunk.name != PNGChunk.Name.idat, hasPixels { isPastPixels = true }
        switch chunk.name {
        case PNGChunk.Name.actl:
            guard !hasControl else { throw Self.corrupt("there are two animations") }
            hasControl = true
        case PNGChunk.Name.fctl:
            try endFrame()
            try count(chunk)
            guard chunk.body.count == PNGFrame.controlByteCount, frames.count < control.frameCount else {
                throw Self.corrupt("there are more frames than \(control.frameCount), or one is not described")
            }
            let frame = try PNGFrame(
                chunk, in: bytes, canvas: header.size, isFirst: frames.isEmpty, isOpaque: !header.hasAlpha)
            // The picture that other programs show may be the first frame, if it is as large as all.
            guard hasPixels || frame.control.area.covers(header.size) else {
                throw Self.corrupt("the first frame is smaller than the canvas")
            }
            current = frame
        case PNGChunk.Name.idat:
            guard !isPastPixels else { throw Self.corrupt("the pixel data are not in one place") }
            hasPixels = true
            current?.data.append(chunk.body)
        case PNGChunk.Name.fdat:
            guard hasPixels, current != nil, chunk.body.count >= 4 else {
                throw Self.corrupt("there are pixels of no frame")
            }
            try count(chunk)
            current?.data.append(chunk.body.dropFirst(4))
        case PNGChunk.Name.iend:
            try endFrame()
            guard frames.count == control.frameCount else {
                throw Self.corrupt("there are \(frames.count) frames instead of \(control.frameCount)")
            }
        default: break
        }
    }

    private mutating func endFrame() throws(ImageDecodingError) {
        guard let frame = current else { return }
        guard !frame.data.isEmpty else { throw Self.corrupt("a frame has no pixels") }
        frames.append(frame)
        current = nil
    }

    private mutating func count(_ chunk: PNGChunk) throws(ImageDecodingError) {
        guard chunk.body.count >= 4, bytes.bigEndian(at: chunk.body.lowerBound) == sequence else {
            throw Self.corrupt("the frames are out of order")
        }
        sequence += 1
    }

    private static func corrupt(_ message: String) -> ImageDecodingError {
        ImageDecodingError(.corrupt, "PNG: \(message)")
    }
}
