import AlcedoCore
import CWebP
import Glibc

/// Decodes one frame while its bytes arrive, row by row from the top.
///
/// libwebp keeps the address of the pixels and of its configuration, so both stay where they are: the configuration is
/// allocated by hand, and nobody else shares the buffer before libwebp's decoder is gone.
final class WebPPieces {
    private var pixels: PixelBuffer
    private let memory: UnsafeMutableRawBufferPointer
    private let config: UnsafeMutablePointer<WebPDecoderConfig>
    private let decoder: OpaquePointer
    private var status = VP8_STATUS_SUSPENDED
    private var releasedByteCount = 0

    /// Rows from the top that are finished.
    private(set) var rowCount = 0

    /// - Parameter size: That of the picture to make; libwebp scales when it is another than the frame's.
    /// - Throws: `outOfMemory`.
    init(_ frame: WebPFrame, size: PixelSize) throws(ImageDecodingError) {
        guard var pixels = PixelBuffer(size: size, format: .rgba8, alphaMode: .straight) else {
            throw ImageDecodingError(.outOfMemory, "there is no memory for \(size) pixels")
        }
        let memory = pixels.withUnsafeMutableBytes { $0 }
        // No threads: their work would be waited for at the end of every piece.
        let configuration = try WebPSettings(usesThreads: false).configuration(
            from: frame.area.size, to: size, memory, bytesPerRow: pixels.bytesPerRow)
        let config = UnsafeMutablePointer<WebPDecoderConfig>.allocate(capacity: 1)
        config.initialize(to: configuration)
        guard let decoder = WebPIDecode(nil, 0, config) else {
            config.deallocate()
            throw ImageDecodingError(.outOfMemory, "WebP: there is no memory to decode with")
        }
        self.pixels = pixels
        self.memory = memory
        self.config = config
        self.decoder = decoder
    }

    deinit {
        WebPIDelete(decoder)
        config.deallocate()
    }

    var size: PixelSize { pixels.size }

    var isComplete: Bool { status == VP8_STATUS_OK }

    /// Decodes as far as the bytes reach. `bytes` are all of the frame's so far; they need not lie where they lay.
    ///
    /// - Throws: What is wrong with them; `truncated` is said by ``finished()`` only.
    func advance(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageDecodingError) {
        guard status == VP8_STATUS_SUSPENDED, !bytes.isEmpty else { return }
        status = WebPIUpdate(decoder, bytes.baseAddress, bytes.count)
        if status == VP8_STATUS_NOT_ENOUGH_DATA { status = VP8_STATUS_SUSPENDED }
        var (last, width, height, stride) = (Int32(0), Int32(0), Int32(0), Int32(0))
        if WebPIDecGetRGB(decoder, &last, &width, &height, &stride) != nil {
            rowCount = max(rowCount, min(Int(last), pixels.height))
        }
        guard isComplete || status == VP8_STATUS_SUSPENDED else { throw ImageDecodingError(libwebp: status) }
    }

    /// The whole picture; not to be called before the last ``advance(_:)``. Throws `truncated` when rows are missing.
    func finished() throws(ImageDecodingError) -> PixelBuffer {
        guard isComplete else { throw ImageDecodingError(libwebp: status) }
        return pixels
    }

    /// A copy of the finished rows; the others are transparent.
    func copy() throws(ImageDecodingError) -> PixelBuffer {
        let end = rowCount * pixels.bytesPerRow
        let copy = PixelBuffer(size: pixels.size, format: .rgba8, alphaMode: .straight) { target, _ in
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<end]))
            UnsafeMutableRawBufferPointer(rebasing: target[end...]).initializeMemory(as: UInt8.self, repeating: 0)
        }
        guard let copy else { throw ImageDecodingError(.outOfMemory, "there is no memory for \(pixels.size) pixels") }
        return copy
    }

    /// Hands one of the finished rows to `body`.
    func withRow(_ y: Int, _ body: (RawSpan) throws -> Void) rethrows {
        let start = y * pixels.bytesPerRow
        let row = memory[start..<start + pixels.usedBytesPerRow]
        try body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: row)))
    }

    /// Gives the memory of the rows before `y` back to the system. They are finished, so libwebp never looks at them
    /// again, and neither may the caller.
    func release(rowsBefore y: Int) {
        let page = sysconf(Int32(_SC_PAGESIZE))
        guard page > 0, let base = memory.baseAddress else { return }
        let start = (base + releasedByteCount).alignedUp(toMultipleOf: page)
        let end = (base + y * pixels.bytesPerRow).alignedDown(toMultipleOf: page)
        guard end - start >= Self.releasedAtOnce else { return }
        // The pages stay ours and read as nought from now on, so a failure would cost memory and nothing else.
        _ = madvise(start, end - start, Int32(MADV_DONTNEED))
        releasedByteCount = end - base
    }

    /// Fewer bytes are not worth a call of the system.
    private static let releasedAtOnce = 256 << 10
}
