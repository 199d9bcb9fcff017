#if SVG
    import AlcedoCore

    /// The work that a document and those inside it may take together.
    struct SVGAllowance {
        /// The number of bytes that may be decompressed.
        var inflatableByteCount = SVGDocument.maximumByteCount
        /// The number of steps that may estimate the crossings of outlines.
        var stepCount = CrossingEstimate.maximumStepCount
    }

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
        /// The damage of the document; nil when none was found.
        let damage: ImageDamage?
        /// The number of bytes that were decompressed to read the document.
        let inflatedByteCount: Int

        /// The maximum number of bytes of a file, and of all bytes that are decompressed to read it.
        static let maximumByteCount = 32 << 20

        /// Reads a document. O(bytes).
        ///
        /// - Parameters:
        ///   - data: The file.
        ///   - limits: The limits of embedded images.
        ///   - allowsPartial: Whether the part before an error may be used. Default: false.
        /// - Throws: `truncated` when the document has no end, `corrupt` when it is not well-formed or not SVG,
        ///   `unsupportedVariant` for an unknown encoding, and `exceedsLimit`.
        init(
            _ data: UnsafeBufferPointer<UInt8>, limits: DecodingLimits, allowsPartial: Bool = false
        ) throws(ImageDecodingError) {
            var allowance = SVGAllowance()
            try self.init(data, limits: limits, allowsPartial: allowsPartial, nesting: 0, allowance: &allowance)
        }

        /// Reads a document inside others, or the outermost one.
        ///
        /// - Parameters:
        ///   - nesting: The number of documents around this one.
        ///   - allowance: The work that the document may take, which is reduced by what it does.
        init(
            _ data: UnsafeBufferPointer<UInt8>, limits: DecodingLimits, allowsPartial: Bool = false, nesting: Int,
            allowance: inout SVGAllowance
        ) throws(ImageDecodingError) {
            guard GzipText.matches(data) else {
                try self.init(
                    text: data, inflationDamage: nil, limits, allowsPartial: allowsPartial, nesting: nesting,
                    &allowance)
                return
            }
            let gzip = try GzipText(data, maximumByteCount: allowance.inflatableByteCount)
            allowance.inflatableByteCount -= gzip.bytes.count
            self = try gzip.bytes.withUnsafeBufferPointer { text throws(ImageDecodingError) in
                try SVGDocument(
                    text: text, inflationDamage: gzip.damage, limits, allowsPartial: allowsPartial, nesting: nesting,
                    &allowance)
            }
        }

        /// Reads a document that is not compressed, or no longer.
        private init(
            text data: UnsafeBufferPointer<UInt8>, inflationDamage: ImageDecodingError?, _ limits: DecodingLimits,
            allowsPartial: Bool, nesting: Int, _ allowance: inout SVGAllowance
        ) throws(ImageDecodingError) {
            guard data.count <= Self.maximumByteCount else {
                throw ImageDecodingError(
                    .exceedsLimit, "SVG: \(data.count) bytes exceed the limit of \(Self.maximumByteCount)")
            }
            let text = try XMLText(data)
            var parser = XMLParser(
                SVGSanitizer(
                    limits: limits, byteCount: data.count, rootStyle: RootStyle.declarations(in: text),
                    nesting: nesting, allowance: allowance))
            // The end of the text of damaged compressed data is an error only when the document needs more of it.
            var damage = inflationDamage.map { ImageDamage(.harmless, $0) }
            do throws(ImageDecodingError) {
                try parser.parse(text)
            } catch {
                let error = error.code == .truncated ? inflationDamage ?? error : error
                guard allowsPartial, error.code == .truncated || error.code == .corrupt, parser.handler.size != nil
                else {
                    throw error
                }
                damage = ImageDamage(.missingPixels, error)
            }
            try parser.handler.finish()
            guard let size = parser.handler.size else {
                throw ImageDecodingError(.corrupt, "SVG: the document has no root element")
            }
            self.size = size
            self.damage = damage
            allowance = parser.handler.allowance
            inflatedByteCount = Self.maximumByteCount - allowance.inflatableByteCount
            bytes = parser.handler.output.bytes
            viewBoxScale = parser.handler.viewBoxScale
            elementCount = parser.handler.graph.elements.count
            cost = try parser.handler.graph.cost()
            try cost.check()
        }
    }
#endif
