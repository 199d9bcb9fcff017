#if SVG
    import AlcedoCore

    /// A document that can be drawn: the sanitized bytes, the natural size and the cost.
    struct SVGDocument {
        /// The document as ``SVGSanitizer`` wrote it.
        let bytes: [UInt8]
        let size: SVGNaturalSize
        let cost: DrawingCost
        /// The factor by which the view box of the root element enlarges the document.
        let viewBoxScale: Double
        /// The number of elements, including those that are not drawn.
        let elementCount: Int
        /// The error that ended the document early, or nil when it is complete.
        let damage: ImageDecodingError?

        /// The maximum number of bytes of a file.
        private static let maximumByteCount = 32 << 20

        /// Reads a document. O(bytes).
        ///
        /// - Parameters:
        ///   - data: The file.
        ///   - limits: The limits of embedded images.
        ///   - allowsPartial: Whether the part before an error may be used. Default: false.
        ///   - nesting: The number of documents around this one. Default: 0.
        /// - Throws: `truncated` when the document has no end, `corrupt` when it is not well-formed or not SVG,
        ///   `unsupportedVariant` for an unknown encoding, and `exceedsLimit`.
        init(
            _ data: UnsafeBufferPointer<UInt8>, limits: DecodingLimits, allowsPartial: Bool = false, nesting: Int = 0
        ) throws(ImageDecodingError) {
            guard data.count <= Self.maximumByteCount else {
                throw ImageDecodingError(
                    .exceedsLimit, "SVG: \(data.count) bytes exceed the limit of \(Self.maximumByteCount)")
            }
            var parser = XMLParser(SVGSanitizer(limits: limits, byteCount: data.count, nesting: nesting))
            var damage: ImageDecodingError?
            do throws(ImageDecodingError) {
                try parser.parse(XMLText(data))
            } catch {
                guard allowsPartial, error.code == .truncated || error.code == .corrupt, parser.handler.size != nil
                else {
                    throw error
                }
                damage = error
            }
            try parser.handler.finish()
            guard let size = parser.handler.size else {
                throw ImageDecodingError(.corrupt, "SVG: the document has no root element")
            }
            self.size = size
            self.damage = damage
            bytes = parser.handler.output.bytes
            viewBoxScale = parser.handler.viewBoxScale
            elementCount = parser.handler.graph.elements.count
            cost = try parser.handler.graph.cost()
            try cost.check()
        }
    }
#endif
