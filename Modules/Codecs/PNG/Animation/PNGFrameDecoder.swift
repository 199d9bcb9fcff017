import AlcedoCore
private import CPNGShim
import FoundationEssentials

/// Decodes frames of an animated PNG, each from the file's own bytes.
struct PNGFrameDecoder: FrameDecoding {
    let data: Data
    let header: PNGHeader
    let colors: [PNGChunk]
    let frames: [PNGFrame]

    var byteCount: Int { data.count }

    func decodeFrame(_ index: Int) throws(ImageDecodingError) -> PixelBuffer {
        let frame = frames[index]
        return try data.withDecoderInput { bytes throws(ImageDecodingError) in
            let file = PNGFrameFile(frame, start: bytes.part(0..<33), colors: colors)
            return try file.withParts(of: bytes) { parts throws(ImageDecodingError) in
                let reader = try PNGReader(parts, chunkLimit: 1, purpose: ALCEDO_PNG_CHECKED_FILE)
                try reader.start(.rgba8, premultiplies: false)
                var problem: ImageDecodingError?
                let size = frame.control.area.size
                let pixels = PixelBuffer(
                    size: size, format: .rgba8, alphaMode: header.hasAlpha ? .straight : .opaque
                ) { memory, stride in
                    problem = reader.readAll(into: memory, stride: stride)
                }
                if let problem { throw problem }
                guard let pixels else {
                    throw ImageDecodingError(.outOfMemory, "there is no memory for \(size) pixels")
                }
                return pixels
            }
        }
    }
}
