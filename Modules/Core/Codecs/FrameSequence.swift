/// The frames of an image in sequence, for encoders.
///
/// One frame is read ahead, because an animation ends before a frame that turns out to be damaged. An encoder then
/// knows whether a frame is the last one, and whether there are several, before it writes the frame. Memory: two
/// frames. A copy of a sequence keeps its frames, so functions take it as `inout`.
package struct FrameSequence {
    private let image: DecodedImage
    /// The name of the format, for errors.
    private let format: String
    private var first: PixelBuffer?
    private var following: PixelBuffer?
    private var index = 0
    /// Whether there is more than one frame.
    package let isAnimated: Bool

    /// Reads the first two frames of an animation.
    ///
    /// - Throws: ``ImageEncodingError`` `failed`, also in ``next()``, for a frame that cannot be read, unless its
    ///   damage ended the animation.
    package init(_ image: DecodedImage, format: String) throws(ImageEncodingError) {
        self.image = image
        self.format = format
        first = image.isAnimated ? try Self.frame(0, of: image, format) : image.pixels
        following = image.isAnimated ? try Self.frame(1, of: image, format) : nil
        isAnimated = following != nil
    }

    /// Returns the next frame, or nil after the last one.
    package mutating func next() throws(ImageEncodingError) -> (index: Int, pixels: PixelBuffer, isLast: Bool)? {
        if let first {
            self.first = nil
            return (0, first, following == nil)
        }
        guard let pixels = following else { return nil }
        index += 1
        following = nil
        following = try Self.frame(index + 1, of: image, format)
        return (index, pixels, following == nil)
    }

    private static func frame(
        _ index: Int, of image: DecodedImage, _ format: String
    ) throws(ImageEncodingError) -> PixelBuffer? {
        guard let frames = image.frames, index < frames.frameCount else { return nil }
        do {
            return try frames.frame(at: index)
        } catch {
            guard index < frames.frameCount else { return nil }
            throw ImageEncodingError(.failed, "\(format): cannot read frame \(index): \(error)")
        }
    }
}

extension PixelBuffer {
    /// Whether the alpha samples can be below their maximum.
    package var hasAlphaSamples: Bool { alphaMode != .opaque && format.hasAlpha }

    /// Returns straight pixels in the format of a file whose frames all have this format.
    ///
    /// - Parameters:
    ///   - fileFormat: The format of the file. RGBA takes any pixels.
    ///   - hasAlpha: Whether the file has alpha.
    ///   - name: The name of the file format, for errors.
    /// - Throws: ``ImageEncodingError`` `unsupportedImage`.
    package func frame(
        in fileFormat: PixelFormat, hasAlpha: Bool, of name: String
    ) throws(ImageEncodingError) -> PixelBuffer {
        guard hasAlpha || !hasAlphaSamples else {
            throw ImageEncodingError(.unsupportedImage, "\(name): a frame has alpha, but the first one has none")
        }
        if format == fileFormat || fileFormat == .rgba8 && format == .rgbx8 { return converted(to: .straight) }
        guard fileFormat == .rgba8, let copy = straightRGBA(rowCount: height) else {
            throw ImageEncodingError(.unsupportedImage, "\(name): the frames have different pixel formats")
        }
        return copy
    }
}
