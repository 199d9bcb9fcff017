import AlcedoCore

/// The pixels of one image, of the size of its area, as far as they have been decoded.
struct GIFFrameImage {
    private let frame: GIFFrame
    private var decoder: GIFRowDecoder?
    private var palette: GIFPalette?
    /// Straight RGBA8; rows that have not come are transparent.
    private(set) var pixels: PixelBuffer

    /// Throws `outOfMemory` when there is no memory for the pixels. The limits have been checked.
    init(_ frame: GIFFrame) throws(ImageDecodingError) {
        self.frame = frame
        guard let pixels = PixelBuffer(size: frame.size, format: .rgba8, alphaMode: .straight) else {
            throw ImageDecodingError(.outOfMemory, "there is no memory for \(frame.size) pixels")
        }
        self.pixels = pixels
    }

    var rowCount: Int { decoder?.rowCount ?? 0 }

    var isComplete: Bool { decoder?.isComplete == true }

    /// Decodes as far as the bytes reach.
    mutating func advance(
        _ bytes: UnsafeBufferPointer<UInt8>, _ structure: GIFStructure
    ) throws(ImageDecodingError) {
        guard !isComplete else { return }
        let palette = self.palette ?? GIFPalette(of: frame, in: structure, bytes)
        self.palette = palette
        if self.decoder == nil { self.decoder = try GIFRowDecoder(frame, codeSize: bytes[frame.dataStart]) }
        guard let decoder else { return }
        let stride = pixels.bytesPerRow
        let width = frame.size.width
        try pixels.withUnsafeMutableBytes { memory throws(ImageDecodingError) in
            guard let base = memory.baseAddress else { return }
            while let row = try decoder.next(bytes) {
                palette.write(row.indices, count: width, to: base + row.y * stride)
            }
        }
    }

    func requireComplete() throws(ImageDecodingError) {
        guard isComplete else { throw ImageDecodingError(.truncated, "GIF: the bytes end inside an image") }
    }
}
