#if SVG
    public import AlcedoCore
    package import FoundationEssentials

    /// The decoder of `CodecRegistry.Entry.svg(timeLimit:)`.
    ///
    /// A document is first parsed and written again by ``SVGSanitizer``, which removes scripts and all references to
    /// anything outside it, and its work and memory are estimated. librsvg then draws what is left, at the size of the
    /// result. Source: Scalable Vector Graphics (SVG) 1.1 and 2.
    package struct SVGDecoder: ImageDecoding {
        /// The maximum time of drawing one document.
        package var timeLimit: Duration

        /// The default of ``timeLimit``.
        static let defaultTimeLimit = Duration.seconds(10)

        /// Creates a stateless decoder. By default, the time limit is 10 seconds.
        package init(timeLimit: Duration = .seconds(10)) { self.timeLimit = timeLimit }

        /// Parses the document. The size is the natural size in pixels, which may exceed `limits`, because the size of
        /// the result is up to the options.
        ///
        /// An error in the XML after the beginning of the root element does not matter here, because partial images
        /// show what precedes it.
        ///
        /// - Throws: ``/AlcedoCore/ImageDecodingError``: `truncated` when the root element does not begin, `corrupt`
        ///   when it is not SVG, `unsupportedVariant` for an unknown encoding, `exceedsLimit` for too many or too
        ///   deeply nested elements, and for embedded images that exceed `limits`.
        /// - Complexity: O(bytes). Allocates no memory for pixels.
        package func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            try OpenedSVG(data, limits: limits, timeLimit: timeLimit)
        }
    }

    /// A document that has been sanitized, up to the first error in its XML.
    final class OpenedSVG: FileReading {
        let file: OpenedFile<SVGDocument>
        private let timeLimit: Duration
        let header: ImageHeader

        init(_ data: Data, limits: DecodingLimits, timeLimit: Duration) throws(ImageDecodingError) {
            self.timeLimit = timeLimit
            file = try OpenedFile(data, of: "SVG", limits: limits) { bytes, limits throws(ImageDecodingError) in
                try SVGDocument(bytes, limits: limits, allowsPartial: true)
            }
            header = try file.withFile { document, _ throws(ImageDecodingError) in
                ImageHeader(format: .svg, size: document.size.pixels)
            }
        }

        func info() throws(ImageDecodingError) -> ImageInfo {
            ImageInfo(format: .svg, size: header.size, hasAlpha: true, colorModel: .rgba)
        }

        /// Draws the document at its natural size, or scaled to the target, larger or smaller.
        ///
        /// With partial images allowed, the elements before an error in the XML are drawn.
        func decode(_ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
            let document = try document(options)
            let drawing = SVGDrawing(document, target: options.target)
            try drawing.check(options.limits, timeLimit: timeLimit)
            let pixels = try drawing.pixels(
                timeLimit: timeLimit, isPremultiplied: options.alphaMode == .premultiplied)
            var image = DecodedImage(pixels: pixels, format: .svg, damage: document.damage)
            image.reduction = drawing.reduction
            return image
        }

        /// Returns the maximum number of bytes that decoding holds: the result, cairo's image, layers, tiles of
        /// patterns, embedded images, the largest outline and the document of librsvg. The outlines of text are
        /// not counted.
        func decodingByteCount(_ options: DecodingOptions) throws(ImageDecodingError) -> Int {
            SVGDrawing(try document(options), target: options.target).byteCount
        }

        /// Returns the document. Throws the error in its XML unless partial images are allowed.
        private func document(_ options: DecodingOptions) throws(ImageDecodingError) -> SVGDocument {
            let document = try file.withFile(options.limits) { document, _ throws(ImageDecodingError) in document }
            if let damage = document.damage, damage.kind == .missingPixels, !options.allowsPartial {
                throw damage.error
            }
            return document
        }
    }

    extension CodecRegistry.Entry {
        /// SVG by librsvg, drawn within 10 seconds. See `svg(timeLimit:)`.
        public static var svg: Self { svg(timeLimit: SVGDecoder.defaultTimeLimit) }

        /// Returns the codec of SVG by librsvg, which decodes only.
        ///
        /// ```swift
        /// let codecs = CodecRegistry.standard.adding(.svg(timeLimit: .seconds(2)))
        /// let options = DecodingOptions(target: TargetSize(width: 512, height: 512))
        /// let image = try codecs.decode(data, options: options)
        /// ```
        ///
        /// A document is drawn at the size of the result: with a target size, it is scaled to it, larger or smaller
        /// than its natural size. Scripts, links, and images and style sheets outside the document are removed before
        /// it is drawn. The format is recognized by `<svg`, an XML declaration, a comment or a document type of SVG at
        /// the beginning of the file, and by the signature of gzip for compressed files (SVGZ).
        ///
        /// Everything after the root element is ignored. A document that is not well-formed before its end, or has
        /// none, has missing pixels: the elements before the error. Damage of compressed data after the root element is
        /// harmless. Embedded images and documents that are damaged are not drawn, as in browsers, and not reported.
        ///
        /// - Parameter timeLimit: The maximum time of drawing one document. After it, decoding throws `timedOut`.
        ///   librsvg 2.59 and later stops then at the next element; earlier versions use the thread until they have
        ///   drawn the document. A document that would obviously take much longer is not drawn at all.
        public static func svg(timeLimit: Duration) -> Self {
            Self(
                format: .svg, decoder: SVGDecoder(timeLimit: timeLimit), signatures: SVGSignature.signatures,
                recognizes: SVGSignature.matches)
        }
    }

    extension ImageFormat {
        /// Scalable Vector Graphics.
        public static let svg = ImageFormat(rawValue: "svg")
    }

    /// The beginnings of files.
    private enum SVGSignature {
        private static let texts = ["<svg", "<?xml", "<!--", "<!DOCTYPE svg"]

        /// The beginnings without white space and byte order mark.
        static var signatures: [[UInt8?]] {
            texts.map { text in text.utf8.map { $0 } } + [GzipText.signature.map { $0 }]
        }

        /// Returns whether the bytes begin like a document, which may be compressed.
        @Sendable static func matches(_ prefix: RawSpan) -> Bool {
            prefix.withUnsafeBytes { memory in
                let all = memory.bindMemory(to: UInt8.self)
                return GzipText.matches(all) ? GzipText.mayBeDocument(all, isDocument: isDocument) : isDocument(all)
            }
        }

        /// Returns whether the bytes begin like a document, after a byte order mark and white space.
        ///
        /// A document in UTF-16, and one whose root element has a prefix, match too.
        private static func isDocument(_ all: UnsafeBufferPointer<UInt8>) -> Bool {
            let wideTexts: [[UInt8]] = [
                [0xFF, 0xFE, 0x3C, 0], [0xFE, 0xFF, 0, 0x3C], [0x3C, 0, 0x3F, 0], [0, 0x3C, 0, 0x3F],
            ]
            if wideTexts.contains(where: { all.starts(with: $0) }) { return true }
            let isMarked = all.starts(with: [0xEF, 0xBB, 0xBF])
            let text = all.dropFirst(isMarked ? 3 : 0).drop(while: XMLCharacter.isSpace)
            if texts.contains(where: { text.starts(with: $0.utf8) }) { return true }
            let name = text.dropFirst().prefix(while: XMLCharacter.isName)
            return text.first == UInt8(ascii: "<") && name.count > 4 && name.suffix(4).elementsEqual(":svg".utf8)
        }
    }
#endif
