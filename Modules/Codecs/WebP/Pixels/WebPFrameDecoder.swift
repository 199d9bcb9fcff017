import AlcedoCore
import FoundationEssentials

/// Decodes single frames of a file for the compositor.
struct WebPFrameDecoder: FrameDecoding {
    let data: Data
    let frames: [WebPFrame]
    let settings: WebPSettings

    var byteCount: Int { data.count + frames.count * MemoryLayout<WebPFrame>.stride }

    func decodeFrame(_ index: Int) throws(ImageDecodingError) -> PixelBuffer {
        let frame = frames[index]
        return try data.withDecoderInput { bytes throws(ImageDecodingError) in
            try frame.pixels(bytes, size: frame.area.size, settings)
        }
    }
}
