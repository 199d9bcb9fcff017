import AlcedoCore
import FoundationEssentials

/// A file whose chunks have been read: makes images of its pixels.
struct WebPImage {
    let data: Data
    let container: WebPContainer
    let options: DecodingOptions
    let settings: WebPBitstream.Settings

    init(
        _ data: Data, options: DecodingOptions, _ settings: WebPBitstream.Settings
    ) throws(ImageDecodingError) {
        self.data = data
        self.options = options
        self.settings = settings
        container = try data.withDecoderInput { bytes throws(ImageDecodingError) in
            try WebPContainer(bytes, limits: options.limits, isLenient: options.allowsPartial)
        }
    }

    /// Decodes the image, or the first frame. Throws also what is wrong with later frames' headers.
    func decode() throws(ImageDecodingError) -> DecodedImage {
        let frame = container.frames[0]
        guard frame.area.size == container.canvas, !isAnimation else { return try composited() }
        let pixels = try data.withDecoderInput { bytes throws(ImageDecodingError) in
            try WebPBitstream(UnsafeBufferPointer(rebasing: bytes[frame.bitstream])).pixels(size: size, settings)
        }
        return finished(pixels)
    }

    /// The size, as stored, that libwebp is to make.
    var size: PixelSize { Self.size(of: container.canvas, container.orientation, options.target) }

    static func size(of canvas: PixelSize, _ orientation: ImageOrientation, _ target: TargetSize?) -> PixelSize {
        guard let target else { return canvas }
        let box = orientation.swapsSides ? target.size.transposed : target.size
        return canvas.scaled(to: box, mode: target.mode)
    }

    /// The image of the only frame's pixels: straight, of ``size``, as stored.
    func finished(_ pixels: PixelBuffer) -> DecodedImage {
        let frame = container.frames[0]
        let isOpaque = !frame.declaresAlpha && !frame.isLossless || pixels.hasOnlyOpaquePixels
        var shown = isOpaque ? pixels.relabelled(.opaque) : pixels
        if options.appliesOrientation { shown = shown.upright(from: container.orientation) }
        if options.alphaMode == .premultiplied { shown = shown.premultiplied() }
        return image(shown)
    }

    private var isAnimation: Bool { container.frames.count > 1 && options.includesAnimation }

    private func composited() throws(ImageDecodingError) -> DecodedImage {
        let decoder = WebPFrameDecoder(data: data, frames: container.frames, settings: settings)
        let animation = CompositedAnimation(
            container.layout, decoder: decoder, orientation: container.orientation, options: options)
        var image = image(try animation.composited(0))
        if isAnimation { image.frames = animation }
        return image
    }

    private func image(_ pixels: PixelBuffer) -> DecodedImage {
        DecodedImage(
            pixels: pixels, colorProfile: container.metadata.colorProfile,
            orientation: options.appliesOrientation ? .up : container.orientation, format: .webp,
            damage: container.damage)
    }
}
