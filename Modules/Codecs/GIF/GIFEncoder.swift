public import AlcedoCore
import AlcedoRuntime
private import CGIFShim
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

    /// Returns true, because the format supports animations and transparency.
    package func canEncode(_ image: DecodedImage) -> Bool { true }

    /// Returns the memory of the quantization and the file, measured for noise.
    package func encodingByteCount(of size: PixelSize, format: PixelFormat) -> Int {
        size.encodingByteCount(perPixel: 16)
    }

    /// Returns the memory for a still image, and for an animation that for the frames that are compared, and for the
    /// file, which has at most 12 bits for a pixel.
    package func encodingByteCount(of size: PixelSize, format: PixelFormat, frameCount: Int) -> Int {
        encodingByteCount(of: size, format: format)
            .addingClamped(size.framesByteCount(format: format, frameCount: frameCount, perPixel: 2))
    }

    /// Encodes an image of any pixel format, with all frames of an animation.
    ///
    /// - Throws: ``/AlcedoCore/ImageEncodingError``: `unsupportedImage` for sides above 65,535 pixels and for frames of
    ///   different sizes; `failed` when a frame of the animation cannot be read or giflib fails; `outOfMemory`.
    package func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data {
        try encode(image, maximumByteCount: .max)
    }

    /// Encodes an image as ``encode(_:)`` does. Throws `exceedsLimit` when the bytes exceed the limit.
    package func encode(_ image: DecodedImage, maximumByteCount: Int) throws(ImageEncodingError) -> Data {
        var frames = try FrameSequence(image, format: "GIF")
        let first = try GIFImage(frames.next()?.pixels ?? image.pixels, image.orientation)
        let output = try GIFOutput(
            size: first.size, loopCount: frames.isAnimated ? Self.loopCount(of: image.frames) : nil,
            colorProfile: image.colorProfile, xmp: metadata.xmp, maximumByteCount: maximumByteCount)
        guard frames.isAnimated else {
            try output.add(indexed(first, in: first.bounds), at: first.bounds, delay: 0, clears: false)
            return try output.finish()
        }
        var shown: GIFImage?
        var current = first
        var index = 0
        while true {
            let next = try frames.next().map { (frame) throws(ImageEncodingError) in
                try GIFImage(frame.pixels, image.orientation)
            }
            guard next == nil || next?.size == first.size else {
                throw ImageEncodingError(.unsupportedImage, "GIF: the frames have different sizes")
            }
            // Drawing cannot make a pixel transparent again. If the next frame requires this, the canvas is cleared.
            let clears = next.map(current.hasHoles(in:)) ?? false
            let area = clears ? current.bounds : shown.map(current.changes(from:)) ?? current.bounds
            try output.add(
                indexed(current, in: area), at: area,
                delay: Self.hundredths(image.writtenDelay(at: index, keepsShortDelays: keepsShortDelays)),
                clears: clears)
            shown = clears ? nil : current
            guard let next else { return try output.finish() }
            current = next
            index += 1
        }
    }

    private func indexed(
        _ source: GIFImage, in area: PixelRect
    ) throws(ImageEncodingError) -> GIFIndexedImage {
        try GIFIndexedImage(
            source, in: area, maximumColorCount: min(max(maximumColorCount, 2), 256), dithers: dithers)
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
    /// Returns an encoder of still and animated GIF that uses giflib.
    ///
    /// ```swift
    /// let data = try ImageEncoder.gif(dithers: false).encode(image)
    /// ```
    ///
    /// Pixels with an 8-bit alpha below 128 become transparent, all others opaque. 16-bit samples lose their low byte.
    /// If the pixels to write then have at most `maximumColorCount` colors, including a transparent one, the colors are
    /// stored exactly. Otherwise a palette is computed by median cut, and the pixels are mapped to its colors, with
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

/// A writer that uses giflib to write the blocks of a GIF to memory.
private final class GIFOutput {
    private let encoder: OpaquePointer
    private let maximumByteCount: Int

    /// Writes the header and the extensions that apply to the whole file.
    ///
    /// - Parameters:
    ///   - size: The size of the canvas, at most 65,535 pixels on a side.
    ///   - loopCount: The loop count of a NETSCAPE2.0 extension, from 0 to 65,535, or `nil` for no extension.
    ///   - colorProfile: The ICC profile, or `nil`.
    ///   - xmp: The XMP packet, or `nil`.
    ///   - maximumByteCount: The maximum number of bytes of the file.
    init(
        size: PixelSize, loopCount: Int?, colorProfile: Data?, xmp: Data?, maximumByteCount: Int
    ) throws(ImageEncodingError) {
        guard let encoder = alcedo_gif_encoder_create(max(0, maximumByteCount)) else {
            throw ImageEncodingError(.outOfMemory, "GIF: cannot create the encoder: out of memory")
        }
        self.encoder = encoder
        self.maximumByteCount = maximumByteCount
        let profile = ICCProfile.encoded(colorProfile, isGray: false) ?? Data()
        let xmp = xmp.map { [UInt8]($0) } ?? []
        let isWritten = profile.bytes.withUnsafeBytes { icc in
            alcedo_gif_encoder_begin(
                encoder, UInt32(clamping: size.width), UInt32(clamping: size.height),
                Int32(clamping: loopCount ?? -1), icc.baseAddress?.assumingMemoryBound(to: UInt8.self), icc.count,
                xmp, xmp.count)
        }
        guard isWritten != 0 else { throw failure }
    }

    deinit { alcedo_gif_encoder_destroy(encoder) }

    /// Writes one image.
    ///
    /// - Parameters:
    ///   - source: The indices and the palette.
    ///   - area: The position of the image on the canvas.
    ///   - delay: The delay in hundredths of a second, at most 65,535.
    ///   - clears: Whether the image's area becomes transparent after the image has been displayed.
    func add(
        _ source: GIFIndexedImage, at area: PixelRect, delay: Int, clears: Bool
    ) throws(ImageEncodingError) {
        var indices = source.indices
        let isWritten = indices.withUnsafeMutableBufferPointer { indices in
            source.palette.withUnsafeBufferPointer { palette -> Int32 in
                guard let indices = indices.baseAddress, let colors = palette.baseAddress else { return 0 }
                // Source of the disposal numbers: GIF89a section 23.
                var image = alcedo_gif_image(
                    left: UInt32(clamping: area.x), top: UInt32(clamping: area.y),
                    width: UInt32(clamping: area.size.width), height: UInt32(clamping: area.size.height),
                    indices: indices, palette: colors, color_count: UInt32(clamping: palette.count / 3),
                    transparent_index: Int32(clamping: source.transparentIndex ?? -1), disposal: clears ? 2 : 1,
                    delay: UInt32(clamping: delay), is_canceled: { BlockingExecutor.isWorkCanceled ? 1 : 0 })
                return alcedo_gif_encoder_add(encoder, &image)
            }
        }
        guard isWritten != 0 else {
            try ImageEncodingError.checkCancellation(.gif)
            throw failure
        }
    }

    /// Writes the trailer and returns the file.
    func finish() throws(ImageEncodingError) -> Data {
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard alcedo_gif_encoder_finish(encoder, &bytes, &count) != 0, let bytes else { throw failure }
        return Data(
            bytesNoCopy: bytes, count: count,
            deallocator: .custom { pointer, _ in alcedo_gif_free(pointer.assumingMemoryBound(to: UInt8.self)) })
    }

    private var failure: ImageEncodingError {
        guard alcedo_gif_encoder_is_full(encoder) == 0 else { return .exceeds(maximumByteCount, .gif) }
        return ImageEncodingError(.failed, "GIF: \(String(cString: alcedo_gif_encoder_message(encoder)))")
    }
}
