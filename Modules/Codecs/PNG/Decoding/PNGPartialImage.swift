import AlcedoCore
private import CPNGShim
import FoundationEssentials

/// An image that libpng's progressive reader decodes into memory for all rows.
final class PNGPartialImage {
    private let reader: PNGPushReader
    private var pixels: PixelBuffer
    private var plan: PNGPlan
    private let head: Data
    private var shown: (pass: UInt32, rows: UInt32, isWhole: Bool)?

    var info: ImageInfo { plan.info }

    /// Whether a complete chunk of an animation follows the first chunk of pixels.
    var hasAnimationChunks: Bool { reader.hasAnimationChunks }

    /// Creates a partial image.
    ///
    /// - Parameters:
    ///   - plan: The plan for decoding.
    ///   - head: The valid bytes of the file up to its pixels.
    init(_ plan: PNGPlan, head: Data) throws(ImageDecodingError) {
        // No other variable may hold this buffer, because writing the first rows would then copy it.
        pixels = try Self.canvas(of: plan)
        reader = try PNGPushReader(plan.format, limits: plan.options.limits)
        self.plan = plan
        self.head = head
        try feed(head)
    }

    private static func canvas(of plan: PNGPlan) throws(ImageDecodingError) -> PixelBuffer {
        guard let pixels = PixelBuffer(size: plan.header.size, format: plan.format, alphaMode: plan.openAlphaMode)
        else { throw ImageDecodingError.noMemory(for: plan.header.size) }
        return pixels
    }

    /// Decodes a file whose bytes are all available.
    static func decode(_ file: PNGFile, _ plan: PNGPlan) throws(ImageDecodingError) -> DecodedImage {
        let partialImage = try PNGPartialImage(plan, head: file.head)
        try partialImage.append(file.body)
        return try partialImage.finish()
    }

    /// Decodes the next bytes. The bytes of the first call begin with the first chunk of pixels.
    func append(_ bytes: Data) throws(ImageDecodingError) {
        var rest = bytes
        while let piece = reader.next(&rest) { try feed(piece) }
    }

    /// Returns the image decoded so far. Returns nil before the first row, and when decoding has not progressed since
    /// the last preview.
    func preview() throws(ImageDecodingError) -> ImagePreview? {
        let progress = reader.progress
        let state = (pass: progress.pass, rows: progress.rows, isWhole: progress.is_whole != 0)
        if let shown, shown == state { return nil }
        guard progress.has_pixels != 0 else { return nil }
        shown = state
        let isWhole = progress.pass == lastPass && progress.rows == pixels.height
        var rows = pixels.reinterpreted(as: isWhole ? plan.alphaMode : previewAlphaMode)
        premultiply(&rows)
        let image = try plan.image(rows.reduced(by: plan.reduction))
        return ImagePreview(image: image, pass: Int(progress.pass) + 1, rowCount: Int(progress.rows))
    }

    func finish() throws(ImageDecodingError) -> DecodedImage {
        let progress = reader.progress
        let damage = reader.damage
        try plan.check(damage, reader.error)
        if let damage, progress.has_pixels == 0 { throw damage.error }
        try readLateMetadata()
        let isMissingRows = damage?.kind == .missingPixels
        if isMissingRows, plan.format.isGray { return try finishWithAlphaChannel(rows: Int(progress.rows), damage) }
        let mode = isMissingRows && plan.alphaMode == .opaque ? AlphaMode.straight : plan.alphaMode
        // The rows are converted in place, because no more rows will be added to the image.
        premultiply(&pixels)
        return try plan.image(pixels.reinterpreted(as: mode).reduced(by: plan.reduction), damage: damage)
    }

    private var lastPass: UInt32 { plan.header.isInterlaced ? 6 : 0 }

    private var previewAlphaMode: AlphaMode {
        plan.alphaMode == .opaque && !plan.format.isGray ? .straight : plan.alphaMode
    }

    private func feed(_ bytes: Data) throws(ImageDecodingError) {
        let stride = pixels.bytesPerRow
        let problem = pixels.withUnsafeMutableBytes { memory in
            reader.feed(bytes, into: PNGPushReader.Output(memory: memory, stride: stride))
        }
        if let problem { try plan.check(reader.damage, problem) }
    }

    /// Multiplies the color of the rows by alpha if the plan requires it.
    private func premultiply(_ rows: inout PixelBuffer) {
        guard plan.premultiplies else { return }
        let (stride, height) = (rows.bytesPerRow, rows.height)
        rows.withUnsafeMutableBytes { memory in
            for y in 0..<height {
                plan.premultiply(UnsafeMutableRawBufferPointer(rebasing: memory[y * stride..<(y + 1) * stride]))
            }
        }
    }

    /// Updates the plan with metadata that follows the pixels.
    private func readLateMetadata() throws(ImageDecodingError) {
        guard !reader.lateChunks.isEmpty else { return }
        let limits = plan.options.limits
        let all = head + reader.lateChunks
        let info = plan.info
        let metadata = all.bytes.withUnsafeBytes { memory in
            let bytes = memory.assumingMemoryBound(to: UInt8.self)
            return PNGMetadata(
                PNGOutline(bytes), in: bytes, colorProfile: info.metadata.colorProfile, limits: limits)
        }
        var complete = info
        complete.metadata = metadata.metadata
        complete.hasDamagedMetadata = metadata.isDamaged
        complete.orientation = metadata.orientation
        plan = PNGPlan(plan.header, complete, plan.options)
        try plan.check()
    }

    /// Finishes a gray image in RGBA8, because gray samples cannot mark missing rows as transparent.
    private func finishWithAlphaChannel(
        rows: Int, _ damage: ImageDamage?
    ) throws(ImageDecodingError) -> DecodedImage {
        let wide = plan.withAlphaChannel
        try wide.check()
        let known = plan.header.isInterlaced && reader.progress.pass > 0 ? pixels.height : rows
        guard let result = pixels.straightRGBA(rowCount: known) else {
            throw ImageDecodingError.noMemory(for: pixels.size)
        }
        return try wide.image(result.reduced(by: wide.reduction), damage: damage)
    }
}
