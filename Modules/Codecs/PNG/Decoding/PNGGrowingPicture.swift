import AlcedoCore
private import CPNGShim
import FoundationEssentials

/// A picture whose pixels are still coming: libpng's progressive reader and the rows it has made.
///
/// How far the last bytes of a file that ends early reach may depend, by some rows, on how they came.
final class PNGGrowingPicture {
    private let push: OpaquePointer
    private var pixels: PixelBuffer
    private var plan: PNGPlan
    private let head: Data
    private var filter = PNGChunkFilter()
    private var damage: ImageDecodingError?
    private var shown: (pass: UInt32, rows: UInt32, isWhole: Bool)?

    var info: ImageInfo { plan.info }

    /// - Parameter head: The file up to its pixels, found good.
    init(_ plan: PNGPlan, head: Data) throws(ImageDecodingError) {
        // Under no second name: the first rows would be written to a copy.
        pixels = try Self.canvas(of: plan)
        guard let push = alcedo_png_create_push(max(1, plan.options.limits.maximumChunkByteCount)) else {
            throw ImageDecodingError(.outOfMemory, "libpng could not be started")
        }
        self.push = push
        self.plan = plan
        self.head = head
        alcedo_png_start(push, plan.format.shimFormat, 0)
        try feed(head)
    }

    private static func canvas(of plan: PNGPlan) throws(ImageDecodingError) -> PixelBuffer {
        guard let pixels = PixelBuffer(size: plan.header.size, format: plan.format, alphaMode: plan.openAlphaMode)
        else { throw ImageDecodingError(.outOfMemory, "there is no memory for \(plan.header.size) pixels") }
        return pixels
    }

    /// The part there is of a damaged file; its damage, when there is nothing to show.
    static func part(of file: PNGFile, _ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        let start = file.outline.pixels?.range.lowerBound ?? file.bytes.count
        let plan = PNGPlan(file.reader.header, file.info, options)
        let picture = try PNGGrowingPicture(plan, head: Data(file.bytes.part(0..<start)))
        try picture.append(Data(file.bytes.part(start..<file.bytes.count)))
        return try picture.finish()
    }

    deinit { alcedo_png_destroy(push) }

    /// Takes bytes from the first chunk with pixels on.
    func append(_ bytes: Data) throws(ImageDecodingError) {
        var rest = bytes
        while damage == nil, let piece = filter.next(&rest, limits: plan.options.limits) { try feed(piece) }
    }

    /// nil when nothing has come since the last call.
    func preview() throws(ImageDecodingError) -> ImagePreview? {
        let progress = alcedo_png_get_progress(push)
        let state = (pass: progress.pass, rows: progress.rows, isWhole: progress.is_whole != 0)
        if let shown, shown == state { return nil }
        guard progress.has_pixels != 0 else { return nil }
        shown = state
        let isWhole = progress.pass == lastPass && progress.rows == pixels.height
        let image = try plan.image(finished(pixels.relabelled(isWhole ? plan.alphaMode : previewAlphaMode)))
        return ImagePreview(image: image, pass: Int(progress.pass) + 1, rowCount: Int(progress.rows))
    }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        let progress = alcedo_png_get_progress(push)
        let early = ImageDecodingError(.truncated, "PNG: the file ends early")
        let problem = damage ?? (progress.is_whole != 0 ? nil : early)
        if let problem, !plan.options.isPartAllowed(problem) || progress.has_pixels == 0 { throw problem }
        try readLateMetadata()
        let isMissingRows = problem != nil && (plan.header.isInterlaced || Int(progress.rows) < pixels.height)
        if isMissingRows, plan.format == .gray8 { return try finishWithAlphaChannel(rows: Int(progress.rows), problem) }
        let mode = isMissingRows && plan.alphaMode == .opaque ? AlphaMode.straight : plan.alphaMode
        return try plan.image(finished(pixels.relabelled(mode)), damage: problem)
    }

    private var lastPass: UInt32 { plan.header.isInterlaced ? 6 : 0 }

    private var previewAlphaMode: AlphaMode {
        plan.alphaMode == .opaque && plan.format != .gray8 ? .straight : plan.alphaMode
    }

    private func feed(_ bytes: Data) throws(ImageDecodingError) {
        let stride = pixels.bytesPerRow
        let problem = bytes.bytes.withUnsafeBytes { input in
            pixels.withUnsafeMutableBytes { memory -> ImageDecodingError? in
                guard let from = input.baseAddress, let out = memory.baseAddress else { return nil }
                let status = alcedo_png_push(
                    push, from.assumingMemoryBound(to: UInt8.self), input.count,
                    out.assumingMemoryBound(to: UInt8.self), stride, memory.count)
                return PNGReader.error(status, push)
            }
        }
        damage = problem
        if let problem, !plan.options.isPartAllowed(problem) { throw problem }
    }

    /// Alpha mode and size as they are wanted.
    private func finished(_ rows: PixelBuffer) throws(ImageDecodingError) -> PixelBuffer {
        var result = rows
        if plan.premultiplies {
            let stride = rows.bytesPerRow
            result.withUnsafeMutableBytes { memory in
                guard let base = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
                for y in 0..<rows.height {
                    alcedo_png_premultiply(base + y * stride, rows.width, plan.format == .rgba16 ? 1 : 0)
                }
            }
        }
        return try result.reduced(by: plan.reduction)
    }

    /// EXIF and XMP may come after the pixels.
    private func readLateMetadata() throws(ImageDecodingError) {
        guard !filter.late.isEmpty else { return }
        let limits = plan.options.limits
        let all = head + filter.late
        let info = plan.info
        let metadata = all.bytes.withUnsafeBytes { memory in
            let bytes = memory.assumingMemoryBound(to: UInt8.self)
            return PNGMetadata(
                PNGOutline(bytes), in: bytes, colorProfile: info.metadata.colorProfile, limits: limits)
        }
        var complete = info
        complete.metadata = metadata.metadata
        complete.orientation = metadata.orientation
        plan = PNGPlan(plan.header, complete, plan.options)
        try plan.check()
    }

    /// Gray samples cannot tell what is missing.
    private func finishWithAlphaChannel(
        rows: Int, _ problem: ImageDecodingError?
    ) throws(ImageDecodingError) -> DecodedImage {
        let wide = plan.withAlphaChannel
        try wide.check()
        let known = plan.header.isInterlaced && alcedo_png_get_progress(push).pass > 0 ? pixels.height : rows
        let header = PixelRowHeader(
            size: PixelSize(width: pixels.width, height: 1), format: .gray8, alphaMode: .opaque)
        var converter = StraightRow(header)
        var result = PixelBuffer(size: pixels.size, format: .rgba8, alphaMode: .straight)
        for y in 0..<known {
            let row = converter.convert(pixels.row(y))
            result?.withUnsafeMutableBytes { memory in
                let start = y * (memory.count / pixels.height)
                UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + row.count]).copyBytes(from: row)
            }
        }
        guard let result else { throw ImageDecodingError(.outOfMemory, "there is no memory for \(pixels.size) pixels") }
        return try wide.image(result.reduced(by: wide.reduction), damage: problem)
    }
}
