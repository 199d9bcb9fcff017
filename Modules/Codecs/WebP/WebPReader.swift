import AlcedoCore
import FoundationEssentials

/// A WebP file whose header has been read and found within the limits. The bytes must outlive it.
struct WebPReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let container: WebPContainer
    private let frame: WebPFrame
    private let bitstream: WebPBitstream
    let info: ImageInfo

    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: DecodingLimits) throws(ImageDecodingError) {
        self.bytes = bytes
        container = try WebPContainer(bytes, limits: limits)
        frame = try container.firstFrame()
        bitstream = try WebPBitstream(UnsafeBufferPointer(rebasing: bytes[frame.bitstream]))
        let canvas = container.canvas ?? bitstream.size
        try limits.check(canvas, format: .rgba8)
        // libwebp's rows go straight into the canvas, so the frame's real size counts, not only what is announced.
        guard bitstream.size == frame.announcedSize ?? canvas,
            bitstream.size.width <= canvas.width - frame.left,
            bitstream.size.height <= canvas.height - frame.top
        else { throw ImageDecodingError(.corrupt, "WebP: the frame leaves its canvas or is not as large as announced") }
        info = ImageInfo(
            format: .webp,
            size: canvas,
            orientation: Self.orientation(container.exif.map { bytes[$0] } ?? bytes.prefix(0)),
            hasAlpha: container.declaresAlpha || bitstream.declaresAlpha || bitstream.size != canvas,
            frameCount: container.frameCount)
    }

    /// The bytes of the `ICCP` chunk; nil when there is none, or one of more than `limit` bytes.
    func colorProfile(limit: Int) -> Data? {
        guard let range = container.profile, !range.isEmpty, range.count <= limit else { return nil }
        return Data(bytes[range])
    }

    /// The stored size that serves `target`: the smallest that is not below what it needs.
    func size(for target: TargetSize) -> PixelSize {
        // A frame of a part of the canvas would have to be scaled and placed between pixels.
        guard bitstream.size == info.size else { return info.size }
        let box = info.orientation.swapsSides ? target.size.transposed : target.size
        return info.size.scaled(to: box, mode: target.mode)
    }

    /// Decodes the first frame onto an empty canvas of `size`, which is the canvas's own or of ``size(for:)``.
    func readPixels(size: PixelSize, alphaMode: AlphaMode) throws(ImageDecodingError) -> PixelBuffer {
        let covers = bitstream.size == info.size
        let pixels = try PixelBuffer(size: size, format: .rgba8, alphaMode: alphaMode) {
            (memory, stride) throws(ImageDecodingError) in
            if !covers { memory.initializeMemory(as: UInt8.self, repeating: 0) }
            let offset = frame.top * stride + frame.left * PixelFormat.rgba8.bytesPerPixel
            try bitstream.decode(
                into: UnsafeMutableRawBufferPointer(rebasing: memory[offset...]), bytesPerRow: stride,
                scaledTo: covers ? size : bitstream.size, premultiplied: alphaMode == .premultiplied)
        }
        guard let pixels else { throw ImageDecodingError(.outOfMemory, "there is no memory for \(size) pixels") }
        guard covers else { return pixels }
        let mayHaveAlpha = bitstream.declaresAlpha || bitstream.isLossless
        return mayHaveAlpha && !pixels.hasOnlyOpaquePixels ? pixels : pixels.relabelled(.opaque)
    }

    private static func orientation(_ exif: Slice<UnsafeBufferPointer<UInt8>>) -> ImageOrientation {
        // The chunk should begin with the TIFF header, but many writers copy what JPEG puts before it.
        let prefix = Array("Exif\0\0".utf8)
        let tiff = exif.starts(with: prefix) ? exif.dropFirst(prefix.count) : exif
        return ImageOrientation(exif: RawSpan(_unsafeElements: UnsafeBufferPointer(rebasing: tiff)))
    }
}
