import AlcedoCore
import FoundationEssentials

/// Decodes single images of a file for the compositor.
struct GIFFrameDecoder: FrameDecoding {
    let data: Data
    let structure: GIFStructure

    var byteCount: Int { data.count + structure.frames.count * MemoryLayout<GIFFrame>.stride }

    func decodeFrame(_ index: Int) throws(ImageDecodingError) -> PixelBuffer {
        let frame = structure.frames[index]
        var image = try GIFFrameImage(frame)
        try data.withDecoderInput { bytes throws(ImageDecodingError) in
            try image.advance(bytes, structure)
            try image.requireComplete()
        }
        return image.pixels
    }
}
