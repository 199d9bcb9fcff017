public import AlcedoCore

extension ImageProcessors {
    /// Several processors, one after another, as one.
    ///
    /// Compositions in compositions are taken apart: however the same processors are grouped, the identifier is the
    /// same, and so is the key that a cache stores the result under.
    ///
    /// - Complexity: That of the processors, one after another; a whole picture between two of them exists until the
    ///   second is done. Of rows each keeps what it must.
    public struct Composition: HashableByIdentifier {
        /// In the order in which they work; none of them a composition.
        package let processors: [any ImageProcessing]
        public let identifier: String

        /// Creates a processor of others that are listed in the order in which they work. None leaves images as they are.
        public init(_ processors: [any ImageProcessing]) {
            self.processors = processors.flatMap { ($0 as? Composition)?.processors ?? [$0] }
            identifier = Self.identifier(of: self.processors)
        }

        package init(_ processors: any ImageProcessing...) { self.init(processors) }

        /// The target of the first processor.
        public var decodingTarget: TargetSize? { processors.first?.decodingTarget }

        /// - Throws: What the first processor throws that fails.
        public func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
            var result = image
            for processor in processors { result = try processor.process(result) }
            return result
        }

        public func rows(into next: any PixelRowConsumer) -> any PixelRowConsumer {
            processors.reversed().reduce(next) { $1.rows(into: $0) }
        }

        /// Each identifier after its length in bytes, so that no two lists look the same whatever identifiers contain.
        private static func identifier(of processors: [any ImageProcessing]) -> String {
            "then(" + processors.map { "\($0.identifier.utf8.count):\($0.identifier)" }.joined(separator: "|") + ")"
        }
    }
}

extension ImageProcessing where Self == ImageProcessors.Composition {
    /// Combines processors, which work one after another, into one.
    public static func composition(_ processors: any ImageProcessing...) -> Self { Self(processors) }
}
