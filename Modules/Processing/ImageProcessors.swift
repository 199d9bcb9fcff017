public import AlcedoCore

/// The processors of this package and the types of their parameters.
///
/// Requests take processors in their short form:
///
/// ```swift
/// let request = ImageRequest(url: url, processors: [.resize(width: 320), .circle()])
/// ```
///
/// Each short form is a function or a property of ``BuiltIn`` in an extension of `ImageProcessing`.
///
/// | Short form | Result |
/// |--|--|
/// | `.resize(width:height:)`, `.resize(fitting:)`, `.resize(filling:)`, `.resize(exactly:)` | another size |
/// | `.resize(covering:at:)`, `.resize(containedIn:at:background:)` | exactly a size, cropped or with a background |
/// | `.crop(x:y:width:height:)`, `.crop(to:at:)`, `.crop(aspect:at:)` | a rectangle of the image |
/// | `.extend(top:left:bottom:right:with:)`, `.extend(by:with:)`, `.extend(to:at:with:)` | margins |
/// | `.trim(_:tolerance:)` | the contents inside a border of one color |
/// | `.rotate(clockwise:background:)` | the image rotated by an angle |
/// | `.flip(_:)` | the mirrored image |
/// | `.orient` | upright rows |
/// | `.roundedCorners(radius:unit:border:)`, `.roundedCorners(_:border:)` | rounded, transparent corners |
/// | `.circle(border:)` | the largest centered circle |
/// | `.blur(sigma:)` | a blurred image |
/// | `.tint(_:mode:)` | a color over the image |
/// | `.overlay(_:at:x:y:scale:isTiled:mode:compositing:opacity:)` | another image over the image |
/// | `.overlay(_:)` | several images over the image |
/// | `.adjust(brightness:contrast:saturation:)` | other brightness, contrast and saturation |
/// | `.grayscale` | the luminance |
/// | `.negate(includesAlpha:)` | the negative |
/// | `.threshold(_:perChannel:)` | black and white |
/// | `.gamma(_:)` | brighter or darker middle tones |
/// | `.normalize(lower:upper:)` | the luminance stretched to its full range |
/// | `.sharpen(sigma:flat:jagged:threshold:brightening:darkening:)` | a sharpened image |
/// | `.median(size:)` | an image without specks |
/// | `.flatten(onto:)` | an opaque background |
/// | `.everyFrame(_:)` | every frame of an animation processed |
/// | `.firstFrame` | a still image |
/// | `.stillImagesOnly(_:)` | still images processed, animations unchanged |
/// | `.closure(identifier:_:)` | the result of an app's function on images |
/// | `.pixelClosure(identifier:_:)` | the result of an app's function on pixels |
/// | `.composition(_:)` | several processors, one after another |
public enum ImageProcessors {
    /// A processor of this package.
    ///
    /// The short forms create these values in requests and wherever a processor is expected. A variable needs the type:
    ///
    /// ```swift
    /// let thumbnail: ImageProcessors.BuiltIn = .resize(width: 320)
    /// let image = try thumbnail.process(original)
    /// ```
    public struct BuiltIn: ImageProcessing {
        package let processor: any ImageProcessing
        /// The name of the processor with all its parameters. It changes between releases only when the result changes.
        public let identifier: String

        package init(_ processor: any ImageProcessing) {
            self.processor = processor
            identifier = processor.identifier
        }

        /// The smallest decoded size that gives the same quality as the full size, or `nil` when the full size is
        /// needed.
        public var decodingTarget: TargetSize? { processor.decodingTarget }

        /// The processors of a composition, or the processor itself.
        public var components: [any ImageProcessing] { processor.components }

        /// Returns the processed image.
        ///
        /// - Throws: ``/AlcedoCore/ImageProcessingError`` when a parameter is invalid, when the result is too large, or
        ///   when an app's own processor or function throws it.
        public func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            try processor.process(image)
        }

        /// Returns a consumer that processes rows and passes the results to `next`.
        public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer { processor.rows(into: next) }
    }
}
