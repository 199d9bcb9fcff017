import AlcedoCore
import FoundationEssentials

/// Sends the rows of one image, from top to bottom, to a consumer that has begun.
struct GIFRowStream {
    private let frame: GIFFrame
    private let structure: GIFStructure

    init(_ frame: GIFFrame, _ structure: GIFStructure) {
        self.frame = frame
        self.structure = structure
    }

    func send(_ data: Data, to consumer: any PixelRowConsumer) throws {
        var row = [UInt8](repeating: 0, count: frame.size.width * 4)
        try data.withUnsafeBytes { memory in
            let bytes = memory.assumingMemoryBound(to: UInt8.self)
            let palette = GIFPalette(of: frame, in: structure, bytes)
            let decoder = try GIFRowDecoder(frame, codeSize: bytes[frame.dataStart])
            while let next = try decoder.next(bytes) {
                try row.withUnsafeMutableBytes { row in
                    guard let base = row.baseAddress else { return }
                    palette.write(next.indices, count: frame.size.width, to: base)
                    try consumer.consume(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(row)))
                }
            }
            guard decoder.isComplete else { throw ImageDecodingError(.truncated, "GIF: the bytes end inside an image") }
        }
        try consumer.finish()
    }
}
