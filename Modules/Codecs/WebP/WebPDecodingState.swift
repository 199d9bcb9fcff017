import AlcedoCore
import CWebP
import FoundationEssentials

/// Decodes a WebP while its bytes arrive.
///
/// Keeps all bytes, because libwebp reads from them and metadata may follow the pixels. Of an animation nothing is
/// decoded before the end.
final class WebPDecodingState: IncrementalDecodingState {
    private let options: DecodingOptions
    private let settings: WebPBitstream.Settings
    private var data = Data()
    /// libwebp's decoder; nil before the header, and for animations.
    private var decoder: OpaquePointer?
    private var previewedRows = 0
    /// Whether libwebp has all of the pixels, or none can come from it any more.
    private var isSettled = false
    private(set) var info: ImageInfo?

    init(options: DecodingOptions, _ settings: WebPBitstream.Settings) {
        self.options = options
        self.settings = settings
    }

    deinit { if let decoder { WebPIDelete(decoder) } }

    func append(_ bytes: Data) throws(ImageDecodingError) {
        if data.isEmpty { data = bytes } else { data.append(bytes) }
        guard !data.isEmpty, !isSettled else { return }
        if decoder == nil { try readHeader() }
        advance()
    }

    /// Starts libwebp's decoder once the size is known and within the limits.
    private func readHeader() throws(ImageDecodingError) {
        let header: WebPBitstreamFeatures? = data.bytes.withUnsafeBytes { memory in
            var features = WebPBitstreamFeatures()
            let status = WebPGetFeatures(
                memory.baseAddress?.assumingMemoryBound(to: UInt8.self), memory.count, &features)
            if status != VP8_STATUS_OK, status != VP8_STATUS_NOT_ENOUGH_DATA { isSettled = true }
            return status == VP8_STATUS_OK ? features : nil
        }
        guard let header else { return }
        let size = PixelSize(width: Int(header.width), height: Int(header.height))
        try options.limits.check(size, format: .rgba8)
        let lossless: ColorModel = header.has_alpha != 0 ? .rgba : .rgb
        info = ImageInfo(
            format: .webp, size: size, hasAlpha: header.has_alpha != 0,
            colorModel: header.format == 2 ? lossless : .yCbCr)
        guard header.has_animation == 0, options.target == nil else {
            isSettled = true
            return
        }
        var configuration = try WebPBitstream.configuration(from: size, to: size, settings)
        decoder = WebPIDecode(nil, 0, &configuration)
        isSettled = decoder == nil
    }

    private func advance() {
        guard let decoder, !isSettled else { return }
        let status = data.bytes.withUnsafeBytes { memory in
            WebPIUpdate(decoder, memory.baseAddress?.assumingMemoryBound(to: UInt8.self), memory.count)
        }
        isSettled = status != VP8_STATUS_SUSPENDED
    }

    func preview() throws(ImageDecodingError) -> ImagePreview? {
        guard let rows = rows, rows.count > previewedRows else { return nil }
        previewedRows = rows.count
        let pixels = try copy(rows)
        let shown = options.alphaMode == .premultiplied ? pixels.premultiplied() : pixels
        return ImagePreview(image: DecodedImage(pixels: shown, format: .webp), rowCount: rows.count)
    }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        let image: WebPImage
        do throws(ImageDecodingError) {
            image = try WebPImage(data, options: options, settings)
        } catch {
            guard options.allowsPartial else { throw error }
            return try part(damage: error)
        }
        info = image.container.info
        if let rows, rows.count == image.container.canvas.height, options.target == nil {
            return image.finished(try copy(rows))
        }
        // What libwebp could not finish piece by piece, it says at once why.
        do throws(ImageDecodingError) {
            return try image.decode()
        } catch {
            guard options.allowsPartial else { throw error }
            return try part(damage: error)
        }
    }

    /// The rows there are of a damaged file; throws the damage when there are none.
    static func part(
        of data: Data, options: DecodingOptions, _ settings: WebPBitstream.Settings, damage: ImageDecodingError
    ) throws(ImageDecodingError) -> DecodedImage {
        guard damage.code != .exceedsLimit, damage.code != .outOfMemory else { throw damage }
        var full = options
        full.target = nil
        let state = WebPDecodingState(options: full, settings)
        try state.append(data)
        state.reduction = BoxReduction(
            from: state.info?.size ?? PixelSize(width: 1, height: 1), towards: options.target)
        return try state.part(damage: damage)
    }

    /// How a part of a picture meets a target: libwebp cannot scale what it has not got.
    private var reduction = BoxReduction(from: PixelSize(width: 1, height: 1), towards: nil)

    private func part(damage: ImageDecodingError) throws(ImageDecodingError) -> DecodedImage {
        guard damage.code != .exceedsLimit, damage.code != .outOfMemory, let rows, rows.count > 0 else { throw damage }
        let pixels = try copy(rows).reduced(by: reduction)
        let shown = options.alphaMode == .premultiplied ? pixels.premultiplied() : pixels
        return DecodedImage(pixels: shown, format: .webp, damage: damage)
    }

    /// The rows that libwebp has decoded, from the top, in its own memory.
    private var rows: (start: UnsafeMutablePointer<UInt8>, stride: Int, size: PixelSize, count: Int)? {
        guard let decoder else { return nil }
        var (last, width, height, stride) = (Int32(0), Int32(0), Int32(0), Int32(0))
        guard let start = WebPIDecGetRGB(decoder, &last, &width, &height, &stride), last > 0 else { return nil }
        return (start, Int(stride), PixelSize(width: Int(width), height: Int(height)), Int(last))
    }

    private func copy(
        _ rows: (start: UnsafeMutablePointer<UInt8>, stride: Int, size: PixelSize, count: Int)
    ) throws(ImageDecodingError) -> PixelBuffer {
        guard var pixels = PixelBuffer(size: rows.size, format: .rgba8, alphaMode: .straight) else {
            throw ImageDecodingError(.outOfMemory, "there is no memory for \(rows.size) pixels")
        }
        let (stride, used) = (pixels.bytesPerRow, pixels.usedBytesPerRow)
        pixels.withUnsafeMutableBytes { memory in
            for y in 0..<rows.count {
                let row = UnsafeRawBufferPointer(start: rows.start + y * rows.stride, count: used)
                UnsafeMutableRawBufferPointer(rebasing: memory[y * stride..<y * stride + used]).copyMemory(from: row)
            }
        }
        return pixels
    }
}
