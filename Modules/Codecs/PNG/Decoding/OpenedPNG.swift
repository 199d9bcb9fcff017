import AlcedoCore
private import CPNGShim
import FoundationEssentials

/// A PNG whose bytes are all available, and whose chunks have been read.
final class OpenedPNG: FileReading {
    let file: OpenedFile<PNGFile>
    let header: ImageHeader

    init(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) {
        file = try OpenedFile(data, of: "PNG", limits: limits) { bytes, limits throws(ImageDecodingError) in
            try PNGFile(bytes, limits: limits)
        }
        header = try file.withFile { file, _ throws(ImageDecodingError) in ImageHeader(file.info) }
    }

    /// Returns the properties, also those of the chunks after the pixels, and the frames of an animation.
    func info() throws(ImageDecodingError) -> ImageInfo {
        try file.withFile { file, _ throws(ImageDecodingError) in file.inspectedInfo }
    }

    func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
        try file.withFile(options.limits) { file, _ throws(ImageDecodingError) in file.byteCount(options) }
    }

    func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        try file.takeFile(options.limits) { file, _ throws(ImageDecodingError) in try image(file, options) }
    }

    private func image(_ file: PNGFile, _ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        guard let control = file.outline.animation else {
            var image = try PNGStill.decode(file, options)
            if file.outline.ignoresAnimation { image.damage = .worst(image.damage, PNGOutline.ignoredAnimation) }
            return image
        }
        return try PNGAnimation(file, self.file.data, control, options).decode()
    }

    func decodeRows(_ options: DecodingOptions, into consumer: any PixelRowConsumer) throws -> ImageDamage? {
        let options = options.forRows
        return try file.takeFileForRows(options.limits) { file, _ in
            let still = try PNGStill(file, options)
            guard file.outline.animation == nil, still.plan.streams, still.plan.pendingOrientation == .up else {
                return try image(file, options).sendRows(to: consumer)
            }
            let damage = try still.sendRows(to: consumer)
            return file.outline.ignoresAnimation ? .worst(damage, PNGOutline.ignoredAnimation) : damage
        }
    }
}

extension PNGFile {
    /// Returns the maximum number of bytes that decoding holds.
    fileprivate func byteCount(_ options: DecodingOptions) -> Int {
        let plan = PNGPlan(reader.header, info, options)
        guard outline.animation != nil else { return plan.byteCount(isStill: true) }
        // Five buffers: the canvas, the saved canvas, one frame, the finished image and its rotated copy.
        let canvas = PixelBuffer.byteCount(size: info.size, format: .rgba8) ?? Int.max
        // Rows are padded, so the rotated copy can be larger than the canvas.
        let rotated = PixelBuffer.byteCount(size: info.uprightSize, format: .rgba8) ?? Int.max
        let (stored, overflow) = canvas.multipliedReportingOverflow(by: 4)
        let (total, isTooLarge) = stored.addingReportingOverflow(rotated)
        // The still image is decoded when the animation cannot be used.
        return overflow || isTooLarge ? Int.max : max(total, plan.byteCount(isStill: false))
    }
}

/// A decoder of a file that declares an animation.
private struct PNGAnimation {
    private let file: PNGFile
    private let data: Data
    private let options: DecodingOptions
    private let parser: PNGAnimationParser

    /// Parses the chunks of the frames.
    ///
    /// - Throws: `exceedsLimit`.
    init(
        _ file: PNGFile, _ data: Data, _ control: PNGAnimationControl, _ options: DecodingOptions
    ) throws(ImageDecodingError) {
        var options = options
        options.pixelFormat = .rgba8
        try PNGPlan(file.reader.header, file.info, options).check()
        self.file = file
        self.data = data
        self.options = options
        parser = PNGAnimationParser(file.bytes, control, file.reader.header, checksums: true)
    }

    /// Returns the animation up to its first frame with missing or damaged data, or the still image if there is no
    /// frame or a control chunk is wrong.
    func decode() throws(ImageDecodingError) -> DecodedImage {
        let frames = parser.frames
        let damage = parser.problem.map { ImageDamage(.harmless, $0) }
        guard let animation = makeAnimation(frames) else { return try stillImage(damage) }
        if frames.count > 1, options.includesAnimation { try options.limits.check(animation.layout) }
        let pixels: PixelBuffer
        do throws(ImageDecodingError) {
            pixels = try animation.composited(0)
        } catch {
            guard error.code == .corrupt || error.code == .truncated else { throw error }
            return try stillImage(ImageDamage(.harmless, error))
        }
        return DecodedImage(
            pixels: pixels, colorProfile: file.info.sampleProfile,
            orientation: options.appliesOrientation ? .up : file.info.orientation, format: .png,
            frames: frames.count > 1 && options.includesAnimation ? animation : nil,
            damage: .worst(damage, file.info.metadataDamage))
    }

    private func makeAnimation(_ frames: [PNGFrame]) -> CompositedAnimation<PNGFrameDecoder>? {
        guard !frames.isEmpty else { return nil }
        let plays = file.outline.animation?.playCount ?? 0
        return CompositedAnimation(
            AnimationLayout(
                canvas: file.info.size, frames: frames.map(\.control), playCount: plays == 0 ? nil : plays),
            decoder: PNGFrameDecoder(
                data: data, header: file.reader.header, colors: file.outline.colors, frames: frames),
            orientation: file.info.orientation, options: options)
    }

    private func stillImage(_ damage: ImageDamage?) throws(ImageDecodingError) -> DecodedImage {
        var image = try PNGStill.decode(file, options)
        image.damage = .worst(image.damage, damage)
        return image
    }
}

/// A decoder of single frames for the compositor. It reads the bytes of the file without copying them.
private struct PNGFrameDecoder: FrameDecoding {
    let data: Data
    let header: PNGHeader
    let colors: [PNGChunk]
    let frames: [PNGFrame]

    var byteCount: Int { data.count }

    func decodeFrame(_ index: Int) throws(ImageDecodingError) -> (pixels: PixelBuffer, damage: ImageDamage?) {
        let frame = frames[index]
        return try data.withDecoderInput(of: "PNG") { bytes throws(ImageDecodingError) in
            let file = PNGFrameFile(frame, start: bytes.part(0..<33), colors: colors)
            return try file.withParts(of: bytes) { parts throws(ImageDecodingError) in
                let reader = try PNGReader(parts, chunkLimit: 1, purpose: ALCEDO_PNG_CHECKED_FILE)
                try reader.start(.rgba8, premultiplies: false)
                var problem: ImageDecodingError?
                let size = frame.control.area.size
                let pixels = PixelBuffer(
                    size: size, format: .rgba8, alphaMode: header.hasAlpha ? .straight : .opaque
                ) { memory, stride in
                    problem = reader.readPixels(into: memory, stride: stride)
                }
                if let problem { throw problem }
                guard let pixels else {
                    throw ImageDecodingError.noMemory(for: size)
                }
                // What follows the rows changes no pixel.
                return (pixels, reader.finish().map { ImageDamage(.harmless, $0) })
            }
        }
    }
}
