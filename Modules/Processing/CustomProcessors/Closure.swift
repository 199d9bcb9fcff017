public import AlcedoCore

extension ImageProcessors {
    /// Changes an image by an app's own function.
    ///
    /// The function may be called from any thread, several times at once, and may block. What it returns is passed on
    /// as it is, animation included.
    public struct Closure: HashableByIdentifier {
        package typealias Body = @Sendable (DecodedImage) throws(ImageProcessingError) -> DecodedImage

        public let identifier: String
        private let body: Body

        package init(identifier: String, _ body: @escaping Body) {
            self.identifier = identifier
            self.body = body
        }

        public func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            try body(image)
        }
    }
}

extension ImageProcessing where Self == ImageProcessors.Closure {
    /// Processes the image by an app's own function.
    ///
    /// - Parameters:
    ///   - identifier: Names the function and every value that it captures, because caches tell results apart by it
    ///     alone. Two functions under one identifier are served each other's images.
    ///   - body: The work.
    public static func closure(
        identifier: String, _ body: @escaping @Sendable (DecodedImage) throws(ImageProcessingError) -> DecodedImage
    ) -> Self {
        Self(identifier: identifier, body)
    }
}

/// A processor that is equal to others of its type with the same identifier, which says all there is to say.
protocol HashableByIdentifier: ImageProcessing, Hashable {}

extension HashableByIdentifier {
    public static func == (a: Self, b: Self) -> Bool { a.identifier == b.identifier }

    public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}
