import AlcedoCore
private import CPNGShim
import FoundationEssentials

/// Functions that read files whose bytes are all available.
enum PNGWholeImage {
    static func inspect(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> ImageInfo {
        try data.withDecoderInput(of: "PNG") { bytes throws(ImageDecodingError) in
            try PNGFile(bytes, limits: limits).inspectedInfo
        }
    }

    static func decode(_ data: Data, options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        try data.withDecoderInput(of: "PNG") { bytes throws(ImageDecodingError) in
            let file = try PNGFile(bytes, limits: options.limits)
            guard let control = file.outline.animation else {
                var image = try PNGStill.decode(file, options)
                if file.outline.ignoresAnimation { image.damage = .worst(image.damage, PNGOutline.ignoredAnimation) }
                return image
            }
            return try PNGAnimation(file, data, control, options).decode()
        }
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
