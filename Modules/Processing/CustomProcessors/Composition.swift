public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Combines processors into one that applies them in order.
    ///
    /// ```swift
    /// let avatar: any ImageProcessing = .composition([.resize(width: 96), .circle()])
    /// ```
    ///
    /// Nested compositions are flattened: the identifier, and with it the cache key of the result, does not depend on
    /// how the processors are grouped.
    ///
    /// - Parameter processors: The processors in the order in which they are applied. An empty list returns images
    ///   unchanged.
    /// - Complexity: The sum of the costs of the processors. The image between two processors is in memory until the
    ///   second has finished. For rows, each processor keeps the rows that it needs, or the whole image.
    public static func composition(_ processors: [any ImageProcessing]) -> Self {
        Self(ImageProcessors.Composition(processors))
    }
}

extension ImageProcessors {
    /// The processor of `.composition(_:)`.
    package struct Composition: ImageProcessing {
        /// The processors in the order in which they are applied. None of them is a composition.
        package let processors: [any ImageProcessing]
        package let identifier: String

        package init(_ processors: [any ImageProcessing]) {
            self.processors = processors.flatMap { $0.components }
            identifier = Self.identifier(of: self.processors)
        }

        package var components: [any ImageProcessing] { processors }

        package var decodingTarget: TargetSize? { processors.first?.decodingTarget }

        /// Applies the processors in order.
        ///
        /// - Throws: The error of the first processor that fails.
        package func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            var result = image
            for processor in processors { result = try processor.process(result) }
            return result
        }

        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
            processors.reversed().reduce(next) { $1.rows(into: $0) }
        }

        /// Returns the identifiers, each preceded by its length in bytes, so that different lists never have equal
        /// identifiers.
        private static func identifier(of processors: [any ImageProcessing]) -> String {
            "then(" + processors.map { "\($0.identifier.utf8.count):\($0.identifier)" }.joined(separator: "|") + ")"
        }
    }
}
