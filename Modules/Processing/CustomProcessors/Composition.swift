public import AlcedoCore

extension ImageProcessing where Self == ImageProcessors.BuiltIn {
    /// Combines processors, which work one after another, into one.
    ///
    /// Compositions in compositions are taken apart: however the same processors are grouped, the identifier is the
    /// same, and so is the key that a cache stores the result under.
    ///
    /// - Parameter processors: In the order in which they work. None leaves images as they are.
    /// - Complexity: That of the processors, one after another. The image between two of them is in memory until the
    ///   second is done; of rows, each processor keeps as many as it needs.
    public static func composition(_ processors: any ImageProcessing...) -> Self { composition(processors) }

    /// Combines a list of processors, which work one after another, into one.
    public static func composition(_ processors: [any ImageProcessing]) -> Self {
        Self(ImageProcessors.Composition(processors))
    }
}

extension ImageProcessors {
    /// The processor of `.composition(_:)`.
    package struct Composition: ImageProcessing {
        /// In the order in which they work; none of them a composition.
        package let processors: [any ImageProcessing]
        package let identifier: String

        package init(_ processors: [any ImageProcessing]) {
            self.processors = processors.flatMap { processor in
                let inner = (processor as? BuiltIn)?.processor ?? processor
                return (inner as? Composition)?.processors ?? [processor]
            }
            identifier = Self.identifier(of: self.processors)
        }

        package init(_ processors: any ImageProcessing...) { self.init(processors) }

        /// The target of the first processor.
        package var decodingTarget: TargetSize? { processors.first?.decodingTarget }

        /// - Throws: The error of the first processor that fails.
        package func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            var result = image
            for processor in processors { result = try processor.process(result) }
            return result
        }

        package func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
            processors.reversed().reduce(next) { $1.rows(into: $0) }
        }

        /// Each identifier after its length in bytes, so that no two lists look the same whatever identifiers contain.
        private static func identifier(of processors: [any ImageProcessing]) -> String {
            "then(" + processors.map { "\($0.identifier.utf8.count):\($0.identifier)" }.joined(separator: "|") + ")"
        }
    }
}
