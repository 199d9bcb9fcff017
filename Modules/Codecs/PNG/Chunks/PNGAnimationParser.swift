import AlcedoCore

/// A parser that finds the frames of an animated PNG and validates their chunks. It does not decompress pixels.
///
/// The frames end before the first one whose data is missing or damaged. If a chunk that controls the animation is
/// wrong, such as by its sequence number or by the size of a frame, there are none, and the file is a still image. This
/// holds for every frame, because the animation that the file describes is then unknown.
///
/// Source: W3C PNG specification, third edition, sections 4.9 and 11.3.6; APNG specification 1.0, "Error Handling".
struct PNGAnimationParser {
    /// The frames whose data can be complete.
    private(set) var frames: [PNGFrame] = []
    /// The error that ended parsing, or nil when the animation is complete.
    private(set) var problem: ImageDecodingError?

    private let bytes: PNGBytes
    private let control: PNGAnimationControl
    private let header: PNGHeader
    private var current: PNGFrame?
    /// The expected sequence number of the next `fcTL` or `fdAT`.
    private var sequence = 0
    private var hasControl = false
    private var hasPixels = false
    private var isPastPixels = false

    /// Parses the file. With `checksums`, also reads the compressed pixels to verify their checksums.
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
        var walk = PNGChunkWalk(bytes)
        var end = 0
        while let chunk = walk.next() {
            guard chunk.body.count <= PNGChunk.maximumByteCount else { throw Self.corrupt("a chunk is too long") }
            guard chunk.isWhole(in: bytes) else {
                // A chunk after the frame's pixels shows that the frame's data is complete.
                let isData = chunk.name == PNGChunk.Name.fdat || chunk.name == PNGChunk.Name.idat
                if !isData, current?.data.isEmpty == false { try endFrame() }
                break
            }
            let isControl = chunk.name == PNGChunk.Name.actl || chunk.name == PNGChunk.Name.fctl
            if isControl || checksums && (!chunk.isAncillary || chunk.name == PNGChunk.Name.fdat) {
                guard chunk.isIntact(in: bytes) else {
                    let message = "the checksum of a chunk does not match"
                    throw isControl ? invalidControl(message) : Self.corrupt(message)
                }
            }
            try add(chunk)
            if chunk.name == PNGChunk.Name.iend { return }
            end = chunk.range.upperBound
        }
        // Between two chunks, the data of the frame may be complete, which is seen when it is decoded.
        if end == bytes.count, current?.data.isEmpty == false { try endFrame() }
        throw ImageDecodingError(.truncated, "PNG: the file is truncated")
    }

    private mutating func add(_ chunk: PNGChunk) throws(ImageDecodingError) {
        if chunk.name != PNGChunk.Name.idat, hasPixels { isPastPixels = true }
        switch chunk.name {
        case PNGChunk.Name.actl:
            guard !hasControl else { throw invalidControl("the file has two acTL chunks") }
            hasControl = true
        case PNGChunk.Name.fctl:
            try endFrame()
            try count(chunk)
            guard chunk.body.count == PNGFrame.controlByteCount, frames.count < control.frameCount else {
                throw invalidControl(
                    "the file has more than the declared \(control.frameCount) frames, or a frame without an fcTL chunk"
                )
            }
            let frame: PNGFrame
            do throws(ImageDecodingError) {
                frame = try PNGFrame(
                    chunk, in: bytes, canvas: header.size, isFirst: frames.isEmpty, isOpaque: !header.hasAlpha)
            } catch {
                (frames, current) = ([], nil)
                throw error
            }
            // The image for programs without APNG support can be the first frame, which must then cover the canvas.
            guard hasPixels || frame.control.area.covers(header.size) else {
                throw invalidControl("the first frame does not have the size of the canvas")
            }
            current = frame
        case PNGChunk.Name.idat:
            guard !isPastPixels else { throw Self.corrupt("the IDAT chunks are not consecutive") }
            hasPixels = true
            current?.data.append(chunk.body)
        case PNGChunk.Name.fdat:
            guard hasPixels, current != nil, chunk.body.count >= 4 else {
                throw invalidControl("an fdAT chunk belongs to no frame")
            }
            try count(chunk)
            current?.data.append(chunk.body.dropFirst(4))
        case PNGChunk.Name.iend:
            try endFrame()
            guard frames.count == control.frameCount else {
                throw invalidControl("the file has \(frames.count) of the declared \(control.frameCount) frames")
            }
        default: break
        }
    }

    private mutating func endFrame() throws(ImageDecodingError) {
        guard let frame = current else { return }
        guard !frame.data.isEmpty else { throw invalidControl("a frame has no chunk of pixel data") }
        frames.append(frame)
        current = nil
    }

    private mutating func count(_ chunk: PNGChunk) throws(ImageDecodingError) {
        guard chunk.body.count >= 4, bytes.bigEndian(at: chunk.body.lowerBound) == sequence else {
            throw invalidControl("the sequence numbers of the frames are out of order")
        }
        sequence += 1
    }

    /// Removes all frames, and returns the error.
    private mutating func invalidControl(_ message: String) -> ImageDecodingError {
        (frames, current) = ([], nil)
        return Self.corrupt(message)
    }

    private static func corrupt(_ message: String) -> ImageDecodingError {
        ImageDecodingError(.corrupt, "PNG: \(message)")
    }
}
