public import AlcedoCore
public import FoundationEssentials

/// Encodes GIF, by giflib: stills, and animations one frame at a time.
///
/// A picture of at most 256 colours, a transparent one among them, is kept exactly. Others get a palette by median cut
/// (see `MedianCut`), and their pixels the nearest colours of it, dithered if wished. Pixels of an alpha below 128
/// become transparent, all others opaque; samples of 16 bits lose their low byte. Of an animation's frame only the
/// rectangle that changed is written, with a palette of its own; raw delays are rounded to hundredths of a second, and
/// the number of plays becomes a NETSCAPE2.0 loop count. GIF knows no orientation, so pictures are made upright. The
/// ICC profile is kept in an ICCRGBG1012 extension.
///
/// Memory: three pictures of four bytes a pixel, indices, and the output, however many frames there are. Rows are
/// collected, for the palette depends on all of them.
public struct GIFEncoder: ImageEncoding {
    /// Whether the error of colours that the palette lacks is spread over the neighbours. Default: true.
    public var dithers: Bool
    /// Most colours of a palette, the transparent one included: 2 to 256; others count as the nearest. Default: 256.
    public var maximumColorCount: Int

    /// By default with dithering, and with as many colours as the format holds.
    public init(dithers: Bool = true, maximumColorCount: Int = 256) {
        self.dithers = dithers
        self.maximumColorCount = maximumColorCount
    }

    public var format: ImageFormat { .gif }

    public func holds(_ image: DecodedImage) -> Bool { true }

    /// Encodes any pixel format; an animation with all its frames.
    ///
    /// - Throws: ``ImageEncodingError``: `unsupportedImage` for sides above 65,535 pixels and for frames of unlike
    ///   sizes; `failed` when a frame of the animation cannot be had.
    public func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        let first = try GIFPicture(image.frames == nil ? image.pixels : frame(0, of: image), image.orientation)
        let output = try GIFOutput(
            size: first.size, loopCount: Self.loopCount(of: image.frames), colorProfile: image.colorProfile)
        guard let frames = image.frames, frames.frameCount > 1 else {
            try output.add(indexed(first, in: first.bounds), at: first.bounds, delay: 0, clears: false)
            return try output.finish()
        }
        var shown: GIFPicture?
        var current = first
        for index in 0..<frames.frameCount {
            var next: GIFPicture?
            if index + 1 < frames.frameCount {
                next = try GIFPicture(frame(index + 1, of: image), image.orientation)
                guard next?.size == first.size else {
                    throw ImageEncodingError(.unsupportedImage, "GIF: the frames have different sizes")
                }
            }
            // Nothing can be drawn to make a pixel transparent again: then the whole canvas is cleared.
            let clears = next.map(current.hasHoles(in:)) ?? false
            let area = clears ? current.bounds : shown.map(current.changes(from:)) ?? current.bounds
            try output.add(
                indexed(current, in: area), at: area, delay: Self.hundredths(frames.rawDelay(at: index)),
                clears: clears)
            shown = clears ? nil : current
            if let next { current = next }
        }
        return try output.finish()
    }

    private func indexed(_ picture: GIFPicture, in area: PixelRect) -> GIFIndexedPicture {
        GIFIndexedPicture(
            picture, in: area, maximumColorCount: min(max(maximumColorCount, 2), 256), dithers: dithers)
    }

    private func frame(_ index: Int, of image: DecodedImage) throws(ImageEncodingError) -> PixelBuffer {
        do {
            return try image.frames?.frame(at: index) ?? image.pixels
        } catch {
            throw ImageEncodingError(.failed, "GIF: frame \(index) cannot be had: \(error)")
        }
    }

    /// The repeats after the first play, 0 for ever; nil for one play, of which the file then says nothing.
    private static func loopCount(of frames: (any ImageFrameSource)?) -> Int? {
        guard let frames, frames.frameCount > 1 else { return nil }
        guard let plays = frames.playCount else { return 0 }
        return plays > 1 ? min(plays - 1, 65_535) : nil
    }

    /// Rounded to nearest, within what the format can say.
    private static func hundredths(_ delay: Duration) -> Int {
        let (seconds, attoseconds) = delay.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 656 else { return 65_535 }
        return min(65_535, Int(seconds) * 100 + Int((attoseconds + 5_000_000_000_000_000) / 10_000_000_000_000_000))
    }
}
