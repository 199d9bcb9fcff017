import AlcedoCore

/// Where one frame lies, in the file and on the canvas.
struct WebPFrame {
    /// The pixels' chunk with its header, and an alpha chunk that belongs to it: what libwebp decodes.
    var bitstream: Range<Int>
    var left = 0
    var top = 0
    /// What an animation's frame header says; nil for a still image.
    var announcedSize: PixelSize?
}

extension WebPFrame {
    init(image: RIFFChunk, alpha: RIFFChunk?) {
        // Alpha of its own belongs to lossy pixels only.
        let start = image.id == "VP8 " ? alpha?.start ?? image.start : image.start
        self.init(bitstream: start..<image.payload.upperBound)
    }

    /// Reads the header and the chunks of an `ANMF` chunk. Source: WebP container specification, "Animation".
    init(animation chunk: RIFFChunk, _ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) {
        let start = chunk.payload.lowerBound
        guard chunk.payload.count >= 16 else {
            throw ImageDecodingError(.corrupt, "WebP: a frame's header is too short")
        }
        var chunks = RIFFChunks(bytes, in: start + 16..<chunk.payload.upperBound)
        var alpha: RIFFChunk?
        while let part = try chunks.next() {
            switch part.id {
            case "ALPH" where alpha == nil: alpha = part
            case "VP8 ", "VP8L":
                self.init(image: part, alpha: alpha)
                left = 2 * bytes.number(at: start, bytes: 3)
                top = 2 * bytes.number(at: start + 3, bytes: 3)
                announcedSize = PixelSize(
                    width: bytes.number(at: start + 6, bytes: 3) + 1,
                    height: bytes.number(at: start + 9, bytes: 3) + 1)
                return
            default: continue
            }
        }
        throw ImageDecodingError(.corrupt, "WebP: a frame has no image")
    }
}
