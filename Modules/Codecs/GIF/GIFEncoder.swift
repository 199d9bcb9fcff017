public import AlcedoCore
package import FoundationEssentials

/// The encoder of `ImageEncoder.gif(dithers:maximumColorCount:keepsShortDelays:)`, whose comment describes the
/// behavior.
package struct GIFEncoder: MetadataEncoding {
    /// Whether the error of colors that are not in the palette is diffused to adjacent pixels. Default: `true`.
    package var dithers: Bool
    /// The maximum number of colors in a palette, including the transparent one, from 2 to 256. Other values are
    /// clamped. Default: 256.
    package var maximumColorCount: Int

    /// Whether durations of at most 10 ms in frames from GIF or PNG are written unchanged. Default: `false`.
    package var keepsShortDelays: Bool
    /// The metadata to write, of which the format holds only XMP.
    package var metadata = ImageMetadata()

    package init(dithers: Bool = true, maximumColorCount: Int = 256, keepsShortDelays: Bool = false) {
        self.dithers = dithers
        self.maximumColorCount = maximumColorCount
        self.keepsShortDelays = keepsShortDelays
    }

    package var format: ImageFormat { .gif }

    /// False, because samples of the format have 8 bits.
    package var holdsDeepSamples: Bool { false }

    /// Returns true, because the format supports animations and transparency.
    package func canEncode(_ image: DecodedImage) -> Bool { true }

    /// Returns the memory of the quantization and the file, measured for noise.
    package func encodingByteCount(of size: PixelSize, format: PixelFormat) -> Int {
        size.encodingByteCount(perPixel: 16)
    }

    /// Returns the memory for a still image. For an animation, returns that for the frames that are compared, with four
    /// bytes a pixel, and for the file, which has at most 12 bits for a pixel.
    package func encodingByteCount(of size: PixelSize, format: PixelFormat, frameCount: Int) -> Int {
        let compared = format.bytesPerPixel < 4 ? .rgba8 : format
        return encodingByteCount(of: size, format: format)
            .addingClamped(size.framesByteCount(format: compared, frameCount: frameCount, perPixel: 2))
    }

    /// Encodes an image of any pixel format, with all frames of an animation.
    ///
    /// - Throws: ``/AlcedoCore/ImageEncodingError``: `unsupportedImage` for sides above 65,535 pixels and for frames of
    ///   different sizes; `failed` when a frame of the animation cannot be read; `outOfMemory`.
    package func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        try encode(image, maximumByteCount: .max)
    }

    /// Encodes an image as ``encode(_:)`` does. Throws `exceedsLimit` when the bytes exceed the limit.
    package func encode(_ image: DecodedImage, maximumByteCount: Int) throws(ImageEncodingError) -> Data {
        let maximumColorCount = min(max(maximumColorCount, 2), 256)
        var frames = try FrameSequence(image, format: "GIF")
        var current = try GIFImage(frames.next()?.pixels ?? image.pixels, image.orientation)
        var writer = GIFWriter(
            size: current.size, maximumColorCount: maximumColorCount,
            loopCount: frames.isAnimated ? Self.loopCount(of: image.frames) : nil, colorProfile: image.colorProfile,
            xmp: metadata.xmp, maximumByteCount: maximumByteCount)
        // The canvas before the current frame is drawn, or nil if it is empty.
        var shown: GIFImage?
        var index = 0
        while true {
            let next = try frames.next().map { (frame) throws(ImageEncodingError) in
                try GIFImage(frame.pixels, image.orientation)
            }
            guard next == nil || next?.size == current.size else {
                throw ImageEncodingError(.unsupportedImage, "GIF: the frames have different sizes")
            }
            let step = GIFFrameStep(from: shown, to: current, before: next, isFirst: index == 0)
            let delay = Self.hundredths(image.writtenDelay(at: index, keepsShortDelays: keepsShortDelays))
            try writer.add(
                candidates(for: current, over: shown, in: step.area, maximumColorCount),
                at: GIFPlacement(area: step.area, delay: delay, disposal: step.disposal, isLast: next == nil))
            guard let next else { return try writer.finish() }
            (shown, current) = (step.shown, next)
            index += 1
        }
    }

    /// Returns the images that show an area of the canvas: one in which pixels that do not change are transparent, and
    /// one with all pixels. Runs of either may compress better. If both have too many colors, those of the changed
    /// pixels, or of the area if the palette is small, are approximated.
    private func candidates(
        for image: GIFImage, over shown: GIFImage?, in area: PixelRect, _ maximumColorCount: Int
    ) throws(ImageEncodingError) -> [GIFIndexedImage] {
        let changes = area == image.bounds && shown == nil ? image : image.part(area, hidingThoseOf: shown)
        var found = [GIFIndexedImage(exactly: changes, maximumColorCount: maximumColorCount)]
        if shown != nil, changes.pixels.contains(0) {
            found.append(GIFIndexedImage(exactly: image.part(area), maximumColorCount: maximumColorCount))
        }
        let exact = found.compactMap { $0 }
        guard exact.isEmpty else { return exact }
        // In a small palette, a transparent color would be missed by the others.
        let approximated = maximumColorCount < 32 ? image.part(area) : changes
        return [
            try GIFIndexedImage(quantizing: approximated, maximumColorCount: maximumColorCount, dithers: dithers)
        ]
    }

    /// Returns the number of repeats after the first play, at most 65,535: 0 for endless repeats, or `nil` for one
    /// play, which needs no extension.
    private static func loopCount(of frames: (any ImageFrameSource)?) -> Int? {
        guard let frames else { return nil }
        guard let plays = frames.playCount else { return 0 }
        return plays > 1 ? min(plays - 1, 65_535) : nil
    }

    /// Returns the delay in hundredths of a second, rounded to nearest and clamped to the range of the format.
    private static func hundredths(_ delay: Duration) -> Int {
        let (seconds, attoseconds) = delay.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 656 else { return 65_535 }
        return min(65_535, Int(seconds) * 100 + Int((attoseconds + 5_000_000_000_000_000) / 10_000_000_000_000_000))
    }
}

extension ImageEncoding where Self == ImageEncoder {
    /// Returns an encoder of still and animated GIF.
    ///
    /// ```swift
    /// let data = try ImageEncoder.gif(dithers: false).encode(image)
    /// ```
    ///
    /// Pixels with an 8-bit alpha below 128 become transparent, all others opaque. 16-bit samples lose their low byte.
    /// If the pixels to write then have at most `maximumColorCount` colors, including a transparent one, the colors are
    /// stored exactly. Otherwise a palette is computed, and the pixels are mapped to its colors, with
    /// optional dithering. The page of the module has the rules for animations and metadata.
    ///
    /// A side of more than 65,535 pixels, or a frame of another size than the first one, is an error with the code
    /// `unsupportedImage`. Memory: several copies of the pixels of a frame, regardless of the number of frames, and the
    /// output. A row encoder collects all rows, because the palette depends on all of them.
    ///
    /// - Parameters:
    ///   - dithers: Whether the error of colors that are not in the palette is diffused to adjacent pixels. Default:
    ///     `true`.
    ///   - maximumColorCount: The maximum number of colors in a palette, including the transparent one, from 2 to 256.
    ///     Other values are clamped. Default: 256.
    ///   - keepsShortDelays: Whether delays of at most 10 ms in animations from GIF or APNG are written unchanged.
    ///     Otherwise they become 100 ms, as browsers show them. Default: `false`.
    public static func gif(
        dithers: Bool = true, maximumColorCount: Int = 256, keepsShortDelays: Bool = false
    ) -> Self {
        ImageEncoder(
            GIFEncoder(
                dithers: dithers, maximumColorCount: maximumColorCount, keepsShortDelays: keepsShortDelays))
    }
}

/// The changes of the canvas that a frame makes.
private struct GIFFrameStep {
    /// The part of the canvas that is drawn. The first frame is drawn as a whole, because some decoders show the
    /// background color where it does not.
    private(set) var area: PixelRect
    /// The change of the area before the next frame.
    private(set) var disposal = FrameDisposal.keep
    /// The canvas before the next frame is drawn, or nil if it is empty.
    private(set) var shown: GIFImage?

    init(from before: GIFImage?, to image: GIFImage, before next: GIFImage?, isFirst: Bool) {
        area = isFirst ? image.bounds : image.changes(from: before)
        shown = image
        // Drawing cannot make a pixel transparent again, but the disposal of the frame before can.
        guard let next, let holes = image.holes(in: next) else { return }
        let cleared = area.union(holes)
        let rest = cleared == image.bounds ? nil : image.clearing(cleared)
        if let before, before.holes(in: next) == nil,
            next.changedPixelCount(from: before) < next.changedPixelCount(from: rest)
        {
            (disposal, shown) = (.restore, before)
        } else {
            (area, disposal, shown) = (cleared, .clear, rest)
        }
    }
}
